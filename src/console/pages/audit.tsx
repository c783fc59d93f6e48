import { download } from '../api/call.js';
import { useRead } from '../api/query.js';
import { Ago, Button, Empty, FilterText } from '../parts/basic.js';
import { Dialog } from '../parts/dialog.js';
import { ListHead } from '../parts/list-head.js';
import { List, useListQuery } from '../parts/table.js';
import { setQuery, useRoute } from '../router.js';
import { w, wp } from '../words.js';

/** The audit log: who did what, when, from where and why. */
export function Audit() {
  const { query: address } = useRoute();
  const { query, page, filtered, set, clear } = useListQuery(['action', 'target']);
  const reading = useRead('listAudit', { query: { p: page, page_size: 50, ...query } });
  const open = address.get('open');
  const idOf = (row: { created_at: number; action: string; target: string }): string =>
    `${row.created_at} ${row.action} ${row.target}`;
  const entry = reading.data?.items.find((row) => idOf(row) === open);
  return (
    <>
      <ListHead title={w().nav.audit} total={reading.data?.total}>
        <Button onClick={() => void download('listAudit', { query }, 'audit.csv')}>
          {w().csv}
        </Button>
      </ListHead>
      <div class="row">
        <FilterText
          label={wp().audit.action}
          value={query.action}
          onChange={(action) => set({ action })}
        />
        <FilterText
          label={wp().audit.target}
          value={query.target}
          onChange={(target) => set({ target })}
        />
      </div>
      <List
        reading={reading}
        filtered={filtered}
        clear={clear}
        empty={<Empty title={wp().audit.none} />}
        label={w().nav.audit}
        idOf={idOf}
        openId={open ?? undefined}
        onOpen={(row) => setQuery({ open: idOf(row) }, { replace: open !== null })}
        columns={[
          { title: wp().audit.when, cell: ({ created_at }) => <Ago seconds={created_at} /> },
          { title: wp().audit.who, cell: ({ actor }) => actor },
          { title: wp().audit.action, cell: ({ action }) => <code>{action}</code> },
          { title: wp().audit.target, cell: ({ target }) => target },
          {
            title: w().reason,
            minor: true,
            cell: ({ detail }) => (typeof detail.reason === 'string' ? detail.reason : ''),
          },
          {
            title: wp().audit.from,
            minor: true,
            cell: ({ address: from }) => from ?? wp().audit.commandLine,
          },
        ]}
      />
      {entry === undefined ? null : (
        <Dialog
          kind="drawer"
          title={`${entry.action} · ${entry.target}`}
          onClose={() => setQuery({ open: '' }, { replace: true })}
        >
          <p>
            {entry.actor} · {new Date(entry.created_at * 1000).toISOString()}
          </p>
          <div class="codebox">
            <pre tabIndex={0}>{JSON.stringify(entry.detail, null, 2)}</pre>
          </div>
        </Dialog>
      )}
    </>
  );
}
