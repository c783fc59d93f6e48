import { useState } from 'preact/hooks';
import { seesAll } from '../about.js';
import { download, type ItemOf, type ReplyOf } from '../api/call.js';
import { useRead } from '../api/query.js';
import { EXAMPLE_BODY } from '../lib/snippets.js';
import { sideOf, signOf, switchedOffAt } from '../lib/verdict.js';
import { clock, duration } from '../lib/format.js';
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
  messageOf,
  style,
} from '../parts/basic.js';
import { RequestCode } from '../parts/code.js';
import { Dialog } from '../parts/dialog.js';
import { ListHead } from '../parts/list-head.js';
import { List, useListQuery, type Column } from '../parts/table.js';
import { setQuery, useRoute } from '../router.js';
import { faultWords, w, wp } from '../words.js';

const LIVE_MS = 3_000;
const PAGE = 30;
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
  const { query, page, filtered, set, clear } = useListQuery(FILTERS);
  const [live, setLive] = useState(false);
  const admin = seesAll();
  const open = address.get('open') ?? undefined;
  const refused = query.log === 'refused';
  const span = SPANS[query.span];
  const shared = {
    p: page,
    page_size: PAGE,
    model: query.model,
    token_name: query.token_name,
    outcome: query.outcome,
    // Rounded to the minute, so that not every render makes a new query.
    start_timestamp: span === undefined ? undefined : Math.floor(Date.now() / 60_000) * 60 - span,
  };
  const number = (text: string): number | undefined => (text === '' ? undefined : Number(text));
  const usageQuery = {
    ...shared,
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
  const everyMs = live ? LIVE_MS : (false as const);
  const usage = useRead(
    admin ? 'listUsage' : 'listOwnUsage',
    { query: usageQuery },
    { enabled: !refused, everyMs },
  );
  const refusals = useRead(
    admin ? 'listRefusals' : 'listOwnRefusals',
    { query: shared },
    { enabled: refused, everyMs },
  );
  const total = (refused ? refusals : usage).data?.total;
  const openRow = ({ request_id }: { readonly request_id: string }): void =>
    setQuery({ open: request_id }, { replace: open !== undefined });
  return (
    <>
      <ListHead title={w().nav.requests} total={total}>
        <Button onClick={() => setLive(!live)}>
          {live ? `● ${wp().requests.liveOn}` : `○ ${wp().requests.liveOff}`}
        </Button>
        <Button
          onClick={() =>
            void (refused
              ? download(
                  admin ? 'listRefusals' : 'listOwnRefusals',
                  { query: shared },
                  'refused.csv',
                )
              : download(
                  admin ? 'listUsage' : 'listOwnUsage',
                  { query: usageQuery },
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
          value={query.span === '' ? 'all' : query.span}
          choices={[
            ...Object.keys(SPANS).map((value) => ({ value, label: wp().requests.spans(value) })),
            { value: 'all', label: w().all },
          ]}
          onChange={(value) => set({ span: value === 'all' ? '' : value })}
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
              {name.replace('_id', '')}: {query[name]}
            </Chip>
          ),
        )}
      </div>
      {refused ? (
        <List<ItemOf<'listOwnRefusals'>>
          reading={refusals}
          filtered={FILTERS.some((name) => name !== 'log' && query[name] !== '')}
          clear={() =>
            set(
              Object.fromEntries(
                FILTERS.filter((name) => name !== 'log').map((name) => [name, '']),
              ),
            )
          }
          empty={<Empty title={wp().requests.noneRefused} />}
          label={w().nav.requests}
          columns={refusedColumns(admin)}
          idOf={({ request_id }) => request_id}
          onOpen={openRow}
          openId={open}
        />
      ) : (
        <List<ItemOf<'listOwnUsage'>>
          reading={usage}
          filtered={filtered}
          clear={clear}
          empty={
            <Empty title={wp().requests.noneYet}>
              <RequestCode body={EXAMPLE_BODY} />
            </Empty>
          }
          label={w().nav.requests}
          columns={usageColumns(admin)}
          idOf={({ request_id }) => request_id}
          onOpen={openRow}
          openId={open}
        />
      )}
      {open === undefined ? null : (
        <Dialog
          key="request"
          kind="drawer"
          title={<code class="wrap">{open}</code>}
          onClose={() => setQuery({ open: '' }, { replace: true })}
        >
          <OneRequest id={open} />
        </Dialog>
      )}
    </>
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
    },
    { title: words.model, narrow: true, cell: ({ model }) => <span title={model}>{model}</span> },
    ...(admin
      ? [
          {
            title: words.channel,
            minor: true,
            narrow: true,
            cell: (row: Usage) =>
              row.channel_id == null
                ? '–'
                : `${row.provider ?? ''}${row.tag == null ? '' : ` · ${row.tag}`}`,
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
    { title: words.key, narrow: true, cell: ({ token_name }) => token_name },
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
    },
    {
      title: words.message,
      narrow: true,
      cell: ({ message }) => <span title={message}>{message}</span>,
    },
    { title: words.model, narrow: true, cell: ({ model }) => model ?? '–' },
    { title: words.key, cell: ({ token_name }) => token_name ?? '–' },
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
        <p class="wrap">{messageOf(error)}</p>
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
