import { accountMembersOf, hasLabel } from '../../core/labels.js';
import { MAX_QUOTA } from '../../core/quota.js';
import { present } from '../../core/records.js';
import type {
  NewUser,
  Page,
  User,
  UserChange,
  UserCondition,
  UserQuery,
  UserStore,
  UserUpdate,
} from '../store.js';
import { change, fieldsOf, type Step } from './change.js';
import type { Connection } from './connection.js';
import { removeOwned } from './owned.js';
import type { Keys } from './keys.js';
import { comparing } from '../page.js';
import { newStoredUser, USER_ORDERS, userOf, USERS } from '../users.js';
import { pageOf } from './listing.js';
import { ANY_CLAIM, newClaim, openRegistry, type Logins } from './logins.js';
import { listOf, runWithTokens, SCRIPTS, textOf, type Reply, type Script } from './scripts.js';
import { pairOf } from './token-records.js';
import { quotaArguments } from './token-records.js';

export function openUsers(connection: Connection, keys: Keys): UserStore {
  const { client, answer } = connection;

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
    const fields = fieldsOf(reply);
    return fields.username === undefined ? undefined : userOf(USERS.fromFields(fields));
  }

  const { claim, release, holder } = openRegistry(connection, keys, read);

  async function create(user: NewUser, nowMs: number): Promise<UserUpdate> {
    const { username, email, quota } = user;
    if (quota < 0 || quota > MAX_QUOTA) return { kind: 'conflict', reason: 'quota_range' };
    const id = await answer(client.incr(`${keys.users}:seq`));
    const mark = newClaim(id, nowMs);
    const stored = { ...newStoredUser(user, nowMs), id };
    // Written before the name is taken, so that whoever finds the name taken also finds the account.
    await Promise.all([
      answer(
        client.hset(
          keys.user(id),
          ...USERS.toFields(stored),
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
    return { kind: 'updated', user: userOf(stored) };
  }

  async function update(
    id: number,
    change: UserChange,
    nowMs: number,
    condition: UserCondition = {},
  ): Promise<UserUpdate> {
    const { holds } = condition;
    let judged: (string | number)[] = [];
    if (holds !== undefined) {
      const user = await read(id, nowMs);
      if (user === undefined) return { kind: 'not_found' };
      if (!holds(user)) return { kind: 'conflict', reason: 'changed' };
      const { username, email = null, displayName, role, enabled } = user;
      const members = accountMembersOf(user);
      judged = changedFields({ username, email, displayName, role, enabled, ...members });
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
        condition.role ?? '',
        condition.passwordHash ?? '',
        judged.length,
      ],
      ...judged,
      ...changedFields(change),
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
    const [usernameBefore, usernameClaim, emailBefore, emailClaim, fields] = listOf(reply);
    const before = {
      username: textOf(usernameBefore).toLowerCase(),
      email: textOf(emailBefore).toLowerCase(),
    };
    const claims = { username: textOf(usernameClaim), email: textOf(emailClaim) };
    const user = userOf(USERS.fromFields(fieldsOf(fields)));
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
      const held = await holder(kind, wanted);
      if (held === null) continue;
      const user = await read(pairOf(held)[0], nowMs);
      const borne = kind === 'names' ? user?.username : user?.email;
      if (borne?.toLowerCase() === wanted) return user;
    }
    return undefined;
  }

  async function list(query: UserQuery, nowMs: number): Promise<Page<User>> {
    const { role, enabled, label, offset, limit } = query;
    const keyword = query.keyword?.toLowerCase();
    const matches = (user: User): boolean =>
      (role === undefined || user.role === role) &&
      (enabled === undefined || user.enabled === enabled) &&
      (label === undefined || hasLabel(user.labels, label)) &&
      (keyword === undefined ||
        String(user.id) === keyword ||
        [user.username, user.email, user.displayName].some((text) =>
          text?.toLowerCase().includes(keyword),
        ));
    return pageOf(
      connection,
      {
        key: `${keys.users}:ids`,
        read: (ids) => Promise.all(ids.map((id) => read(Number(id), nowMs))),
      },
      { offset, limit },
      [role, enabled, label, keyword].every((wanted) => wanted === undefined) ? undefined : matches,
      query.order && comparing(USER_ORDERS, query.order),
    );
  }

  /** Deletes an account with its tokens and sessions, in one step; 'again' if it has got another token meanwhile. */
  async function removeRecords(id: number): Promise<Removed | 'again' | undefined> {
    const tokens = await answer(client.zrange(keys.userTokens(id), '0', '-1'));
    const tokenKeys = tokens.map((token) => keys.userToken(id, token));
    const looks: Step[] = [
      ['HMGET', keys.user(id), 'username', 'email'],
      ['ZRANGE', keys.userTokens(id), 0, -1],
      ['HKEYS', keys.userSessions(id)],
      ['SMEMBERS', keys.userIdentities(id)],
      ...tokenKeys.map((key) => ['HGET', key, 'hash'] as const),
    ];
    const parts = [keys.user(id), keys.userTokens(id), keys.userSessions(id)];
    return change<Removed | 'again' | undefined>(connection, looks, 0, (answers) => {
      const [found, present, sessions, identities, ...hashes] = answers;
      const [username, email] = listOf(found);
      if (typeof username !== 'string') return { result: undefined };
      if (listOf(present).join() !== tokens.join()) return { result: 'again' };
      const result = {
        logins: { username: username.toLowerCase(), email: textOf(email).toLowerCase() },
        tokens: tokens.map((tokenId, at) => ({ tokenId, keyHash: hashes[at] ?? null })),
        sessions: listOf(sessions).map(textOf),
        identities: listOf(identities).map(textOf),
      };
      const gone = [...parts, ...keys.userOthers(id), ...tokenKeys];
      return { result, writes: gone.map((key) => ['DEL', key] as const) };
    });
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
      let removed: Removed | 'again' | undefined;
      do removed = await removeRecords(id);
      while (removed === 'again');
      if (removed === undefined) return false;
      await removeOwned(connection, keys, id);
      // The first step has removed the account; the rest clears keys that now lead nowhere.
      for (const { tokenId, keyHash } of removed.tokens) {
        if (keyHash !== null) await answer(client.del(keys.keyHash(textOf(keyHash))));
        await answer(client.zrem(keys.tokens, `${tokenId}:${id}`));
      }
      for (const idHash of removed.sessions) await answer(client.del(keys.session(idHash)));
      for (const hash of removed.identities) await answer(client.del(keys.identity(hash)));
      await release(id, removed.logins, ANY_CLAIM, true);
      return true;
    },
  };
}

/** What leads to the records of an account that was deleted. */
interface Removed {
  readonly logins: Logins;
  readonly tokens: readonly { readonly tokenId: string; readonly keyHash: Reply }[];
  readonly sessions: readonly string[];
  readonly identities: readonly string[];
}

/** The fields of what is present; the balance is not among them. */
function changedFields({ quota: _, email, ...members }: UserChange): (string | number)[] {
  return USERS.toFields({
    ...present(members),
    ...(email === undefined ? {} : { email: email ?? undefined }),
  });
}
