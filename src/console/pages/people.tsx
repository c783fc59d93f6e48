import { useState } from 'preact/hooks';
import { about, isAdmin } from '../about.js';
import { call, type ReplyOf } from '../api/call.js';
import type { Operations } from '../api/operations.js';
import { useRead, useWrite } from '../api/query.js';
import { Button, Chip, Link } from '../parts/buttons.js';
import { FilterText } from '../parts/fields.js';
import { Empty } from '../parts/notices.js';
import { Ago, Count, Money, Moment, State } from '../parts/values.js';
import { BudgetFacts } from '../parts/budget.js';
import { ConfirmWrite, WriteFailed } from '../parts/confirm-write.js';
import { Dialog, Menu } from '../parts/dialog.js';
import { FilterSelect, Form, FormFields, SelectField } from '../parts/form.js';
import { ListHead } from '../parts/list-head.js';
import { List, createdColumn, useListQuery, useOpenRow } from '../parts/table.js';
import { isId, Record, RecordLink } from '../parts/record.js';
import { LoginList } from '../parts/logins.js';
import { toast } from '../parts/toast.js';
import { setQuery, useRoute } from '../router.js';
import { w, wp } from '../words.js';
import { EditUser, NewUser, type User } from './people-form.js';

const ROLES = [1, 5, 10, 100] as const;
const ROOT = 100;

/** Accounts: who they are, what they may do, and their balance. */
export function People() {
  const { path } = useRoute();
  return path[1] === undefined ? <PeopleList /> : <OneUser id={path[1]} />;
}

function PeopleList() {
  const { query: address } = useRoute();
  const { query, page, filtered, set, clear } = useListQuery(['keyword', 'role', 'status', 'sort']);
  const status = ([1, 2] as const).find((one) => String(one) === query.status);
  const role = ROLES.find((one) => String(one) === query.role);
  const reading = useRead('searchUsers', {
    query: {
      ...{ p: page, page_size: 30, keyword: query.keyword, role, status },
      // The heads of the columns name what the API sorts by.
      sort: query.sort as Operations['searchUsers']['query']['sort'],
    },
  });
  const words = wp().people;
  const { openId, onOpen, close } = useOpenRow();
  return (
    <>
      <ListHead
        title={w().nav.people}
        total={reading.data?.total}
        {...(isAdmin()
          ? { make: { label: words.new, onClick: () => setQuery({ new: '1' }) } }
          : {})}
      >
        <FilterText
          label={words.find}
          value={query.keyword}
          onChange={(keyword) => set({ keyword })}
        />
        <FilterSelect
          label={words.anyRole}
          value={query.role}
          choices={ROLES.map((one) => ({ value: String(one), label: words.roles[one] }))}
          onChange={(picked) => set({ role: picked })}
        />
        <FilterSelect
          label={wp().keys.anyState}
          value={query.status}
          choices={[
            { value: '1', label: words.enabled },
            { value: '2', label: words.disabled },
          ]}
          onChange={(picked) => set({ status: picked })}
        />
      </ListHead>
      <List
        reading={reading}
        filtered={filtered}
        clear={clear}
        empty={<Empty title={words.none} />}
        label={w().nav.people}
        idOf={({ id }) => id}
        openId={openId}
        onOpen={onOpen}
        columns={[
          {
            title: w().name,
            sort: 'username',
            cell: (user) => {
              const { id, username, display_name: shown } = user;
              return (
                <>
                  <RecordLink kind="account" id={id} onOpen={() => onOpen(user)}>
                    {username}
                  </RecordLink>{' '}
                  {shown === '' || shown === username ? null : <span class="muted">{shown}</span>}
                </>
              );
            },
          },
          { title: words.email, minor: true, cell: ({ email }) => email },
          { title: words.role, sort: '-role', cell: ({ role: one }) => words.roles[one] },
          { title: w().status, cell: (user) => <UserState user={user} /> },
          {
            title: w().home.balance,
            sort: '-quota',
            numeric: true,
            cell: ({ quota }) => <Money units={quota} />,
          },
          {
            title: w().home.spent,
            sort: '-used_quota',
            numeric: true,
            minor: true,
            cell: ({ used_quota }) => <Money units={used_quota} />,
          },
          {
            title: w().home.requests,
            sort: '-request_count',
            numeric: true,
            minor: true,
            cell: ({ request_count }) => <Count value={request_count} />,
          },
          {
            title: words.lastLogin,
            minor: true,
            sort: '-last_login_time',
            cell: ({ last_login_time: at }) => (at === 0 ? w().never : <Ago seconds={at} />),
          },
          createdColumn(),
        ]}
        actions={(user) => (isAdmin() ? <UserActions user={user} /> : null)}
      />
      {address.get('new') === null ? null : <NewUser />}
      {openId === undefined ? null : <OneUser key="open" id={openId} onClose={close} />}
    </>
  );
}

function UserState({ user: { status } }: { readonly user: User }) {
  return (
    <State sign={status === 1 ? 'ok' : 'off'}>
      {status === 1 ? wp().people.enabled : wp().people.disabled}
    </State>
  );
}

/** Whether the user's role is below one’s own; nobody may act on an equal or higher role. */
function isBelow({ role }: User): boolean {
  return isAdmin() && role < (about.get()?.self?.role ?? 0);
}

type Action = Operations['manageUser']['body']['action'];
type Asking = 'edit' | 'mail' | 'disable' | 'promote' | 'demote' | 'delete' | 'password';

function UserActions({ user }: { readonly user: User }) {
  const [asking, setAsking] = useState<Asking>();
  const { id, username, email, role, status } = user;
  const words = wp().people;
  const enable = useWrite(() => call('manageUser', { body: { id, action: 'enable' } }));
  const isRoot = about.get()?.self?.role === ROOT;
  if (!isBelow(user)) {
    return (
      <Button
        kind="icon"
        disabled
        title={words.outOfReach}
        label={`${words.outOfReach} ${username}`}
      >
        ⋯
      </Button>
    );
  }
  return (
    <>
      <Menu
        label={`${w().actions}: ${username}`}
        items={[
          { label: w().open, onClick: () => setQuery({ open: id }) },
          { label: `${w().edit}…`, onClick: () => setAsking('edit') },
          email === '' || status !== 1
            ? undefined
            : { label: `${words.mailReset}…`, onClick: () => setAsking('mail') },
          { label: words.setPassword, onClick: () => setAsking('password') },
          !isRoot
            ? undefined
            : role < 10
              ? { label: words.promote, onClick: () => setAsking('promote') }
              : { label: words.demote, onClick: () => setAsking('demote') },
          status === 1
            ? { label: `${w().disable}…`, onClick: () => setAsking('disable') }
            : { label: w().enable, onClick: () => void enable.run(undefined) },
          { label: `${w().delete}…`, danger: true, onClick: () => setAsking('delete') },
        ]}
      >
        ⋯
      </Menu>
      <WriteFailed title={username} of={enable} />
      <Asked user={user} asking={asking} onClose={() => setAsking(undefined)} />
    </>
  );
}

function Asked({
  user,
  asking,
  onClose,
}: {
  readonly user: User;
  readonly asking: Asking | undefined;
  readonly onClose: () => void;
}) {
  switch (asking) {
    case undefined:
      return null;
    case 'edit':
      return <EditUser user={user} onClose={onClose} />;
    case 'mail':
      return <MailReset user={user} onClose={onClose} />;
    case 'password':
      return <SetPassword user={user} onClose={onClose} />;
    case 'disable':
    case 'promote':
    case 'demote':
    case 'delete':
      return <Manage user={user} action={asking} onClose={onClose} />;
  }
}

/** Has a one-time code mailed, with which somebody sets a password of their own. */
function MailReset({
  user: { id, username, email },
  onClose,
}: {
  readonly user: User;
  readonly onClose: () => void;
}) {
  const words = wp().people;
  return (
    <ConfirmWrite
      title={words.mailTitle(username)}
      action={words.mailReset}
      write={(why) => call('mailPasswordReset', { params: { id }, body: why })}
      onDone={() => toast(words.mailed(email))}
      onClose={onClose}
    >
      <p>{about.get()?.mail === 'outbox' ? words.outbox : words.mailHelp(email)}</p>
    </ConfirmWrite>
  );
}

function Manage({
  user: { id, username },
  action,
  onClose,
}: {
  readonly user: User;
  readonly action: Exclude<Asking, 'edit' | 'mail' | 'password'> & Action;
  readonly onClose: () => void;
}) {
  const words = wp().people;
  const keys = useRead(
    'listTokens',
    { query: { user_id: id, page_size: 1 } },
    { enabled: action === 'delete' },
  );
  const isDelete = action === 'delete';
  return (
    <ConfirmWrite
      title={words.titles[action](username)}
      action={words.actions[action]}
      typed={isDelete ? username : undefined}
      needs={isDelete ? keys : undefined}
      write={(why) => call('manageUser', { body: { id, action, ...why } })}
      onDone={() => {
        if (isDelete) setQuery({ open: '' }, { replace: true });
        toast(isDelete ? w().deleted : w().saved);
      }}
      onClose={onClose}
    >
      <p>{words.consequences[action]}</p>
      {isDelete && keys.data !== undefined ? <p>{words.keysGo(keys.data.total)}</p> : null}
    </ConfirmWrite>
  );
}

function SetPassword({
  user: { id, username },
  onClose,
}: {
  readonly user: User;
  readonly onClose: () => void;
}) {
  const [values, setValues] = useState({ password: '', reason: '' });
  const words = wp().people;
  const save = useWrite(async () => {
    await call('updateUser', { body: { id, ...values } });
    return true;
  });
  return (
    <Dialog
      title={words.passwordTitle(username)}
      onClose={onClose}
      onSubmit={() =>
        void save.run(undefined).then((done) => {
          if (done !== true) return;
          toast(w().saved);
          onClose();
        })
      }
      foot={
        <>
          <Button onClick={onClose}>{w().cancel}</Button>
          <Button kind="main" type="submit" disabled={save.busy || values.password === ''}>
            {words.setPassword}
          </Button>
        </>
      }
    >
      <p class="muted">{words.passwordHelp}</p>
      <FormFields
        values={values}
        onChange={setValues}
        error={save.error}
        fields={[
          {
            name: 'password',
            label: wp().account.newPassword,
            help: w().login.passwordHelp,
            type: 'password',
            autocomplete: 'new-password',
            required: true,
          },
          { name: 'reason', label: w().reason, help: w().reasonHelp },
        ]}
      />
    </Dialog>
  );
}

/** One account: beside the list if that can be closed, else as a page. */
function OneUser({
  id,
  onClose,
}: {
  readonly id: string | number;
  readonly onClose?: (() => void) | undefined;
}) {
  const reading = useRead(
    'getUser',
    { params: { id: Number(id) } },
    { keep: false, enabled: isId(id) },
  );
  const title = reading.data?.username;
  return (
    <Record kind="account" id={id} reading={reading} title={title} onClose={onClose}>
      {(user) => <UserDetails key={user.id} data={user} />}
    </Record>
  );
}

function UserDetails({ data }: { readonly data: ReplyOf<'getUser'> }) {
  const { id } = data;
  const words = wp().people;
  return (
    <div class="stack wide">
      <div class="row">
        <UserState user={data} />
        <Chip>{words.roles[data.role]}</Chip>
        <span class="grow" />
        <UserActions user={data} />
      </div>
      <dl class="facts">
        <dt>{wp().account.displayName}</dt>
        <dd>{data.display_name}</dd>
        <dt>{words.email}</dt>
        <dd>{data.email === '' ? w().none : data.email}</dd>
        <dt>{w().home.balance}</dt>
        <dd>
          <Money units={data.quota} />
        </dd>
        <dt>{w().home.spent}</dt>
        <dd>
          <Money units={data.used_quota} />
        </dd>
        <BudgetFacts of={data} />
        <dt>{w().home.requests}</dt>
        <dd>
          <Count value={data.request_count} />
        </dd>
        <dt>{w().created}</dt>
        <dd>
          <Moment seconds={data.created_time} />
        </dd>
      </dl>
      {isBelow(data) || (isAdmin() && data.role === ROOT) ? <Balance user={data} /> : null}
      {isBelow(data) ? <LoginsOf id={id} /> : null}
      <div class="row">
        <Link class="button" to={`keys?user_id=${id}`}>
          {words.keys}
        </Link>
        <Link class="button" to={`requests?user_id=${id}`}>
          {words.requests}
        </Link>
        <Link class="button" to={`audit?target=user:${id}`}>
          {words.changes}
        </Link>
      </div>
    </div>
  );
}

function LoginsOf({ id }: { readonly id: number }) {
  const reading = useRead('listUserSessions', { params: { id } });
  return (
    <section class="stack" aria-label={wp().account.logins}>
      <h4>{wp().account.logins}</h4>
      <LoginList
        reading={reading}
        end={(session) => call('endUserSession', { params: { id, session } })}
      />
    </section>
  );
}

/** Adds to the balance, takes from it, or sets it, in dollars. */
function Balance({ user: { id } }: { readonly user: User }) {
  const [mode, setMode] = useState<'add' | 'subtract' | 'override'>('add');
  const [values, setValues] = useState({ value: '', reason: '' });
  const words = wp().people;
  const perDollar = about.get()?.units_per_usd ?? 1;
  const save = useWrite((body: Operations['manageUser']['body'], key) =>
    call('manageUser', { body, key }),
  );
  const amount = Number(values.value);
  const isAmount = values.value !== '' && (mode === 'override' ? amount >= 0 : amount > 0);
  return (
    <Form
      class="stack"
      onSubmit={() => {
        if (!isAmount) return;
        const { reason } = values;
        const value = Math.round(amount * perDollar);
        void save
          .run({
            ...({ id, action: 'add_quota' } as const),
            ...{ mode, value, ...(reason === '' ? {} : { reason }) },
          })
          .then((done) => {
            if (done === undefined) return;
            setValues({ value: '', reason: '' });
            toast(w().saved);
          });
      }}
    >
      <SelectField
        label={words.balance}
        value={mode}
        choices={(['add', 'subtract', 'override'] as const).map((value) => ({
          value,
          label: words.modes[value],
        }))}
        onChange={setMode}
      />
      <FormFields
        values={values}
        onChange={setValues}
        error={save.error}
        fields={[
          { ...{ name: 'value', label: words.amount }, type: 'number', min: 0, step: 'any' },
          { name: 'reason', label: w().reason, help: w().reasonHelp },
        ]}
      />
      <div class="row end">
        <Button type="submit" disabled={save.busy || !isAmount}>
          {words.modes[mode]}
        </Button>
      </div>
    </Form>
  );
}
