import { isAdmin } from '../../about.js';
import { call, type ReplyOf } from '../../api/call.js';
import type { Operations } from '../../api/operations.js';
import { useRead } from '../../api/query.js';
import { budgetFacts } from '../../parts/budget.js';
import { Chip, Link } from '../../parts/buttons.js';
import { Filter } from '../../parts/filter.js';
import type { ListQuery } from '../../parts/list.js';
import { LoginList } from '../../parts/logins.js';
import { isId } from '../../parts/record.js';
import { Count, Money, State } from '../../parts/values.js';
import { createdOf, factOf, momentOf } from '../../parts/shown.js';
import { resource } from '../../resource.js';
import { setQuery } from '../../router.js';
import { w, wp } from '../../words.js';
import { UserActions, isBelow } from './actions.js';
import { Balance } from './balance.js';
import { NewUser, type User } from './form.js';

type One = ReplyOf<'getUser'>;

const ROLES = [1, 5, 10, 100] as const;
const ROOT = 100;
const FILTERS = ['keyword', 'role', 'status', 'sort'] as const;

/** Accounts: who they are, what they may do, and their balance. */
export const People = resource({
  kind: 'account',
  filters: FILTERS,
  useList: ({ query: { keyword, role, status, sort }, page }) =>
    useRead('searchUsers', {
      query: {
        ...{ p: page, page_size: 30, keyword },
        role: ROLES.find((one) => String(one) === role),
        status: ([1, 2] as const).find((one) => String(one) === status),
        // The heads of the columns name what the API sorts by.
        sort: sort as Operations['searchUsers']['query']['sort'],
      },
    }),
  useOne: (id) =>
    useRead('getUser', { params: { id: Number(id) } }, { keep: false, enabled: isId(id) }),
  idOf: ({ id }: User) => id,
  titleOf: ({ username }: One) => username,
  shows: (_, nameOf) => {
    const words = wp().people;
    return [
      {
        title: w().name,
        sort: 'username',
        fact: false,
        cell: ({ id, username, display_name: shown }) => (
          <>
            {nameOf(id, username)}{' '}
            {shown === '' || shown === username ? null : <span class="muted">{shown}</span>}
          </>
        ),
      },
      factOf(wp().account.displayName, ({ display_name }) => display_name),
      {
        title: w().login.email,
        minor: true,
        cell: ({ email }) => email,
        fact: ({ email }) => (email === '' ? w().none : email),
      },
      { title: words.role, sort: '-role', cell: ({ role }) => words.roles[role], fact: false },
      { title: w().status, cell: (user) => <UserState user={user} />, fact: false },
      {
        title: w().home.balance,
        sort: '-quota',
        numeric: true,
        cell: ({ quota }) => <Money units={quota} />,
      },
      {
        ...{ title: w().home.spent, sort: '-used_quota', numeric: true, minor: true },
        cell: ({ used_quota }) => <Money units={used_quota} />,
      },
      ...budgetFacts<One>(),
      {
        ...{ title: w().home.requests, sort: '-request_count', numeric: true, minor: true },
        cell: ({ request_count }) => <Count value={request_count} />,
      },
      {
        ...momentOf<User>(words.lastLogin, ({ last_login_time: at }) => at),
        ...{ minor: true, sort: '-last_login_time', fact: false },
      },
      createdOf(),
    ];
  },
  Filters,
  make: () =>
    isAdmin() ? { label: wp().people.new, onClick: () => setQuery({ new: '1' }) } : undefined,
  Make: NewUser,
  empty: () => ({ title: wp().people.none }),
  Actions: ({ of }) => (isAdmin() ? <UserActions user={of} /> : null),
  Head: ({ of }) => (
    <>
      <UserState user={of} />
      <Chip>{wp().people.roles[of.role]}</Chip>
    </>
  ),
  Details,
});

function Filters(list: ListQuery<(typeof FILTERS)[number]>) {
  const words = wp().people;
  return (
    <>
      <Filter of={list} name="keyword" label={words.find} />
      <Filter
        of={list}
        name="role"
        label={words.anyRole}
        choices={ROLES.map((one) => ({ value: String(one), label: words.roles[one] }))}
      />
      <Filter
        of={list}
        name="status"
        label={wp().keys.anyState}
        choices={[
          { value: '1', label: wp().keys.states.enabled },
          { value: '2', label: wp().keys.states.disabled },
        ]}
      />
    </>
  );
}

function UserState({ user: { status } }: { readonly user: User }) {
  return (
    <State sign={status === 1 ? 'ok' : 'off'}>
      {status === 1 ? wp().keys.states.enabled : wp().keys.states.disabled}
    </State>
  );
}

function Details({ of: user }: { readonly of: One }) {
  const { id, role } = user;
  return (
    <>
      {isBelow(user) || (isAdmin() && role === ROOT) ? <Balance user={user} /> : null}
      {isBelow(user) ? <LoginsOf id={id} /> : null}
      <div class="row">
        <Link class="button" to={`keys?user_id=${id}`}>
          {w().nav.keys}
        </Link>
        <Link class="button" to={`requests?user_id=${id}`}>
          {w().nav.requests}
        </Link>
        <Link class="button" to={`audit?target=user:${id}`}>
          {wp().records.changes}
        </Link>
      </div>
    </>
  );
}

function LoginsOf({ id }: { readonly id: number }) {
  const reading = useRead('listUserSessions', { params: { id } });
  return (
    <section class="stack" aria-label={wp().account.logins}>
      <h3>{wp().account.logins}</h3>
      <LoginList
        reading={reading}
        end={(session) => call('endUserSession', { params: { id, session } })}
      />
    </section>
  );
}
