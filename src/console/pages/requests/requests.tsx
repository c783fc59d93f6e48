import { useState } from 'preact/hooks';
import { seesAll } from '../../about.js';
import { download } from '../../api/call.js';
import { useRead } from '../../api/query.js';
import { duration } from '../../lib/format.js';
import { EXAMPLE_BODY } from '../../lib/snippets.js';
import { Button, Chip, Link } from '../../parts/buttons.js';
import { FilterText, Segments } from '../../parts/fields.js';
import { Empty } from '../../parts/notices.js';
import { RequestCode } from '../../parts/code.js';
import { CsvButton } from '../../parts/csv-button.js';
import { Dialog } from '../../parts/dialog.js';
import { FilterSelect } from '../../parts/form.js';
import { ListHead } from '../../parts/list-head.js';
import { hasMore, List, useListQuery } from '../../parts/list.js';
import { CLEARED, RangeSteps, useOwnRange, withoutOwnRange } from '../../parts/range.js';
import { setQuery, useRoute } from '../../router.js';
import { w, wp } from '../../words.js';
import { columnsOf, type Row } from './columns.js';
import { FILTERS, ownFilters, type Filters } from './filters.js';
import { Histogram } from './histogram.js';
import { LIVE_MS, NewOnes, useLiveKey, usePaused } from './live.js';
import { OneRequest, RequestPage } from './one.js';
import { RowActions } from './row-actions.js';

/** What the chart shows of all requests: statistics by the hour are kept a little longer. */
const CHARTED_S = 30 * 86_400;
const PAGE = 30;
const KINDS = ['admitted', 'refused'] as const;
/** Filters for which no entry has to be read. */
const UNREAD: readonly string[] = ['log', 'span'];
/** Filters that have no field, or not always. */
const CHIPS = ['channel_id', 'provider', 'tag', 'user_id', 'slower'] as const;
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
  const { query: wanted, before, filtered, set, clear } = useListQuery(FILTERS);
  const [live, setLive] = useState(false);
  const admin = seesAll();
  const query = admin ? wanted : ownFilters(wanted);
  const open = address.get('open') ?? undefined;
  const span = Object.hasOwn(SPANS, query.span) ? SPANS[query.span] : undefined;
  const own = useOwnRange();
  const minute = Math.floor(Date.now() / 60_000) * 60;
  const charted = own ?? { start: minute + 60 - (span ?? CHARTED_S), end: minute + 60 };
  const { paused, resume } = usePaused(live);
  const number = (text: string): number | undefined => (text === '' ? undefined : Number(text));
  const matching = {
    kind: KINDS.find((kind) => kind === query.log),
    model: query.model,
    token_name: query.token_name,
    outcome: query.outcome,
    min_duration_ms: number(query.slower),
    // Rounded to the minute, so that not every render makes a new query.
    start_timestamp: own?.start ?? (span === undefined ? undefined : minute - span),
    // In the log the last second belongs to the range.
    end_timestamp: own === undefined ? undefined : own.end - 1,
    channel_id: number(query.channel_id),
    user_id: number(query.user_id),
    provider: query.provider,
    tag: query.tag,
  };
  const hasTagField = admin && matching.kind !== 'refused';
  // Counting what matches in a long log would take seconds; how many there are in a span is known.
  const isCounted = FILTERS.every((name) => UNREAD.includes(name) || query[name] === '');
  const isFirst = before === undefined;
  const operation = admin ? 'listRequests' : 'listOwnRequests';
  const reading = useRead(
    operation,
    { query: { ...matching, before, page_size: PAGE, count: isCounted } },
    { everyMs: live && !paused && isFirst ? LIVE_MS : false },
  );
  const { data: listed, again } = reading;
  useLiveKey(() => setLive(!live));
  return (
    <>
      <ListHead
        title={w().nav.requests}
        // On a later page the API counts what is left.
        total={isFirst ? listed?.total : undefined}
        more={!isCounted && hasMore(listed)}
      >
        <RangeSteps shown={charted} />
        <Button title="l" pressed={live} onClick={() => setLive(!live)}>
          {live ? '●' : '○'} {wp().requests.live}
        </Button>
        <CsvButton save={() => download(operation, { query: matching }, 'requests.csv')} />
      </ListHead>
      <div class="row">
        <Segments
          label={wp().requests.which}
          value={matching.kind ?? 'all'}
          choices={[
            { value: 'all', label: w().all },
            ...KINDS.map((value) => ({ value, label: wp().requests[value] })),
          ]}
          onChange={(value) => set({ log: value === 'all' ? '' : value })}
        />
        <Segments
          label={wp().requests.span}
          value={own === undefined ? (query.span === '' ? 'all' : query.span) : ''}
          choices={[
            ...Object.keys(SPANS).map((value) => ({ value, label: wp().requests.spans(value) })),
            { value: 'all', label: wp().requests.allTime },
          ]}
          onChange={(value) =>
            setQuery(withoutOwnRange(value === 'all' ? '' : value), { replace: true })
          }
        />
        <FilterSelect
          label={wp().requests.anyOutcome}
          value={query.outcome}
          choices={outcomes().map((value) => ({
            value,
            label: value === 'failed' ? wp().requests.anyError : value,
          }))}
          onChange={(outcome) => set({ outcome })}
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
        {hasTagField ? (
          <FilterText
            label={wp().requests.tag}
            value={query.tag}
            onChange={(tag) => set({ tag })}
          />
        ) : null}
        {CHIPS.map((name) =>
          query[name] === '' || (name === 'tag' && hasTagField) ? null : (
            <Chip key={name} onRemove={() => set({ [name]: '' })}>
              {wp().requests.filters[name]}: {named(name, query[name], listed?.items[0])}
            </Chip>
          ),
        )}
      </div>
      <Histogram range={charted} query={query} />
      {paused && live ? (
        <NewOnes
          query={matching}
          shown={listed?.items ?? []}
          onShow={() => {
            resume();
            again();
          }}
        />
      ) : null}
      <List<Row>
        reading={reading}
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
        columns={columnsOf(admin, matching.kind)}
        actions={(row) => <RowActions row={row} onFilter={set} />}
        onFilter={set}
        idOf={({ request_id }) => request_id}
        onOpen={({ request_id }) => setQuery({ open: request_id }, { replace: open !== undefined })}
        openId={open}
      />
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

/** What a request can end as; `failed` stands for all errors. */
function outcomes(): readonly string[] {
  const errors = Object.keys(wp().verdicts).filter((code) => code !== 'ok');
  return ['ok', 'failed', ...errors.sort()];
}

/** What a filter says in words: the name of what it picks, if a row has it. */
function named(filter: keyof Filters, value: string, row: Row | undefined): string {
  if (filter === 'channel_id' && String(row?.channel_id) === value) return row?.channel ?? value;
  return filter === 'slower' ? duration(Number(value)) : value;
}
