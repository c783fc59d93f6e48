import { about } from '../about.js';
import type { ReplyOf } from '../api/call.js';
import { useRead } from '../api/query.js';
import { attentionTo, type Attention } from '../lib/attention.js';
import { clock, count, duration, moment, percent } from '../lib/format.js';
import { Button, Link } from '../parts/buttons.js';
import { Segments } from '../parts/fields.js';
import { ErrorNotice } from '../parts/notices.js';
import { Count, Money, State, style } from '../parts/values.js';
import { Chart, timesOf, type Mark } from '../parts/chart.js';
import { useMuted } from '../parts/muted.js';
import { priceMarks } from '../parts/price-marks.js';
import { recordAddress } from '../parts/record.js';
import { pickRange, RangeSteps, useOwnRange, withoutOwnRange } from '../parts/range.js';
import { setQuery, useRoute } from '../router.js';
import { useAtom } from '../state.js';
import { faultWords, w, wp } from '../words.js';
import { Channels, rate, Spending, Switches, trafficName } from './overview-lists.js';

type OverviewData = ReplyOf<'getOverview'>;
type Series = OverviewData['traffic'];

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
const LATER_MS = 30_000;

/** Whether everything is all right, in one sentence, and the evidence for it. */
export function Overview() {
  const { query } = useRoute();
  const asked = query.get('span') as SpanName | null;
  const span = asked !== null && Object.hasOwn(SPANS, asked) ? asked : '1h';
  const own = useOwnRange();
  const now = (Math.floor(Date.now() / 1_000 / MINUTE_S) + 1) * MINUTE_S;
  const shown = own ?? { start: now - SPANS[span], end: now };
  const seconds = shown.end - shown.start;
  const range = { start_timestamp: shown.start, end_timestamp: shown.end };
  // What is over does not change.
  const isOver = shown.end < now - MINUTE_S;
  const everyMs = isOver ? false : seconds <= HOUR_S ? SOON_MS : LATER_MS;
  const { data, error, again } = useRead(
    'getOverview',
    { query: { ...range, day_timestamp: dayStart() } },
    { everyMs },
  );
  // The shell rereads them, for its bars.
  const { data: tags = [] } = useRead('listTags');
  const words = wp().overview;
  const traffic = data?.traffic;
  const nodes = data?.nodes.nodes ?? [];
  return (
    <>
      <div class="head">
        <h1>{w().nav.overview}</h1>
        <Segments
          label={words.range}
          value={own === undefined ? span : ''}
          choices={SPAN_NAMES.map((value) => ({ value, label: wp().requests.spans(value) }))}
          onChange={(value) =>
            setQuery(withoutOwnRange(value === '1h' ? '' : value), { replace: true })
          }
        />
        <RangeSteps shown={shown} />
      </div>
      <ErrorNotice error={error} onAgain={again} />
      {data === undefined ? null : <Verdict overview={data} tags={tags} seconds={seconds} />}
      {traffic === undefined ? null : <Tiles series={traffic} seconds={seconds} />}
      {traffic?.complete_from == null || traffic.complete_from <= traffic.start_timestamp ? null : (
        <p class="small muted">{words.since(moment(traffic.complete_from, style()))}</p>
      )}
      {data === undefined ? null : (
        <div class="halves">
          <Traffic series={data.traffic} marks={priceMarks(data.price_changes)} />
          <Latency series={data.traffic} />
        </div>
      )}
      <Channels channels={data?.channels ?? []} nodes={nodes} seconds={seconds} />
      <div class="halves">
        <Switches tags={tags} nodes={nodes} />
        <Spending today={data?.today} />
      </div>
    </>
  );
}

/** When the day began, in the reader's time zone. */
function dayStart(): number {
  const now = new Date();
  return new Date(now.getFullYear(), now.getMonth(), now.getDate()).getTime() / 1_000;
}

function countOf(series: Series, outcome: string): number {
  return totalOf(series, outcome)?.requests ?? 0;
}

function totalOf({ series }: Series, outcome: string) {
  return series.find(({ key }) => key === outcome)?.total;
}

/** Latency is that of what went well: a refusal is quick, and says nothing about upstreams. */
function latencyOf(series: Series) {
  return totalOf(series, 'ok') ?? { p50: null, p95: null, p99: null };
}

/** Channels that some node cannot use at all, without duplicates. */
function unusableOf(nodes: OverviewData['nodes']['nodes']): { name: string; why: string }[] {
  const found = new Map<string, string>();
  for (const { channels } of nodes) {
    for (const { name, until, why } of channels)
      if (until === null) found.set(name, faultWords(why));
  }
  return Array.from(found, ([name, why]) => ({ name, why }));
}

function Verdict({
  overview,
  tags,
  seconds,
}: {
  readonly overview: OverviewData;
  readonly tags: ReplyOf<'listTags'>;
  readonly seconds: number;
}) {
  const known = useAtom(about);
  const { traffic: series, nodes } = overview;
  const failed = countOf(series, 'failed');
  const things = attentionTo({
    requests: { admitted: countOf(series, 'ok') + failed, failed },
    unheardRegistration: known?.registration === true && known.mail === 'outbox',
    channels: overview.channels.map((channel) => ({
      name: trafficName(channel),
      requests: channel.recent_requests,
      failed: channel.recent_failed,
    })),
    tags,
    unusable: unusableOf(nodes.nodes),
    nodes: nodes.nodes,
    dark: overview.dark_models,
    latency: { now: overview.last_hour, before: overview.day_before },
    ending: overview.ending,
    out: overview.running_out,
  });
  const words = wp().overview;
  const { isMuted, mute, unmuteAll } = useMuted();
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
  const { requests } = series.total;
  const { p95 } = latencyOf(series);
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

function Tiles({ series, seconds }: { readonly series: Series; readonly seconds: number }) {
  const words = wp().overview;
  const { requests, quota } = series.total;
  const { p50, p95, p99 } = latencyOf(series);
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
        <span class="small muted">
          {requests === 0 ? '' : words.refusedShare(share(countOf(series, 'refused')))}
        </span>
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

function Traffic({ series, marks }: { readonly series: Series; readonly marks: readonly Mark[] }) {
  const words = wp().overview;
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
      end={series.start_timestamp + series.steps * series.step_s}
      format={(value) => count(value, style())}
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
