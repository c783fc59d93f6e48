import { useState } from 'preact/hooks';
import { about, isAdmin, seesAll } from '../about.js';
import { call, type ItemOf } from '../api/call.js';
import { useRead, useWrite } from '../api/query.js';
import { EXAMPLE_BODY } from '../lib/snippets.js';
import {
  Ago,
  Button,
  CodeBox,
  CopyButton,
  Count,
  Empty,
  ErrorNotice,
  FilterText,
  Link,
  Meter,
  Moment,
  Money,
  Segments,
  Skeleton,
  State,
  TextField,
} from '../parts/basic.js';
import { BudgetFacts } from '../parts/budget.js';
import { RequestCode } from '../parts/code.js';
import { ConfirmWrite, WriteFailed, useShownOnce } from '../parts/confirm-write.js';
import { Dialog, Menu } from '../parts/dialog.js';
import { FilterSelect } from '../parts/form.js';
import { ListHead } from '../parts/list-head.js';
import { List, useListQuery, useOpenRow } from '../parts/table.js';
import { toast } from '../parts/toast.js';
import { setQuery, useRoute } from '../router.js';
import { w, wp } from '../words.js';
import { EditKey, NewKey, type Made } from './key-form.js';
import type { PageWords } from '../words/en-pages.js';

type Key = ItemOf<'listTokens'>;

const SOON_S = 3 * 86_400;
const UNUSED_S = 90 * 86_400;
const LOW = 0.05;
const STATUSES = [1, 2, 3, 4] as const;
const STATE_NAMES = { 1: 'enabled', 2: 'disabled', 3: 'expired', 4: 'exhausted' } as const;

/** Keys: what each may spend and use, what is left, and a new key, which is shown once. */
export function Keys() {
  const { query: address } = useRoute();
  const { query, page, filtered, set, clear } = useListQuery(['keyword', 'user_id', 'status']);
  const status = STATUSES.find((one) => String(one) === query.status);
  const [made, setMade] = useState<Made>();
  const owner = seesAll() && query.user_id !== '' ? Number(query.user_id) : undefined;
  const reading = useRead('searchTokens', {
    query: { p: page, page_size: 30, keyword: query.keyword, user_id: owner, status },
  });
  const { openId, onOpen, close } = useOpenRow();
  const making = address.get('new') !== null;
  const make = { label: wp().keys.new, onClick: () => setQuery({ new: '1' }) };
  return (
    <>
      <ListHead title={w().nav.keys} total={reading.data?.total} make={make}>
        <FilterText
          label={w().name}
          value={query.keyword}
          onChange={(keyword) => set({ keyword })}
        />
        <FilterSelect
          label={wp().keys.anyState}
          value={query.status}
          choices={STATUSES.map((one) => ({
            value: String(one),
            label: wp().keys.states[STATE_NAMES[one]],
          }))}
          onChange={(picked) => set({ status: picked })}
        />
      </ListHead>
      <List
        reading={reading}
        filtered={filtered}
        clear={clear}
        empty={
          <Empty
            title={wp().keys.noneYet}
            make={make}
            command="npm run cli -- keys create --name my-app"
          >
            {wp().keys.noneHelp}
          </Empty>
        }
        label={w().nav.keys}
        idOf={({ id }) => id}
        openId={openId}
        onOpen={onOpen}
        columns={[
          {
            title: w().name,
            narrow: true,
            cell: ({ name, key_hint }) => (
              <>
                <span title={name}>{name}</span> <code class="muted small">{key_hint}</code>
              </>
            ),
          },
          { title: w().status, cell: (key) => <KeyState token={key} /> },
          { title: wp().keys.left, cell: (key) => <Left token={key} /> },
          {
            title: wp().keys.spent,
            numeric: true,
            minor: true,
            cell: ({ used_quota }) => <Money units={used_quota} />,
          },
          {
            title: w().nav.models,
            minor: true,
            cell: ({ model_limits_enabled, model_limits }) =>
              model_limits_enabled ? model_limits.join(', ') : w().all,
          },
          {
            title: w().nav.tags,
            minor: true,
            cell: ({ tags }) => (tags.length === 0 ? w().all : tags.join(', ')),
          },
          {
            title: wp().keys.ends,
            minor: true,
            cell: ({ expired_time }) =>
              expired_time < 0 ? w().never : <Ago seconds={expired_time} />,
          },
          {
            title: wp().keys.used,
            minor: true,
            // A new key counts as accessed at the time when it was made.
            cell: ({ accessed_time, created_time, used_quota }) =>
              accessed_time <= created_time && used_quota === 0 ? (
                w().never
              ) : (
                <Ago seconds={accessed_time} />
              ),
          },
        ]}
        actions={(key) => (mayChange(key) ? <KeyActions token={key} /> : null)}
      />
      {making ? (
        <NewKey
          onClose={() => setQuery({ new: '' }, { replace: true })}
          onMade={(key) => {
            setMade(key);
            setQuery({ new: '' }, { replace: true });
          }}
        />
      ) : null}
      {made === undefined ? null : <ShownOnce made={made} onClose={() => setMade(undefined)} />}
      {openId === undefined ? null : (
        <Dialog key="key" kind="drawer" title={wp().keys.one} onClose={close}>
          <OneKey id={openId} />
        </Dialog>
      )}
    </>
  );
}

/** One’s own keys, and as an admin those of others. */
function mayChange({ user_id: owner }: Key): boolean {
  return isAdmin() || owner === about.get()?.self?.id;
}

function KeyState({
  token: { status, expired_time: ends, accessed_time: used, created_time },
}: {
  readonly token: Key;
}) {
  const now = Date.now() / 1000;
  const { states } = wp().keys;
  if (status === 2) return <State sign="off">{states.disabled}</State>;
  if (status === 3) return <State sign="bad">{states.expired}</State>;
  if (status === 4) return <State sign="bad">{states.exhausted}</State>;
  if (ends > 0 && ends - now < SOON_S) return <State sign="warn">{states.endsSoon}</State>;
  if (now - Math.max(used, created_time) > UNUSED_S)
    return <State sign="warn">{states.unused}</State>;
  return <State sign="ok">{states.enabled}</State>;
}

function Left({ token: { unlimited_quota, remain_quota, used_quota } }: { readonly token: Key }) {
  if (unlimited_quota) return <span class="muted">{wp().keys.asAccount}</span>;
  const share = remain_quota / Math.max(1, remain_quota + used_quota);
  return (
    <>
      <Meter share={share} low={share < LOW} /> <Money units={remain_quota} />
    </>
  );
}

const KEEP_OLD: readonly (readonly [keyof PageWords['keys']['keepOld'], number])[] = [
  ['none', 0],
  ['hour', 3_600],
  ['day', 86_400],
  ['week', 604_800],
];

/** A new secret for a key, shown once; the old one may continue to work for a while. */
function RollKey({
  token: { id, name },
  onClose,
}: {
  readonly token: Key;
  readonly onClose: () => void;
}) {
  const [keep, setKeep] = useState('0');
  const [made, setMade] = useState<Made>();
  if (made !== undefined) return <ShownOnce made={made} onClose={onClose} />;
  return (
    <ConfirmWrite
      title={wp().keys.rollTitle(name)}
      action={wp().keys.rollAction}
      write={(why, key) =>
        call('rollToken', { params: { id }, body: { keep_old_s: Number(keep), ...why }, key })
      }
      onDone={setMade}
      onClose={onClose}
      staysOpen
    >
      <p>{wp().keys.rollHelp}</p>
      <Segments
        label={wp().keys.oldWorks}
        value={keep}
        choices={KEEP_OLD.map(([span, seconds]) => ({
          value: String(seconds),
          label: wp().keys.keepOld[span],
        }))}
        onChange={setKeep}
      />
    </ConfirmWrite>
  );
}

function KeyActions({ token }: { readonly token: Key }) {
  const { id, name, status } = token;
  const [editing, setEditing] = useState(false);
  const [rolling, setRolling] = useState(false);
  const [deleting, setDeleting] = useState(false);
  const update = useWrite((wanted: 1 | 2) => call('updateToken', { body: { id, status: wanted } }));
  return (
    <>
      <Menu
        label={`${w().actions}: ${name}`}
        items={[
          { label: w().open, onClick: () => setQuery({ open: id }) },
          { label: `${w().edit}…`, onClick: () => setEditing(true) },
          status === 1
            ? { label: w().disable, onClick: () => void update.run(2) }
            : { label: w().enable, onClick: () => void update.run(1) },
          { label: `${wp().keys.roll}…`, onClick: () => setRolling(true) },
          { label: `${w().delete}…`, danger: true, onClick: () => setDeleting(true) },
        ]}
      >
        ⋯
      </Menu>
      <WriteFailed title={name} of={update} />
      {editing ? <EditKey token={token} onClose={() => setEditing(false)} /> : null}
      {rolling ? <RollKey token={token} onClose={() => setRolling(false)} /> : null}
      {deleting ? (
        <ConfirmWrite
          title={wp().keys.deleteTitle(name)}
          action={w().delete}
          write={(why) => call('deleteToken', { params: { id }, query: why })}
          onDone={() => toast(w().deleted)}
          onClose={() => setDeleting(false)}
        >
          <p>{wp().keys.deleteHelp}</p>
        </ConfirmWrite>
      ) : null}
    </>
  );
}

function OneKey({ id }: { readonly id: number }) {
  const { data, error, again } = useRead('getToken', { params: { id } }, { keep: false });
  const [amount, setAmount] = useState('');
  const perDollar = about.get()?.units_per_usd ?? 1;
  const add = useWrite((units: number) => call('updateToken', { body: { id, add_quota: units } }));
  if (error !== undefined) return <ErrorNotice error={error} onAgain={again} />;
  if (data === undefined) return <Skeleton />;
  return (
    <div class="stack wide">
      <div class="row">
        <h3 class="grow wrap">{data.name}</h3>
        {mayChange(data) ? <KeyActions token={data} /> : null}
      </div>
      <dl class="facts">
        <dt>{wp().keys.key}</dt>
        <dd>
          <code>{data.key_hint}</code>
        </dd>
        {data.old_key_until === 0 ? null : (
          <>
            <dt>{wp().keys.oldKey}</dt>
            <dd>
              {wp().keys.worksUntil} <Moment seconds={data.old_key_until} />
            </dd>
          </>
        )}
        <dt>{w().status}</dt>
        <dd>
          <KeyState token={data} />
        </dd>
        <dt>{wp().keys.left}</dt>
        <dd>
          <Left token={data} />
        </dd>
        <dt>{wp().keys.spent}</dt>
        <dd>
          <Money units={data.used_quota} />
        </dd>
        <BudgetFacts of={data} />
        <dt>{w().nav.models}</dt>
        <dd>{data.model_limits_enabled ? data.model_limits.join(', ') : w().all}</dd>
        {Object.keys(data.aliases).length === 0 ? null : (
          <>
            <dt>{wp().keys.aliases}</dt>
            <dd>
              {Object.entries(data.aliases)
                .map(([alias, model]) => `${alias} = ${model}`)
                .join(', ')}
            </dd>
          </>
        )}
        {data.fallbacks.length === 0 ? null : (
          <>
            <dt>{wp().keys.fallbacks}</dt>
            <dd>{data.fallbacks.join(', ')}</dd>
          </>
        )}
        <dt>{wp().keys.perMinute}</dt>
        <dd>{data.rate_limit === 0 ? wp().keys.unlimited : <Count value={data.rate_limit} />}</dd>
        <dt>{wp().keys.atOnce}</dt>
        <dd>
          {data.max_concurrency === 0 ? (
            wp().keys.unlimited
          ) : (
            <Count value={data.max_concurrency} />
          )}
        </dd>
        <dt>{w().created}</dt>
        <dd>
          <Moment seconds={data.created_time} />
        </dd>
        <dt>{wp().keys.ends}</dt>
        <dd>{data.expired_time < 0 ? w().never : <Moment seconds={data.expired_time} />}</dd>
      </dl>
      {data.unlimited_quota || !mayChange(data) ? null : (
        <form
          class="row"
          onSubmit={(event) => {
            event.preventDefault();
            void add.run(Math.round(Number(amount) * perDollar)).then((done) => {
              if (done === undefined) return;
              setAmount('');
              toast(w().saved);
            });
          }}
        >
          <TextField
            label={wp().keys.addBudget}
            type="number"
            step="any"
            value={amount}
            onInput={setAmount}
          />
          <Button type="submit" disabled={add.busy || !(Number(amount) > 0)}>
            {wp().keys.add}
          </Button>
        </form>
      )}
      <ErrorNotice error={add.error} />
      <Link class="button" to={`requests?token_name=${encodeURIComponent(data.name)}`}>
        {wp().requests.sameKey}
      </Link>
      <RequestCode body={EXAMPLE_BODY} />
    </div>
  );
}

/** The key itself exists only in this dialog, and is gone when it closes. */
function ShownOnce({ made, onClose }: { readonly made: Made; readonly onClose: () => void }) {
  const { warns, leaving, take, close } = useShownOnce(onClose);
  return (
    <Dialog
      title={wp().keys.madeTitle(made.name)}
      onClose={close}
      foot={
        <>
          <CopyButton text={made.key} label={wp().keys.copyKey} kind="main" onCopied={take} />
          <Button onClick={close}>{leaving ? wp().keys.closeAnyway : wp().keys.done}</Button>
        </>
      }
    >
      {warns ? <p class="notice warn-bar">{wp().keys.notCopied}</p> : null}
      <p class="muted">{w().shownOnce}</p>
      <div class="secret">{made.key}</div>
      <RequestCode body={EXAMPLE_BODY} apiKey={made.key} />
      <CodeBox text={`KEY=${made.key}`} />
    </Dialog>
  );
}
