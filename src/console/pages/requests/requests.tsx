import { useState } from 'preact/hooks';
import { seesAll } from '../../about.js';
import { download } from '../../api/call.js';
import { useRead } from '../../api/query.js';
import { Button, Link } from '../../parts/buttons.js';
import { KeyCode } from '../../parts/code.js';
import { CsvButton } from '../../parts/csv-button.js';
import { Dialog } from '../../parts/dialog.js';
import { hasMore, List, useListQuery } from '../../parts/list.js';
import { ListHead } from '../../parts/list-head.js';
import { Empty } from '../../parts/notices.js';
import { RangeSteps, useOwnRange } from '../../parts/range.js';
import { setQuery, useRoute } from '../../router.js';
import { w, wp } from '../../words.js';
import { columnsOf, type Row } from './columns.js';
import { FilterBar } from './filter-bar.js';
import { FILTERS, matchingOf, ownFilters, type Filters } from './filters.js';
import { Histogram } from './histogram.js';
import { LIVE_MS, NewOnes, useLiveKey, usePaused } from './live.js';
import { OneRequest, RequestPage } from './one.js';
import { RowActions } from './row-actions.js';

const PAGE = 30;
/** Filters for which no entry has to be read. */
const UNREAD: readonly string[] = ['log', 'span'];

/** Admitted and refused requests, and their outcome. */
export function Requests() {
  const { path } = useRoute();
  const id = path[1];
  return id === undefined ? <RequestList /> : <RequestPage id={id} />;
}

/** Reads a page of the log, again and again while it is live and at its newest entries. */
function useLog(
  query: Filters,
  matching: ReturnType<typeof matchingOf>['matching'],
  before: string | undefined,
  isLive: boolean,
) {
  // Counting what matches in a long log would take seconds; how many there are in a span is known.
  const isCounted = FILTERS.every((name) => UNREAD.includes(name) || query[name] === '');
  const operation = seesAll() ? ('listRequests' as const) : ('listOwnRequests' as const);
  const reading = useRead(
    operation,
    { query: { ...matching, before, page_size: PAGE, count: isCounted } },
    { everyMs: isLive && before === undefined ? LIVE_MS : false },
  );
  return { operation, isCounted, reading };
}

function RequestList() {
  const { query: address } = useRoute();
  const { query: wanted, before, filtered, set, clear } = useListQuery(FILTERS);
  const [live, setLive] = useState(false);
  const admin = seesAll();
  const query = admin ? wanted : ownFilters(wanted);
  const own = useOwnRange();
  const { range, matching } = matchingOf(query, own, Math.floor(Date.now() / 60_000) * 60);
  const { paused, resume } = usePaused(live);
  const isFirst = before === undefined;
  const { operation, isCounted, reading } = useLog(query, matching, before, live && !paused);
  const { data: listed, again } = reading;
  useLiveKey(() => setLive(!live));
  const open = address.get('open');
  return (
    <>
      <ListHead
        title={w().nav.requests}
        // On a later page the API counts what is left.
        total={isFirst ? listed?.total : undefined}
        more={!isCounted && hasMore(listed)}
      >
        <RangeSteps shown={range} />
        <Button title="l" pressed={live} onClick={() => setLive(!live)}>
          {live ? '●' : '○'} {wp().requests.live}
        </Button>
        <CsvButton save={() => download(operation, { query: matching }, 'requests.csv')} />
      </ListHead>
      <FilterBar
        of={{ query, set }}
        kind={matching.kind}
        isOwnRange={own !== undefined}
        hasTagField={admin && matching.kind !== 'refused'}
        first={listed?.items[0]}
      />
      <Histogram range={range} isOwn={own !== undefined} query={query} />
      {paused && live && listed ? (
        <NewOnes
          query={matching}
          shown={listed.items}
          onShow={() => {
            resume();
            again();
          }}
        />
      ) : null}
      <List<Row>
        reading={reading}
        filtered={filtered}
        clear={clear}
        empty={
          <Empty title={wp().requests.noneYet}>
            <KeyCode />
          </Empty>
        }
        cursorOf={({ id }) => id}
        label={w().nav.requests}
        columns={columnsOf(admin, matching.kind)}
        actions={(row) => <RowActions row={row} onFilter={set} />}
        onFilter={set}
        idOf={({ request_id }) => request_id}
        onOpen={({ request_id }) => setQuery({ open: request_id }, { replace: open !== null })}
        openId={open ?? undefined}
      />
      {open && <Beside id={open} />}
    </>
  );
}

/** One request beside the list. */
function Beside({ id }: { readonly id: string }) {
  return (
    <Dialog
      kind="drawer"
      title={
        <Link to={`requests/${encodeURIComponent(id)}`}>
          <code class="wrap">{id}</code>
        </Link>
      }
      onClose={() => setQuery({ open: '' }, { replace: true })}
    >
      <OneRequest id={id} />
    </Dialog>
  );
}
