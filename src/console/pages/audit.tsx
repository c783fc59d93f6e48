import { isAdmin } from '../about.js';
import { download, type ItemOf } from '../api/call.js';
import { useRead } from '../api/query.js';
import { recordOf, undoOf } from '../lib/audit.js';
import { Button, Chip, Link } from '../parts/buttons.js';
import { Filter } from '../parts/filter.js';
import { Empty } from '../parts/notices.js';
import { Ago, Moment } from '../parts/values.js';
import { CsvButton } from '../parts/csv-button.js';
import { Dialog, type Closable } from '../parts/dialog.js';
import { Value, ValueHead } from '../parts/member-value.js';
import { ListHead } from '../parts/list-head.js';
import { RangeSteps, useOwnRange } from '../parts/range.js';
import { List, useListQuery } from '../parts/list.js';
import { type Column } from '../parts/table.js';
import { setQuery, useRoute } from '../router.js';
import { w, wp } from '../words.js';
import { UndoDialog } from './audit-undo.js';

type Entry = ItemOf<'listAudit'>;

const DAY_S = 86_400;
const PAGE = 50;
const FILTERS = ['actor', 'action', 'target'] as const;

/** The audit log: who did what, when, from where and why, and what it replaced. */
export function Audit() {
  const { query: address } = useRoute();
  const list = useListQuery(FILTERS);
  const { query, before, filtered, set, clear } = list;
  const own = useOwnRange();
  const minute = Math.floor(Date.now() / 60_000) * 60;
  const matching = {
    ...query,
    start_timestamp: own?.start,
    // In the log the last second belongs to the range.
    end_timestamp: own === undefined ? undefined : own.end - 1,
  };
  const reading = useRead('listAudit', {
    query: { ...matching, before: idOf(before), page_size: PAGE },
  });
  const open = Number(address.get('open') ?? NaN);
  const entry = reading.data?.items.find(({ id }) => id === open);
  const close = (): void => setQuery({ open: '', undo: '' }, { replace: true });
  const undoes = address.get('undo') !== null && entry !== undefined;
  return (
    <>
      <ListHead
        title={w().nav.audit}
        // On a later page the API counts what is left.
        total={before === undefined ? reading.data?.total : undefined}
      >
        <RangeSteps shown={own ?? { start: minute + 60 - DAY_S, end: minute + 60 }} />
        <CsvButton save={() => download('listAudit', { query: matching }, 'audit.csv')} />
      </ListHead>
      <div class="row">
        <Filter of={list} name="actor" label={wp().audit.who} />
        <Filter of={list} name="action" label={wp().audit.action} />
        <Filter of={list} name="target" label={wp().audit.target} />
        {query.target === '' ? null : (
          <Chip onRemove={() => set({ target: '' })}>{query.target}</Chip>
        )}
      </div>
      <List
        reading={reading}
        filtered={filtered}
        clear={clear}
        empty={<Empty title={wp().audit.none} />}
        label={w().nav.audit}
        idOf={({ id }) => id}
        cursorOf={({ id }) => id}
        openId={entry?.id}
        onOpen={({ id }) => setQuery({ open: id, undo: '' }, { replace: entry !== undefined })}
        onFilter={set}
        columns={columns()}
      />
      {entry === undefined || undoes ? null : <Details entry={entry} onClose={close} />}
      {undoes ? (
        <UndoDialog entry={entry} onClose={() => setQuery({ undo: '' }, { replace: true })} />
      ) : null}
    </>
  );
}

function columns(): Column<Entry>[] {
  return [
    { title: wp().audit.when, cell: ({ created_at: at }) => <Ago seconds={at} /> },
    { title: wp().audit.who, cell: ({ actor }) => actor, only: ({ actor }) => ({ actor }) },
    {
      title: wp().audit.what,
      cell: (entry) => <Deed entry={entry} />,
      only: ({ action }) => ({ action }),
    },
    {
      title: wp().audit.member,
      minor: true,
      cell: ({ changes }) => changes.map(({ member }) => member).join(', '),
      only: ({ target }) => ({ target }),
    },
    { title: w().reason, minor: true, cell: reasonOf },
    {
      title: wp().audit.from,
      minor: true,
      cell: placeOf,
    },
  ];
}

/** From where it was done: the gateway does some of it on its own. */
function placeOf({ address, actor }: Entry): string {
  return address ?? (actor === 'gateway' ? wp().audit.itself : wp().audit.commandLine);
}

function reasonOf({ detail }: Entry): string {
  return typeof detail.reason === 'string' ? detail.reason : '';
}

/** What was done, to what: a link to its record while there is one. */
function Deed({ entry }: { readonly entry: Entry }) {
  const { action, target, name } = entry;
  const record = recordOf(entry);
  const shown = name ?? target;
  return (
    <>
      <span title={action}>{wp().audit.did[action] ?? action}</span>{' '}
      {record === undefined ? (
        <strong title={target}>{shown}</strong>
      ) : (
        <Link to={record} title={target}>
          {shown}
        </Link>
      )}
    </>
  );
}

function Details({ entry, onClose }: Closable & { readonly entry: Entry }) {
  const { action, target, name, changes, detail, actor } = entry;
  const words = wp().audit;
  const record = recordOf(entry);
  const why = reasonOf(entry);
  const undo = isAdmin() ? undoOf(entry) : undefined;
  return (
    <Dialog
      kind="drawer"
      title={`${actor} ${words.did[action] ?? action} ${name ?? target}`}
      onClose={onClose}
      foot={
        record === undefined && undo === undefined ? undefined : (
          <>
            {record === undefined ? null : (
              <Link class="button" to={record}>
                {words.record}
              </Link>
            )}
            {undo === undefined ? null : (
              <Button onClick={() => setQuery({ undo: '1' })}>{words.undo}</Button>
            )}
          </>
        )
      }
    >
      <p>
        <Moment seconds={entry.created_at} /> · {placeOf(entry)} · <code>{action}</code> ·{' '}
        <code>{target}</code>
      </p>
      {why === '' ? null : (
        <p>
          {w().reason}: {why}
        </p>
      )}
      {changes.length === 0 ? (
        <p class="muted">{words.notKept}</p>
      ) : (
        <table class="plain">
          <ValueHead titles={[words.member, words.before, words.after]} />
          <tbody>
            {changes.map(({ member, before, after, omitted }) => (
              <tr key={member}>
                <th scope="row">
                  <code>{member}</code>
                </th>
                {omitted ? (
                  <td colSpan={2} class="muted">
                    {words.omitted}
                  </td>
                ) : (
                  <>
                    <td class="wrap">
                      <Value member={member} value={before} />
                    </td>
                    <td class="wrap">
                      <Value member={member} value={after} />
                    </td>
                  </>
                )}
              </tr>
            ))}
          </tbody>
        </table>
      )}
      <details open={changes.length === 0}>
        <summary>{words.more}</summary>
        <div class="codebox">
          <pre tabIndex={0}>{JSON.stringify(detail, null, 2)}</pre>
        </div>
      </details>
    </Dialog>
  );
}

/** The id that an address names, if it is one. */
function idOf(text: string | undefined): number | undefined {
  const id = Number(text);
  return Number.isSafeInteger(id) && id > 0 ? id : undefined;
}
