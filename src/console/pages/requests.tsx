import { useEffect, useState } from 'preact/hooks';
import { seesAll } from '../about.js';
import { download, type ItemOf, type ReplyOf } from '../api/call.js';
import { useRead } from '../api/query.js';
import { EXAMPLE_BODY } from '../lib/snippets.js';
import { sideOf, signOf, switchedOffAt } from '../lib/verdict.js';
import { clock, count, duration, moment } from '../lib/format.js';
import {
  Button,
  Chip,
  CopyButton,
  Count,
  Empty,
  ErrorNotice,
  FilterText,
  Link,
  Moment,
  Money,
  Segments,
  Skeleton,
  State,
  copyText,
  messageOf,
  style,
} from '../parts/basic.js';
import { RequestCode } from '../parts/code.js';
import { Chart, timesOf as chartTimes, type ChartSeries } from '../parts/chart.js';
import { Dialog, Menu } from '../parts/dialog.js';
import { usePageKeys } from '../parts/keys.js';
import { ListHead } from '../parts/list-head.js';
import { hasMore, List, useListQuery, type Column } from '../parts/table.js';
import {
  CLEARED,
  pickRange,
  RangeSteps,
  useOwnRange,
  withoutOwnRange,
  type OwnRange,
} from '../parts/range.js';
import { setQuery, useRoute } from '../router.js';
import { settings } from '../settings.js';
import { faultWords, w, wp } from '../words.js';

const LIVE_MS = 3_000;
const CHART_MS = 5_000;
/** Until a request is in the statistics, which are later than the log. */
const COUNTED_S = 10;
/** What the chart shows of all requests: statistics by the hour are kept a little longer. */
const CHARTED_S = 30 * 86_400;
const MOMENTS = /\b\d{4}-\d\d-\d\dT[\d:.]+Z/g;
const PAGE = 30;
const MANY_NEW = 100;
const FILTERS = [
  'log',
  'outcome',
  'model',
  'token_name',
  'channel_id',
  'provider',
  'tag',
  'user_id',
  'slower',
  'span',
] as const;
const REST = FILTERS.filter((name) => name !== 'log');
const SPANS: Readonly<Record<string, number>> = {
  '15m': 900,
  '1h': 3_600,
  '24h': 86_400,
  '7d': 604_800,
};

/** Admitted and refused requests, and their outcome. */
export function Requests() {
  const { path } = useRoute();
  const id = path[1];
  return id === undefined ? <RequestList /> : <RequestPage id={id} />;
}

function RequestList() {
  const { query: address } = useRoute();
  const { query, before, filtered, set, clear } = useListQuery(FILTERS);
  const [live, setLive] = useState(false);
  const admin = seesAll();
  const open = address.get('open') ?? undefined;
  const refused = query.log === 'refused';
  const span = SPANS[query.span];
  const own = useOwnRange();
  const minute = Math.floor(Date.now() / 60_000) * 60;
  const charted = own ?? { start: minute + 60 - (span ?? CHARTED_S), end: minute + 60 };
  const { paused, resume } = usePaused(live);
  const matching = {
    model: query.model,
    token_name: query.token_name,
    outcome: query.outcome,
    // Rounded to the minute, so that not every render makes a new query.
    start_timestamp: own?.start ?? (span === undefined ? undefined : minute - span),
    // In the log the last second belongs to the range.
    end_timestamp: own === undefined ? undefined : own.end - 1,
  };
  const number = (text: string): number | undefined => (text === '' ? undefined : Number(text));
  const usageMatching = {
    ...matching,
    min_duration_ms: number(query.slower),
    ...(admin
      ? {
          channel_id: number(query.channel_id),
          user_id: number(query.user_id),
          provider: query.provider,
          tag: query.tag,
        }
      : {}),
  };
  // Counting what matches in a long log would take seconds; how many there are in a span is known.
  const isCounted = REST.every((name) => name === 'span' || query[name] === '');
  const part = { before, page_size: PAGE, count: isCounted };
  const everyMs = live && !paused && before === undefined ? LIVE_MS : (false as const);
  const usage = useRead(
    admin ? 'listUsage' : 'listOwnUsage',
    { query: { ...usageMatching, ...part } },
    { enabled: !refused, everyMs },
  );
  const refusals = useRead(
    admin ? 'listRefusals' : 'listOwnRefusals',
    { query: { ...matching, ...part } },
    { enabled: refused, everyMs },
  );
  const { data: listed, again } = refused ? refusals : usage;
  const total = listed?.total;
  useLiveKey(() => setLive(!live));
  const openRow = ({ request_id }: { readonly request_id: string }): void =>
    setQuery({ open: request_id }, { replace: open !== undefined });
  return (
    <>
      <ListHead
        title={w().nav.requests}
        // On a later page the API counts what is left.
        total={before === undefined ? total : undefined}
        more={!isCounted && hasMore(listed)}
      >
        <RangeSteps shown={charted} />
        <Button title="l" pressed={live} onClick={() => setLive(!live)}>
          {live ? '●' : '○'} {wp().requests.live}
        </Button>
        <Button
          onClick={() =>
            void (refused
              ? download(
                  admin ? 'listRefusals' : 'listOwnRefusals',
                  { query: matching },
                  'refused.csv',
                )
              : download(
                  admin ? 'listUsage' : 'listOwnUsage',
                  { query: usageMatching },
                  'requests.csv',
                ))
          }
        >
          {w().csv}
        </Button>
      </ListHead>
      <div class="row">
        <Segments
          label={wp().requests.which}
          value={refused ? 'refused' : query.outcome === 'failed' ? 'failed' : 'admitted'}
          choices={[
            { value: 'admitted', label: wp().requests.admitted },
            { value: 'failed', label: wp().requests.failed },
            { value: 'refused', label: wp().requests.refused },
          ]}
          onChange={(value) =>
            set({
              log: value === 'refused' ? 'refused' : '',
              outcome: value === 'failed' ? 'failed' : '',
            })
          }
        />
        <Segments
          label={wp().requests.span}
          value={own === undefined ? (query.span === '' ? 'all' : query.span) : ''}
          choices={[
            ...Object.keys(SPANS).map((value) => ({ value, label: wp().requests.spans(value) })),
            { value: 'all', label: w().all },
          ]}
          onChange={(value) =>
            setQuery(withoutOwnRange(value === 'all' ? '' : value), { replace: true })
          }
        />
        <FilterText
          label={wp().requests.model}
          value={query.model}
          onChange={(model) => set({ model })}
        />
        <FilterText
          label={wp().requests.key}
          value={query.token_name}
          onChange={(token_name) => set({ token_name })}
        />
        {admin && !refused ? (
          <FilterText
            label={wp().requests.tag}
            value={query.tag}
            onChange={(tag) => set({ tag })}
          />
        ) : null}
        {(['outcome', 'channel_id', 'provider', 'user_id', 'slower'] as const).map((name) =>
          query[name] === '' || query[name] === 'failed' ? null : (
            <Chip key={name} onRemove={() => set({ [name]: '' })}>
              {wp().requests.filters[name]}: {named(name, query[name], usage.data?.items[0])}
            </Chip>
          ),
        )}
      </div>
      <Histogram range={charted} query={query} />
      {paused && live ? (
        <NewOnes
          refused={refused}
          query={refused ? matching : usageMatching}
          shown={listed?.items ?? []}
          onShow={() => {
            resume();
            again();
          }}
        />
      ) : null}
      {refused ? (
        <List<ItemOf<'listOwnRefusals'>>
          reading={refusals}
          filtered={own !== undefined || REST.some((name) => query[name] !== '')}
          clear={() =>
            setQuery({ ...Object.fromEntries(REST.map((name) => [name, ''])), ...CLEARED })
          }
          empty={<Empty title={wp().requests.noneRefused} />}
          cursorOf={({ id }) => id}
          label={w().nav.requests}
          columns={refusedColumns(admin)}
          actions={(row) => <RowActions row={row} onFilter={set} />}
          onFilter={set}
          idOf={({ request_id }) => request_id}
          onOpen={openRow}
          openId={open}
        />
      ) : (
        <List<ItemOf<'listOwnUsage'>>
          reading={usage}
          filtered={filtered || own !== undefined}
          clear={() => {
            clear();
            setQuery(CLEARED);
          }}
          empty={
            <Empty title={wp().requests.noneYet}>
              <RequestCode body={EXAMPLE_BODY} />
            </Empty>
          }
          cursorOf={({ id }) => id}
          label={w().nav.requests}
          columns={usageColumns(admin)}
          actions={(row) => <RowActions row={row} onFilter={set} />}
          onFilter={set}
          idOf={({ request_id }) => request_id}
          onOpen={openRow}
          openId={open}
        />
      )}
      {open === undefined ? null : (
        <Dialog
          key="request"
          kind="drawer"
          title={
            <Link to={`requests/${encodeURIComponent(open)}`}>
              <code class="wrap">{open}</code>
            </Link>
          }
          onClose={() => setQuery({ open: '' }, { replace: true })}
        >
          <OneRequest id={open} />
        </Dialog>
      )}
    </>
  );
}

type Filters = Readonly<Record<(typeof FILTERS)[number], string>>;

/** What a filter says in words: the name of what it picks, if a row has it. */
function named(filter: keyof Filters, value: string, row: Usage | undefined): string {
  if (filter === 'channel_id' && String(row?.channel_id) === value) return row?.channel ?? value;
  return filter === 'slower' ? duration(Number(value)) : value;
}

/** Groups of statistics by the filter that picks one of their keys. */
const CHARTED = [
  ['channel_id', 'channel'],
  ['tag', 'tag'],
  ['provider', 'provider'],
  ['model', 'model'],
] as const;

/** Requests over the range by outcome, of one model or channel if just that is looked for; a part of it can be picked. */
function Histogram({ range, query }: { readonly range: OwnRange; readonly query: Filters }) {
  const times = { start_timestamp: range.start, end_timestamp: range.end };
  const admin = seesAll();
  const [filter, group] = CHARTED.find(([name]) => query[name] !== '') ?? [];
  const keys = filter === undefined ? {} : { group, keys: query[filter] };
  const everyMs = Date.now() / 1_000 < range.end + COUNTED_S ? CHART_MS : (false as const);
  const all = useRead(
    'usageSeries',
    { query: { ...times, ...(group === undefined ? { group: 'outcome' } : keys) } },
    { enabled: admin, everyMs },
  );
  const own = useRead(
    'ownUsageSeries',
    { query: { ...times, ...(group === 'model' ? { ...keys, group } : { group: 'outcome' }) } },
    { enabled: !admin, everyMs },
  );
  const { data } = admin ? all : own;
  if (data === undefined) return null;
  return (
    <Chart
      title={wp().overview.traffic}
      kind="bars"
      times={chartTimes(data)}
      format={(value) => count(value, style())}
      timeOf={(seconds) => moment(seconds, style())}
      series={outcomesOf(data.series)}
      onPick={pickRange}
    />
  );
}

type Part = ReplyOf<'usageSeries'>['series'][number];

/** Bars by outcome; where the statistics are of one thing, those that went well and those that did not. */
function outcomesOf(parts: readonly Part[]): ChartSeries[] {
  const words = wp().overview;
  const kinds = [
    ['ok', words.ok, 1],
    ['refused', words.refused, 2],
    ['failed', wp().requests.failed, 5],
  ] as const;
  const byOutcome = kinds.flatMap(([key, name, color]) => {
    const found = parts.find((part) => part.key === key);
    return found === undefined ? [] : [{ name, color, values: found.requests }];
  });
  const [only] = parts;
  if (byOutcome.length > 0 || only === undefined) return byOutcome;
  const well = only.requests.map((all, index) => all - (only.failed[index] ?? 0));
  return [
    { name: words.ok, color: 1, values: well },
    { name: wp().requests.failed, color: 5, values: only.failed },
  ];
}

const SCROLLED_PX = 200;

/** Rows do not move away from somebody who reads them further down. */
function usePaused(live: boolean): { readonly paused: boolean; readonly resume: () => void } {
  const [paused, setPaused] = useState(false);
  useEffect(() => {
    const onScroll = (): void => setPaused(live && scrollY > SCROLLED_PX);
    onScroll();
    addEventListener('scroll', onScroll, { passive: true });
    return () => removeEventListener('scroll', onScroll);
  }, [live]);
  return { paused, resume: () => scrollTo(0, 0) };
}

/** How many rows came while the list stood still. */
function NewOnes({
  refused,
  query,
  shown,
  onShow,
}: {
  readonly refused: boolean;
  readonly query: object;
  readonly shown: readonly { readonly created_at: number }[];
  readonly onShow: () => void;
}) {
  const admin = seesAll();
  const [log, refusals] = admin
    ? (['listUsage', 'listRefusals'] as const)
    : (['listOwnUsage', 'listOwnRefusals'] as const);
  const id: 'listOwnUsage' | 'listUsage' | 'listRefusals' | 'listOwnRefusals' = refused
    ? refusals
    : log;
  // Those of the second of the newest row that are shown already are no news.
  const newest = shown[0]?.created_at ?? 0;
  const known = shown.filter((row) => row.created_at === newest).length;
  const since = { start_timestamp: newest, p: 1, page_size: MANY_NEW, count: false };
  const { data } = useRead(id, { query: { ...query, ...since } }, { everyMs: LIVE_MS });
  const count = (data?.total ?? known) - known;
  return count <= 0 ? null : (
    <p class="newones">
      <Button kind="main" onClick={onShow}>
        {wp().requests.newOnes(count)}
      </Button>
    </p>
  );
}

function useLiveKey(toggle: () => void): void {
  usePageKeys((event) => {
    const isTyping = (event.target as Element).closest('input, textarea, select, dialog') !== null;
    if (event.key !== 'l' || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
    if (settings.get().letterKeys) toggle();
  });
}

interface Filterable {
  readonly request_id: string;
  readonly outcome: string;
  readonly model: string | null;
  readonly token_name: string | null;
  readonly channel_id?: number | null;
  readonly channel?: string | null;
}

/** Filters by what a row has; a click on a cell with Alt does the same. */
function RowActions({
  row,
  onFilter,
}: {
  readonly row: Filterable;
  readonly onFilter: (change: Partial<Filters>) => void;
}) {
  const { requests: words } = wp();
  const only = (name: keyof Filters, label: string, value: string | null | undefined) =>
    value == null || value === ''
      ? undefined
      : { label: words.only(label, value), onClick: () => onFilter({ [name]: value }) };
  const { request_id: id, outcome, model, token_name: key, channel_id: channel } = row;
  return (
    <Menu
      label={`${w().actions}: ${id}`}
      items={[
        { label: w().open, onClick: () => setQuery({ open: id }) },
        only('outcome', words.outcome, outcome),
        only('model', words.model, model),
        only('token_name', words.key, key),
        channel == null
          ? undefined
          : {
              label: words.only(words.channel, row.channel ?? `#${channel}`),
              onClick: () => onFilter({ channel_id: String(channel) }),
            },
        { label: words.copyId, onClick: () => void copyText(id) },
      ]}
    >
      ⋯
    </Menu>
  );
}

function When({ seconds }: { readonly seconds: number }) {
  const now = Date.now() / 1000;
  return now - seconds < 86_400 ? (
    <time class="nowrap" title={new Date(seconds * 1000).toISOString()}>
      {clock(seconds, style())}
    </time>
  ) : (
    <Moment seconds={seconds} />
  );
}

type Usage = ItemOf<'listOwnUsage'> & Partial<ItemOf<'listUsage'>>;

function usageColumns(admin: boolean): Column<ItemOf<'listOwnUsage'>>[] {
  const { requests: words } = wp();
  return [
    { title: words.time, cell: ({ created_at }) => <When seconds={created_at} /> },
    {
      title: words.outcome,
      cell: ({ outcome }) => <State sign={signOf(outcome, false)}>{outcome}</State>,
      only: ({ outcome }) => ({ outcome }),
    },
    {
      title: words.model,
      narrow: true,
      cell: ({ model }) => <span title={model}>{model}</span>,
      only: ({ model }) => ({ model }),
    },
    ...(admin
      ? [
          {
            title: words.channel,
            minor: true,
            narrow: true,
            cell: ({ channel_id: id, channel, provider, tag }: Usage) =>
              id == null ? (
                '–'
              ) : (
                <span title={tag == null ? (provider ?? '') : `${provider ?? ''} · ${tag}`}>
                  {channel ?? `#${id}`}
                </span>
              ),
            only: ({ channel_id: id }: Usage) =>
              id == null ? undefined : { channel_id: String(id) },
          },
        ]
      : []),
    { title: words.attempts, numeric: true, minor: true, cell: ({ attempts }) => attempts },
    {
      title: words.documents,
      numeric: true,
      minor: true,
      cell: ({ documents }) => <Count value={documents} />,
    },
    { title: words.duration, numeric: true, cell: ({ duration_ms }) => duration(duration_ms) },
    { title: words.cost, numeric: true, minor: true, cell: ({ quota }) => <Money units={quota} /> },
    {
      title: words.key,
      narrow: true,
      cell: ({ token_name }) => <span title={token_name}>{token_name}</span>,
      only: ({ token_name }) => ({ token_name }),
    },
  ];
}

function refusedColumns(admin: boolean): Column<ItemOf<'listOwnRefusals'>>[] {
  const { requests: words } = wp();
  return [
    { title: words.time, cell: ({ created_at }) => <When seconds={created_at} /> },
    {
      title: words.outcome,
      cell: ({ outcome, status, repeated }) => (
        <State sign="hollow">
          {status} {outcome}
          {repeated === 0 ? '' : ` × ${repeated + 1}`}
        </State>
      ),
      only: ({ outcome }) => ({ outcome }),
    },
    {
      title: words.message,
      narrow: true,
      cell: ({ message }) => <span title={message}>{message}</span>,
    },
    {
      title: words.model,
      narrow: true,
      cell: ({ model }) => model ?? '–',
      only: ({ model }) => (model === null ? undefined : { model }),
    },
    {
      title: words.key,
      cell: ({ token_name }) => token_name ?? '–',
      only: ({ token_name: name }) => (name === null ? undefined : { token_name: name }),
    },
    ...(admin
      ? [
          {
            title: words.address,
            minor: true,
            cell: (row: ItemOf<'listOwnRefusals'> & Partial<ItemOf<'listRefusals'>>) =>
              row.address ?? '–',
          },
        ]
      : []),
  ];
}

function RequestPage({ id }: { readonly id: string }) {
  return (
    <>
      <div class="head">
        <h1 class="wrap">{wp().requests.one}</h1>
        <Link to="requests">{wp().requests.toAll}</Link>
      </div>
      <div class="card">
        <OneRequest id={id} />
      </div>
    </>
  );
}

/** A moment as the API writes it, as the reader has times. */
function momentOf(iso: string): string {
  return moment(Date.parse(iso) / 1_000, style());
}

type Own = ReplyOf<'getOwnRequest'>;
type Full = ReplyOf<'getRequest'>;

/** Explains why: a verdict in sentences, what would help, what was tried, and the facts. */
function OneRequest({ id }: { readonly id: string }) {
  const admin = seesAll();
  const { data, error, loading, again } = useRead(
    admin ? 'getRequest' : 'getOwnRequest',
    { params: { request_id: id } },
    { keep: false },
  );
  if (error?.status === 404) {
    return (
      <div class="empty">
        <strong>{wp().requests.notFound}</strong>
        <p class="wrap">{messageOf(error).replace(MOMENTS, momentOf)}</p>
        <code class="wrap">{id}</code>
      </div>
    );
  }
  if (error !== undefined) return <ErrorNotice error={error} onAgain={again} />;
  if (loading || data === undefined) return <Skeleton lines={6} />;
  const full = 'tried' in data ? data : undefined;
  return (
    <div class="stack wide">
      <Verdict request={data} full={full} />
      <Timeline request={data} full={full} />
      <Facts request={data} full={full} />
      <div class="row">
        <CopyButton text={id} label={wp().requests.copyId} />
        <CopyButton text={JSON.stringify(data, null, 2)} label={wp().requests.copyJson} />
        {data.token_name === null ? null : (
          <Link class="button" to={`requests?token_name=${encodeURIComponent(data.token_name)}`}>
            {wp().requests.sameKey}
          </Link>
        )}
        {full?.channel_id == null ? null : (
          <Link class="button" to={`requests?channel_id=${full.channel_id}`}>
            {wp().requests.sameChannel}
          </Link>
        )}
      </div>
    </div>
  );
}

function Verdict({ request, full }: { readonly request: Own; readonly full: Full | undefined }) {
  const { verdicts, verdictHelp, requests: words } = wp();
  const { outcome, status, message } = request;
  const why = (verdicts as Readonly<Record<string, string | undefined>>)[outcome];
  const help = (
    verdictHelp as Readonly<Record<string, { user: string; admin: string } | undefined>>
  )[outcome];
  const side = sideOf(outcome);
  const bar = outcome === 'ok' ? 'ok-bar' : request.kind === 'refused' ? 'warn-bar' : 'bad-bar';
  return (
    <section class={`notice ${bar}`} aria-label={words.verdict}>
      <div class="stack">
        <h2>
          <State sign={signOf(outcome, request.kind === 'refused')}>
            {status} {outcome}
          </State>
        </h2>
        <p>{why ?? message ?? outcome}</p>
        {full !== undefined && (outcome === 'no_channel_available' || outcome === 'overloaded') ? (
          <Switches request={full} />
        ) : null}
        {message === null || outcome === 'ok' ? null : (
          <p class="wrap">
            <span class="muted">{words.told}</span> {message}
          </p>
        )}
        {help === undefined ? null : (
          <p>
            <strong>{words.helps}</strong> {full === undefined ? help.user : help.admin}
          </p>
        )}
        {outcome === 'ok' ? null : <p class="muted small">{words.sides[side]}</p>}
        {request.repeated === 0 ? null : <p class="muted">{words.repeated(request.repeated)}</p>}
      </div>
    </section>
  );
}

const AROUND_S = 7 * 86_400;

/** Which of the tags behind a model were off at that moment, who switched them off, and why. */
function Switches({ request }: { readonly request: Full }) {
  const model = request.model?.split('@')[0];
  const models = useRead('listChannelModels');
  const span = { start_timestamp: Math.max(0, request.created_at - AROUND_S), page_size: 100 };
  const off = useRead('listAudit', { query: { ...span, action: 'tag.disable' } });
  const on = useRead('listAudit', { query: { ...span, action: 'tag.enable' } });
  const channels = models.data?.find(({ id }) => id === model)?.channels;
  if (channels === undefined || off.data === undefined || on.data === undefined) return null;
  const tags = [...new Set(channels.flatMap(({ tag }) => tag ?? []))];
  const found = switchedOffAt(request.created_at, tags, [...off.data.items, ...on.data.items]);
  const { requests: words } = wp();
  return (
    <ul class="stack tight">
      {found.map(({ tag, since, by, reason, until }) => (
        <li key={tag}>
          {words.switchedOff(
            channels
              .filter((channel) => channel.tag === tag)
              .map(({ name }) => name)
              .join(', '),
            by,
            tag,
            clock(since, style()),
            reason,
          )}{' '}
          {until === undefined ? words.stillOff : words.onAgain(clock(until, style()))}{' '}
          <Link to={`tags?open=${encodeURIComponent(tag)}`}>{tag}</Link>
        </li>
      ))}
    </ul>
  );
}

function Timeline({ request, full }: { readonly request: Own; readonly full: Full | undefined }) {
  const { requests: words } = wp();
  const tried = full?.tried ?? [];
  const gatewayMs =
    request.upstream_ms === null ? undefined : request.duration_ms - request.upstream_ms;
  return (
    <section class="stack">
      <h3>{words.timeline}</h3>
      <ol class="stack tight">
        <li>
          <Moment seconds={request.created_at} /> {words.received}
          {request.kind === 'refused' ? ` · ${words.notAdmitted}` : ` · ${words.admittedThen}`}
        </li>
        {tried.map((attempt, index) => (
          <li key={index}>
            <State sign={attempt.outcome === 'ok' ? 'ok' : 'bad'}>
              {words.attempt(index + 1)}{' '}
              <Link to={`channels?open=${attempt.channel_id}`}>
                {attempt.channel ?? `#${attempt.channel_id}`}
              </Link>{' '}
              <span class="muted">{attempt.provider}</span> {faultWords(attempt.outcome)}
              {attempt.status === null ? '' : ` ${attempt.status}`} ·{' '}
              {duration(attempt.duration_ms)}
            </State>
            {attempt.message === '' ? null : <p class="muted wrap">{attempt.message}</p>}
          </li>
        ))}
        {tried.length === 0 && full?.channel != null ? (
          <li>
            <State sign={request.outcome === 'ok' ? 'ok' : 'bad'}>
              {words.attempt(1)}{' '}
              <Link to={`channels?open=${full.channel_id ?? ''}`}>{full.channel}</Link>
            </State>
          </li>
        ) : null}
        <li>
          {words.answered} {request.status} · {duration(request.duration_ms)}
          {gatewayMs === undefined || request.upstream_ms === null
            ? ''
            : ` (${words.upstream} ${duration(request.upstream_ms)}, ${words.gateway} ${duration(Math.max(0, gatewayMs))})`}
        </li>
      </ol>
    </section>
  );
}

function Facts({ request, full }: { readonly request: Own; readonly full: Full | undefined }) {
  const { requests: words } = wp();
  const facts: (readonly [string, preact.ComponentChildren])[] = [
    [words.id, <code>{request.request_id}</code>],
    [words.model, request.model ?? '–'],
    [
      words.key,
      request.token_id === null ? (
        '–'
      ) : (
        <Link to={`keys?open=${request.token_id}`}>{request.token_name}</Link>
      ),
    ],
    ...(full?.user_id == null
      ? []
      : ([
          [
            words.account,
            <Link to={`people?open=${full.user_id}`}>{full.username ?? `#${full.user_id}`}</Link>,
          ],
        ] as const)),
    [words.documents, <Count value={request.documents} />],
    [words.tokens, <Count value={request.input_tokens} />],
    [words.units, <Count value={request.search_units} />],
    [words.cost, <Money units={request.quota} />],
    ...(full?.address == null ? [] : ([[words.address, full.address]] as const)),
    ...(full?.node == null ? [] : ([[words.node, full.node]] as const)),
  ];
  return (
    <section class="stack">
      <h3>{words.facts}</h3>
      <dl class="facts">
        {facts.map(([name, value]) => [
          <dt key={name}>{name}</dt>,
          <dd key={`${name} is`}>{value}</dd>,
        ])}
      </dl>
    </section>
  );
}
