import { isAdmin } from '../about.js';
import { call, type ItemOf } from '../api/call.js';
import { useRead, useWrite } from '../api/query.js';
import { Button } from '../parts/buttons.js';
import { Dialog } from '../parts/dialog.js';
import { Filter } from '../parts/filter.js';
import { ListHead } from '../parts/list-head.js';
import { List, useListQuery } from '../parts/list.js';
import { Empty, ErrorNotice } from '../parts/notices.js';
import { toast } from '../parts/toast.js';
import { Ago, Moment, State } from '../parts/values.js';
import { setQuery, useRoute } from '../router.js';
import { w, wp } from '../words.js';

type Alert = ItemOf<'listAlerts'>;

const EVERY_MS = 10_000;
const STATES = ['waiting', 'sent', 'dead'] as const;
const SIGNS = { waiting: 'busy', sent: 'ok', dead: 'bad' } as const;

/** What was sent to webhooks, Slack and mail, when and where to, and what failed. */
export function Alerts() {
  const words = wp().alerts;
  const { query: address } = useRoute();
  const list = useListQuery(['state']);
  const { query, page, filtered, clear } = list;
  const state = STATES.find((one) => one === query.state);
  const reading = useRead(
    'listAlerts',
    { query: { p: page, ...(state === undefined ? {} : { state }) } },
    { everyMs: EVERY_MS },
  );
  const open = reading.data?.items.find(({ id }) => id === address.get('open'));
  return (
    <>
      <ListHead title={w().nav.alerts} total={reading.data?.total}>
        <Filter
          of={list}
          name="state"
          label={wp().channels.anyState}
          choices={STATES.map((one) => ({ value: one, label: words.states[one] }))}
        />
        {isAdmin() ? <Test /> : null}
      </ListHead>
      <List
        reading={reading}
        filtered={filtered}
        clear={clear}
        empty={<Empty title={words.none}>{words.noneHelp}</Empty>}
        label={w().nav.alerts}
        idOf={({ id }) => id}
        openId={open?.id}
        onOpen={({ id }) => setQuery({ open: id }, { replace: open !== undefined })}
        columns={[
          { title: words.when, cell: ({ time }) => <Ago seconds={time} /> },
          { title: words.what, cell: ({ summary }) => summary },
          { title: words.target, cell: ({ target }) => target },
          {
            title: w().status,
            cell: (alert) => (
              <>
                <State sign={SIGNS[alert.state]}>{words.states[alert.state]}</State>
                {alert.error === null ? null : <span class="small muted"> {alert.error}</span>}
              </>
            ),
          },
        ]}
      />
      {open === undefined ? null : <Details alert={open} />}
    </>
  );
}

/** Sends every target a message at once, and says which of them did not take it. */
function Test() {
  const words = wp().alerts;
  const test = useWrite(
    () => call('testAlerts', { body: {} }),
    (results) => {
      const failed = results.filter(({ error }) => error !== null);
      for (const { target, error } of failed) toast(words.refused(target, error ?? ''));
      if (failed.length === 0) toast(words.accepted(results.length));
    },
  );
  return (
    <>
      <Button disabled={test.busy} onClick={() => void test.run(undefined)}>
        {words.test}
      </Button>
      <ErrorNotice error={test.error} />
    </>
  );
}

function Details({ alert }: { readonly alert: Alert }) {
  const words = wp().alerts;
  const again = useWrite(
    () => call('resendAlert', { params: { id: alert.id } }),
    () => toast(words.resent),
  );
  return (
    <Dialog
      kind="drawer"
      title={alert.summary}
      onClose={() => setQuery({ open: '' }, { replace: true })}
      foot={
        isAdmin() ? (
          <Button disabled={again.busy} onClick={() => void again.run(undefined)}>
            {words.again}
          </Button>
        ) : undefined
      }
    >
      <p>
        <Moment seconds={alert.time} /> · {alert.target} · <code>{alert.type}</code>
      </p>
      <p>
        <State sign={SIGNS[alert.state]}>{words.states[alert.state]}</State>{' '}
        <Moment seconds={alert.changed_time} />
      </p>
      {alert.error === null ? null : <p>{words.failed(alert.tries, alert.error)}</p>}
      {alert.due_time === null ? null : (
        <p>
          {words.due} <Moment seconds={alert.due_time} />
        </p>
      )}
      <ErrorNotice error={again.error} />
      <div class="codebox">
        <pre tabIndex={0}>{alert.body}</pre>
      </div>
    </Dialog>
  );
}
