import { randomBytes } from 'node:crypto';
import {
  BUDGET_DEFAULTS,
  budgetMembersOf,
  NOTHING_USED,
  type BudgetPeriod,
} from '../../core/budget.js';
import { MAX_QUOTA } from '../../core/quota.js';
import type {
  NewUser,
  Page,
  Role,
  User,
  UserChange,
  UserCondition,
  UserQuery,
  UserStore,
  UserUpdate,
} from '../store.js';
import { change } from './change.js';
import type { Connection } from './connection.js';
import { exampleRemoval } from './examples.js';
import type { Keys } from './keys.js';
import { comparing } from '../page.js';
import { USER_ORDERS } from '../users.js';
import { pageOf } from './listing.js';
import {
  listOf,
  numberOf,
  run,
  runWithTokens,
  SCRIPTS,
  textOf,
  type Reply,
  type Script,
} from './scripts.js';
import { budgetUseOf, pairOf } from './token-records.js';
import { budgetFields, quotaArguments } from './tokens.js';

/** A claim of a name that is this old and whose account does not bear the name is left over from a crash. */
const CLAIM_MS = 30_000;

type Taken = Extract<UserUpdate, { kind: 'taken' }>;

/** A name and an address, in lower case, or ''. */
interface Logins {
  readonly username: string;
  readonly email: string;
}

/** In place of the claims that logins were taken with: '' matches any claim that the account holds. */
const ANY_CLAIM: Logins = { username: '', email: '' };

const MARK_BYTES = 8;

export function openUsers(connection: Connection, keys: Keys): UserStore {
  const { client, answer } = connection;
  const registry = ['names', 'emails', 'ids'].map((part) => `${keys.users}:${part}`);

  /** Runs a script that first gives back expired reservations. */
  function runOnUser(
    script: Script,
    id: number,
    args: readonly (string | number)[],
  ): Promise<Reply> {
    const places = [keys.user(id), keys.userReservations(id)];
    return runWithTokens(connection, script, places, (token) => keys.userToken(id, token), args);
  }

  async function read(id: number, nowMs: number): Promise<User | undefined> {
    const reply = await runOnUser(SCRIPTS.findUser, id, [connection.told(nowMs)]);
    return reply === null ? undefined : userOf(listOf(reply));
  }

  /** Claims names for an account; takes over conflicting claims that are old and whose names no account bears. */
  async function claim(
    id: number,
    { username, email }: Logins,
    mark: string,
    nowMs: number,
  ): Promise<Taken | undefined> {
    const stale: string[] = [];
    for (;;) {
      const reply = listOf(
        await run(connection, SCRIPTS.takeLogin, registry, [
          ...[id, mark, username, email],
          ...stale,
        ]),
      );
      if (reply.length === 0) return undefined;
      const [kind, held] = reply.map(textOf) as [string, string];
      const [holderId, claimedAtMs] = pairOf(held);
      const holder = await read(holderId, nowMs);
      const borne = kind === 'names' ? holder?.username : holder?.email;
      const inUse = borne?.toLowerCase() === (kind === 'names' ? username : email);
      if (inUse || nowMs - claimedAtMs < CLAIM_MS) {
        return { kind: 'taken', field: kind === 'names' ? 'username' : 'email' };
      }
      stale.push(kind, held);
    }
  }

  async function release(
    id: number,
    { username, email }: Logins,
    claims: Logins,
    gone: boolean,
  ): Promise<void> {
    await run(connection, SCRIPTS.giveUpLogin, registry, [
      ...[id, username, claims.username, email, claims.email, gone ? 1 : 0],
    ]);
  }

  async function create(user: NewUser, nowMs: number): Promise<UserUpdate> {
    const { username, email, displayName, role, enabled, quota } = user;
    const budgets = { ...BUDGET_DEFAULTS, ...budgetMembersOf(user) };
    if (quota < 0 || quota > MAX_QUOTA) return { kind: 'conflict', reason: 'quota_range' };
    const id = await answer(client.incr(`${keys.users}:seq`));
    const mark = newClaim(id, nowMs);
    const createdTime = Math.floor(nowMs / 1000);
    // Written before the name is taken, so that whoever finds the name taken also finds the account.
    await Promise.all([
      answer(
        client.hset(
          keys.user(id),
          ...['id', id, 'username', username, 'email', email ?? '', 'display', displayName],
          ...['password', user.passwordHash, 'role', role, 'enabled', Number(enabled)],
          ...['quota', quota, 'used', 0, 'requests', 0, 'created', createdTime],
          ...budgetFields(budgets),
          ...['username_claim', mark, 'email_claim', mark],
        ),
      ),
      answer(client.zadd(keys.userReservations(id), '+inf', '-')),
    ]);
    const logins = { username: username.toLowerCase(), email: email?.toLowerCase() ?? '' };
    const taken = await claim(id, logins, mark, nowMs);
    if (taken !== undefined) {
      await answer(client.del(keys.user(id), keys.userReservations(id)));
      return taken;
    }
    return {
      kind: 'updated',
      user: {
        ...{ id, username, email, displayName, role, enabled, quota },
        ...{
          usedQuota: 0,
          requestCount: 0,
          createdTime,
          lastLoginTime: 0,
          budgetUse: NOTHING_USED,
          ...budgets,
        },
      },
    };
  }

  async function update(
    id: number,
    change: UserChange,
    nowMs: number,
    { role, passwordHash, holds }: UserCondition = {},
  ): Promise<UserUpdate> {
    let judged: (string | number)[] = [];
    if (holds !== undefined) {
      const user = await read(id, nowMs);
      if (user === undefined) return { kind: 'not_found' };
      if (!holds(user)) return { kind: 'conflict', reason: 'changed' };
      const { lastLoginTime: _, ...others } = user;
      judged = fieldsOf({ ...others, email: user.email ?? null });
    }
    const wanted = {
      username: change.username?.toLowerCase() ?? '',
      email: change.email?.toLowerCase() ?? '',
    };
    const mark = newClaim(id, nowMs);
    if (wanted.username !== '' || wanted.email !== '') {
      if ((await read(id, nowMs)) === undefined) return { kind: 'not_found' };
      const taken = await claim(id, wanted, mark, nowMs);
      if (taken !== undefined) return taken;
    }
    const reply = await runOnUser(SCRIPTS.changeUser, id, [
      ...[
        connection.told(nowMs),
        MAX_QUOTA,
        ...quotaArguments(change.quota),
        role ?? '',
        passwordHash ?? '',
        judged.length,
      ],
      ...judged,
      ...fieldsOf(change),
      ...(wanted.username === '' ? [] : ['username_claim', mark]),
      ...(wanted.email === '' ? [] : ['email_claim', mark]),
    ]);
    if (reply === null) {
      await release(id, wanted, ANY_CLAIM, true);
      return { kind: 'not_found' };
    }
    if (reply === 'quota_range' || reply === 'changed') {
      await releaseUnused(id, wanted, mark, nowMs);
      return { kind: 'conflict', reason: reply };
    }
    const [usernameBefore, usernameClaim, emailBefore, emailClaim, ...fields] = listOf(reply);
    const before = {
      username: textOf(usernameBefore).toLowerCase(),
      email: textOf(emailBefore).toLowerCase(),
    };
    const claims = { username: textOf(usernameClaim), email: textOf(emailClaim) };
    const user = userOf(fields);
    await release(
      id,
      {
        username: before.username === user.username.toLowerCase() ? '' : before.username,
        email: before.email === user.email?.toLowerCase() ? '' : before.email,
      },
      // At the same time, another change may be claiming back the very name that is given up here.
      claims,
      false,
    );
    return { kind: 'updated', user };
  }

  /** Gives up the names claimed for a refused change, but not those that the account bears. */
  async function releaseUnused(
    id: number,
    claimed: Logins,
    mark: string,
    nowMs: number,
  ): Promise<void> {
    const user = await read(id, nowMs);
    const unused = {
      username: claimed.username === user?.username.toLowerCase() ? '' : claimed.username,
      email: claimed.email === user?.email?.toLowerCase() ? '' : claimed.email,
    };
    await release(id, unused, { username: mark, email: mark }, user === undefined);
  }

  async function find(login: string, nowMs: number): Promise<User | undefined> {
    const wanted = login.toLowerCase();
    for (const kind of ['names', 'emails'] as const) {
      const held = await answer(client.hget(`${keys.users}:${kind}`, wanted));
      if (held === null) continue;
      const user = await read(pairOf(held)[0], nowMs);
      const borne = kind === 'names' ? user?.username : user?.email;
      if (borne?.toLowerCase() === wanted) return user;
    }
    return undefined;
  }

  async function list(query: UserQuery, nowMs: number): Promise<Page<User>> {
    const { role, enabled, offset, limit } = query;
    const keyword = query.keyword?.toLowerCase();
    const matches = (user: User): boolean =>
      (role === undefined || user.role === role) &&
      (enabled === undefined || user.enabled === enabled) &&
      (keyword === undefined ||
        String(user.id) === keyword ||
        [user.username, user.email, user.displayName].some((text) =>
          text?.toLowerCase().includes(keyword),
        ));
    return pageOf(
      connection,
      {
        key: `${keys.users}:ids`,
        read: async (ids) =>
          (await Promise.all(ids.map((id) => read(Number(id), nowMs)))).filter(
            (user) => user !== undefined,
          ),
      },
      { offset, limit },
      [role, enabled, keyword].every((wanted) => wanted === undefined) ? undefined : matches,
      query.order && comparing(USER_ORDERS, query.order),
    );
  }

  return {
    createUser: create,
    getUser: read,
    findUser: find,
    listUsers: list,
    updateUser: update,
    async getPasswordHash(userId) {
      return (await answer(client.hget(keys.user(userId), 'password'))) ?? undefined;
    },
    async deleteUser(id) {
      const tokens = await answer(client.zrange(keys.userTokens(id), '0', '-1'));
      const parts = [
        ...[keys.user(id), keys.userTokens(id), keys.userSessions(id)],
        ...keys.userOthers(id),
      ];
      const tokenKey = (token: string): string => keys.userToken(id, token);
      const reply = await runWithTokens(
        connection,
        SCRIPTS.removeUser,
        [...parts, ...tokens.map(tokenKey)],
        tokenKey,
        [parts.length + 1],
      );
      if (reply === null) return false;
      const [username, email, deleted, sessions] = listOf(reply);
      const examples = await answer(client.smembers(`${keys.examples}:of:${id}`));
      await change(connection, [], 0, () => ({
        result: undefined,
        writes: examples.flatMap((example) => exampleRemoval(keys, id, example)),
      }));
      // The step above has removed the account; the rest clears keys that now lead nowhere.
      const places = listOf(deleted).map(textOf);
      for (let index = 0; index < places.length; index += 2) {
        await answer(client.del(keys.keyHash(places[index + 1] ?? '')));
        await answer(client.zrem(keys.tokens, `${places[index] ?? ''}:${id}`));
      }
      for (const idHash of listOf(sessions)) await answer(client.del(keys.session(textOf(idHash))));
      await release(
        id,
        { username: textOf(username).toLowerCase(), email: textOf(email).toLowerCase() },
        ANY_CLAIM,
        true,
      );
      return true;
    },
  };
}

function newClaim(id: number, nowMs: number): string {
  return `${id}:${nowMs}:${randomBytes(MARK_BYTES).toString('hex')}`;
}

/** The fields of what is present; an account has all of them but the password, and `email` if it has none. */
function fieldsOf(change: Omit<UserChange, 'quota'>): (string | number)[] {
  const { username, email, displayName, passwordHash, role, enabled, lastLoginTime } = change;
  return [
    ...(username === undefined ? [] : ['username', username]),
    ...(email === undefined ? [] : ['email', email ?? '']),
    ...(displayName === undefined ? [] : ['display', displayName]),
    ...(passwordHash === undefined ? [] : ['password', passwordHash]),
    ...(role === undefined ? [] : ['role', role]),
    ...(enabled === undefined ? [] : ['enabled', Number(enabled)]),
    ...(lastLoginTime === undefined ? [] : ['login', lastLoginTime]),
    ...budgetFields(change),
  ];
}

function userOf(fields: readonly Reply[]): User {
  const [id, username, email, display, role, enabled, quota, used, requests, created, ...rest] =
    fields;
  const [budget, period, zone, spent, untilMs, login] = rest;
  return {
    id: numberOf(id),
    username: textOf(username),
    email: email === '' ? undefined : textOf(email),
    displayName: textOf(display),
    // Written from a Role.
    role: numberOf(role) as Role,
    enabled: enabled === '1',
    quota: numberOf(quota),
    usedQuota: numberOf(used),
    requestCount: numberOf(requests),
    createdTime: numberOf(created),
    lastLoginTime: numberOf(login ?? '0'),
    // Records of older releases have none.
    budget: numberOf(budget ?? BUDGET_DEFAULTS.budget),
    // Written from a BudgetPeriod.
    budgetPeriod: textOf(period ?? BUDGET_DEFAULTS.budgetPeriod) as BudgetPeriod,
    budgetTimeZone: textOf(zone ?? BUDGET_DEFAULTS.budgetTimeZone),
    budgetUse: budgetUseOf(spent, untilMs),
  };
}
