import { about } from '../about.js';
import type { ReplyOf } from '../api/call.js';
import { useRead } from '../api/query.js';
import { attentionTo, isFailing, type Attention } from '../lib/attention.js';
import { clock, duration, moment, percent } from '../lib/format.js';
import {
  Ago,
  Button,
  Count,
  ErrorNotice,
  Link,
  Money,
  Segments,
  State,
  style,
} from '../parts/basic.js';
import { Chart, timesOf } from '../parts/chart.js';
import { useMuted } from '../parts/muted.js';
import { usePriceMarks } from '../parts/price-marks.js';
import { recordAddress } from '../parts/record.js';
import { pickRange, RangeSteps, useOwnRange, withoutOwnRange } from '../parts/range.js';
import { setQuery, useRoute } from '../router.js';
import { useAtom } from '../state.js';
import { faultWords, w, wp } from '../words.js';
import { useWatched } from './watched.js';

type Series = ReplyOf<'usageSeries'>;
type Part = Series['series'][number];

const MINUTE_S = 60;
const HOUR_S = 3_600;
const DAY_S = 24 * HOUR_S;
const SPANS = {
  '1h': HOUR_S,
  '6h': 6 * HOUR_S,
  '24h': DAY_S,
  '7d': 7 * DAY_S,
  '30d': 30 * DAY_S,
} as const;
type SpanName = keyof typeof SPANS;
const SPAN_NAMES = Object.keys(SPANS) as SpanName[];
const SOON_MS = 5_000;
const CHANNELS_MS = 15_000;
const LATER_MS = 30_000;
/** How many steps of a channel's series decide whether it is failing, if the steps are minutes. */
const JUDGED_STEPS = 5;
const TOP = 5;

/** Whether everything is all right, in one sentence, and the evidence for it. */
export function Overview() {
  const { query } = useRoute();
  const asked = query.get('span') as SpanName | null;
  const span = asked !== null && asked in SPANS ? asked : '1h';
  const own = useOwnRange();
  const now = (Math.floor(Date.now() / 1_000 / MINUTE_S) + 1) * MINUTE_S;
  const shown = own ?? { start: now - SPANS[span], end: now };
  const seconds = shown.end - shown.start;
  const range = { start_timestamp: shown.start, end_timestamp: shown.end };
  // What is over does not change.
  const isOver = shown.end < now - MINUTE_S;
  const everyMs = isOver ? false : seconds <= HOUR_S ? SOON_MS : LATER_MS;
  const outcomes = useRead('usageSeries', { query: { ...range, group: 'outcome' } }, { everyMs });
  const channels = useRead(
    'usageSeries',
    { query: { ...range, group: 'channel' } },
    { everyMs: everyMs === false ? false : Math.max(everyMs, CHANNELS_MS) },
  );
  // The shell rereads them, for its bars.
  const tags = useRead('listTags');
  const nodes = useRead('listNodes', {}, { everyMs: LATER_MS });
  const watched = useWatched();
  const words = wp().overview;
  const { data } = outcomes;
  const known = useAtom(about);
  return (
    <>
      <div class="head">
        <h1>{w().nav.overview}</h1>
        <Segments
          label={words.range}
          value={own === undefined ? span : ''}
          choices={SPAN_NAMES.map((value) => ({ value, label: value }))}
          onChange={(value) =>
            setQuery(withoutOwnRange(value === '1h' ? '' : value), { replace: true })
          }
        />
        <RangeSteps shown={shown} />
      </div>
      <ErrorNotice
        error={outcomes.error ?? channels.error ?? nodes.error}
        onAgain={outcomes.again}
      />
      <Verdict
        series={data}
        seconds={seconds}
        things={attentionTo({
          requests: {
            admitted: countOf(data, 'ok') + countOf(data, 'failed'),
            failed: countOf(data, 'failed'),
          },
          unheardRegistration: known?.registration === true && known.mail === 'outbox',
          channels: recent(channels.data),
          tags: tags.data ?? [],
          unusable: unusableOf(nodes.data),
          nodes: nodes.data?.nodes ?? [],
          ...watched,
        })}
      />
      {data === undefined ? null : <Tiles series={data} seconds={seconds} />}
      {data?.complete_from == null || data.complete_from <= data.start_timestamp ? null : (
        <p class="small muted">{words.since(moment(data.complete_from, style()))}</p>
      )}
      {data === undefined ? null : (
        <div class="halves">
          <Traffic series={data} range={range} />
          <Latency series={data} />
        </div>
      )}
      <Channels series={channels.data} seconds={seconds} />
      <div class="halves">
        <Switches tags={tags.data ?? []} nodes={nodes.data?.nodes ?? []} />
        <Spending />
      </div>
    </>
  );
}

function countOf(series: Series | undefined, outcome: string): number {
  return series?.series.find(({ key }) => key === outcome)?.total.requests ?? 0;
}

function recent(
  series: Series | undefined,
): { name: string; requests: number[]; failed: number[] }[] {
  const last = series?.step_s === MINUTE_S ? JUDGED_STEPS : 1;
  return (series?.series ?? []).map((part) => ({
    name: nameOf(part),
    requests: part.requests.slice(-last),
    failed: part.failed.slice(-last),
  }));
}

/** Channels that some node cannot use at all, without duplicates. */
function unusableOf(data: ReplyOf<'listNodes'> | undefined): { name: string; why: string }[] {
  const found = new Map<string, string>();
  for (const { channels } of data?.nodes ?? []) {
    for (const { name, until, why } of channels)
      if (until === null) found.set(name, faultWords(why));
  }
  return Array.from(found, ([name, why]) => ({ name, why }));
}

function nameOf({ name, key }: Pick<Part, 'name' | 'key'>): string {
  if (name !== '') return name;
  return key === '' ? '–' : key === 'others' ? wp().overview.others : key;
}

function Verdict({
  series,
  seconds,
  things,
}: {
  readonly series: Series | undefined;
  readonly seconds: number;
  readonly things: readonly Attention[];
}) {
  const words = wp().overview;
  const { isMuted, mute, unmuteAll } = useMuted();
  if (series === undefined) return null;
  const told = things.filter((thing) => !isMuted(keyOf(thing)));
  const quiet = things.length - told.length;
  const again =
    quiet === 0 ? null : (
      <Button kind="quiet" onClick={unmuteAll}>
        {words.muted(quiet)}
      </Button>
    );
  if (told.length > 0) {
    return (
      <div class="notice" role="status">
        <div class="stack tight">
          <strong>{words.look(told.length)}</strong>
          <ul class="stack tight">
            {told.map((thing) => (
              <li key={keyOf(thing)} class="row">
                <State sign={FAILING.has(thing.kind) ? 'bad' : 'warn'}>
                  <Link to={placeOf(thing)}>{words.things(thing)}</Link>
                </State>
                <Button
                  kind="quiet"
                  label={words.muteOne(words.things(thing))}
                  onClick={() => mute(keyOf(thing))}
                >
                  {words.mute}
                </Button>
              </li>
            ))}
          </ul>
          {again}
        </div>
      </div>
    );
  }
  const { requests, p95 } = series.total;
  const failed = countOf(series, 'failed');
  return (
    <p role="status" class="row">
      <State sign="ok">
        {requests === 0
          ? words.quiet
          : words.fine(
              rate(requests / seconds),
              percent(failed / requests),
              p95 === null ? '–' : duration(p95),
            )}
      </State>
      {again}
    </p>
  );
}

const FAILING: ReadonlySet<Attention['kind']> = new Set([
  'channel_fails',
  'models_dark',
  'requests_fail',
]);

function keyOf(thing: Attention): string {
  const { kind, name } = thing;
  return thing.kind === 'runs_out' ? `${kind} ${thing.of} ${thing.id}` : `${kind} ${name}`;
}

function placeOf(thing: Attention): string {
  switch (thing.kind) {
    case 'requests_fail':
      return 'requests?outcome=failed';
    case 'outbox':
      return 'people';
    case 'models_dark':
      return 'models';
    case 'slow':
      return `requests?span=1h&slower=${Math.round(thing.before * 2)}`;
    case 'keys_end':
      return 'keys?status=soon';
    case 'runs_out':
      return recordAddress(thing.of, thing.id);
    case 'tag_off':
      return `tags?open=${encodeURIComponent(thing.name)}`;
    case 'channel_fails':
    case 'channel_unusable':
      return `channels?keyword=${encodeURIComponent(thing.name)}`;
    case 'node':
    case 'settlements':
      return 'nodes';
  }
}

/** Requests a second, with as many digits as are meaningful. */
function rate(perSecond: number): string {
  return perSecond >= 100
    ? perSecond.toFixed(0)
    : perSecond >= 1
      ? perSecond.toFixed(1)
      : perSecond.toPrecision(2);
}

function Tiles({ series, seconds }: { readonly series: Series; readonly seconds: number }) {
  const words = wp().overview;
  const { requests, quota, p50, p95, p99 } = series.total;
  const share = (count: number): string => (requests === 0 ? '–' : percent(count / requests));
  return (
    <div class="cards">
      <div class="card tile">
        <span class="muted">{w().home.requests}</span>
        <div class="value">
          <Count value={requests} />
        </div>
        <span class="small muted">{words.perSecond(rate(requests / seconds))}</span>
      </div>
      <div class="card tile">
        <span class="muted">{wp().requests.failed}</span>
        <div class="value">{share(countOf(series, 'failed'))}</div>
        <span class="small muted">{words.refusedShare(share(countOf(series, 'refused')))}</span>
      </div>
      <div class="card tile">
        <span class="muted">p95</span>
        <div class="value">{p95 === null ? '–' : duration(p95)}</div>
        <span class="small muted">
          {p50 === null || p99 === null ? '' : `p50 ${duration(p50)} · p99 ${duration(p99)}`}
        </span>
      </div>
      <div class="card tile">
        <span class="muted">{w().home.spent}</span>
        <div class="value">
          <Money units={quota} />
        </div>
        <span class="small muted">
          <Link to="spend">{w().nav.spend}</Link>
        </span>
      </div>
    </div>
  );
}

function timeStyle(step: number): (seconds: number) => string {
  return step >= HOUR_S
    ? (seconds) => moment(seconds, style())
    : (seconds) => clock(seconds, style()).slice(0, 5);
}

function Traffic({
  series,
  range,
}: {
  readonly series: Series;
  readonly range: Parameters<typeof usePriceMarks>[0];
}) {
  const words = wp().overview;
  const marks = usePriceMarks(range);
  const named = [
    ['ok', words.ok, 1],
    ['refused', words.refused, 2],
    ['failed', wp().requests.failed, 5],
  ] as const;
  return (
    <Chart
      title={words.traffic}
      kind="bars"
      times={timesOf(series)}
      format={(value) => value.toLocaleString()}
      timeOf={timeStyle(series.step_s)}
      marks={marks}
      onPick={pickRange}
      series={named.map(([key, name, color]) => ({
        ...{ name, color },
        values: series.series.find((part) => part.key === key)?.requests ?? [],
      }))}
    />
  );
}

/** Latency of successful requests only: a refusal is quick, and says nothing about upstreams. */
function Latency({ series }: { readonly series: Series }) {
  const ok = series.series.find(({ key }) => key === 'ok');
  return (
    <Chart
      title={wp().overview.latency}
      kind="lines"
      times={timesOf(series)}
      format={duration}
      timeOf={timeStyle(series.step_s)}
      onPick={pickRange}
      series={[
        { name: 'p50', color: 1, values: ok?.p50 ?? [] },
        { name: 'p95', color: 2, values: ok?.p95 ?? [] },
        { name: 'p99', color: 3, values: ok?.p99 ?? [] },
      ]}
    />
  );
}

function Channels({
  series,
  seconds,
}: {
  readonly series: Series | undefined;
  readonly seconds: number;
}) {
  const parts = [...(series?.series ?? [])].sort(
    (a, b) => failedShare(b) - failedShare(a) || b.total.requests - a.total.requests,
  );
  const words = wp().overview;
  if (parts.length === 0) return null;
  return (
    <div class="tablebox" role="region" aria-label={w().nav.channels} tabIndex={0}>
      <table>
        <thead>
          <tr>
            <th scope="col">{words.channel}</th>
            <th scope="col" class="num">
              {words.rate}
            </th>
            <th scope="col" class="num">
              {wp().requests.failed}
            </th>
            <th scope="col" class="num">
              p50
            </th>
            <th scope="col" class="num">
              p95
            </th>
            <th scope="col" class="num">
              p99
            </th>
            <th scope="col" class="num">
              {w().home.spent}
            </th>
          </tr>
        </thead>
        <tbody>
          {parts.map((part) => {
            const { total } = part;
            const ms = (value: number | null): string => (value === null ? '–' : duration(value));
            const share = failedShare(part);
            return (
              <tr key={part.key}>
                <td>
                  <State
                    sign={
                      isFailing(total.requests, total.failed) ? 'bad' : share > 0 ? 'warn' : 'ok'
                    }
                  >
                    {part.name === '' ? (
                      nameOf(part)
                    ) : (
                      <Link to={`channels?open=${part.key}`}>{part.name}</Link>
                    )}
                  </State>
                </td>
                <td class="num">{rate(total.requests / seconds)}</td>
                <td class="num">{total.requests === 0 ? '–' : percent(share)}</td>
                <td class="num">{ms(total.p50)}</td>
                <td class="num">{ms(total.p95)}</td>
                <td class="num">{ms(total.p99)}</td>
                <td class="num">
                  <Money units={total.quota} />
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

function failedShare({ total }: Part): number {
  return total.requests === 0 ? 0 : total.failed / total.requests;
}

const NODE_SIGNS = { current: 'ok', behind: 'bad', silent: 'bad' } as const;

function Switches({
  tags,
  nodes,
}: {
  readonly tags: ReplyOf<'listTags'>;
  readonly nodes: ReplyOf<'listNodes'>['nodes'];
}) {
  return (
    <section class="card stack">
      <h2>
        <Link to="tags">{w().nav.tags}</Link>
      </h2>
      <ul class="stack tight">
        {tags.map(
          ({ tag, disabled, live_count: live, channel_count: all, changed_time: since }) => (
            <li key={tag} class="row">
              <State sign={disabled ? 'off' : live === 0 ? 'warn' : 'ok'}>
                <Link to={`tags?open=${encodeURIComponent(tag)}`}>{tag}</Link>
              </State>
              <span class="small muted">{wp().tags.liveOf(live, all)}</span>
              {disabled ? (
                <span class="small muted">
                  {wp().tags.offSince} <Ago seconds={since} />
                </span>
              ) : null}
            </li>
          ),
        )}
      </ul>
      <h2>
        <Link to="nodes">{w().nav.nodes}</Link>
      </h2>
      <div class="row">
        {nodes.map(({ id, name, standing }) => (
          <State key={id} sign={NODE_SIGNS[standing]}>
            {name}
          </State>
        ))}
      </div>
    </section>
  );
}

/** Who has spent most today, in the reader's time zone. */
function Spending() {
  const now = new Date();
  const start = new Date(now.getFullYear(), now.getMonth(), now.getDate()).getTime() / 1_000;
  const range = { start_timestamp: start, end_timestamp: start + DAY_S };
  const { data } = useRead(
    'usageBreakdown',
    { query: { ...range, by: 'user' } },
    { everyMs: LATER_MS },
  );
  return (
    <section class="card stack">
      <h2>
        <Link to="spend">{wp().overview.today}</Link>
      </h2>
      {data?.rows.length === 0 ? <p class="muted">{wp().spend.none}</p> : null}
      <ul class="stack tight">
        {data?.rows.slice(0, TOP).map((row) => (
          <li key={row.user_id} class="row">
            <span class="grow clip">{row.username ?? `#${row.user_id ?? ''}`}</span>
            <span class="small muted">{wp().counts.requests(row.requests)}</span>
            <Money units={row.quota} />
          </li>
        ))}
      </ul>
    </section>
  );
}
