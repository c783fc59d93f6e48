import { useAfter } from '../../core/budget.js';
import { labelPart } from '../../core/labels.js';
import { MAX_QUOTA } from '../../core/quota.js';
import { present } from '../../core/records.js';
import type {
  NewUser,
  User,
  UserChange,
  UserCondition,
  UserOrder,
  UserStore,
  UserUpdate,
} from '../store.js';
import { newStoredUser, userOf, USERS, type StoredUser } from '../users.js';
import { changedBalance } from './balance.js';
import type { Database } from './database.js';
import { Filter, orderSql, selectPage } from './page.js';
import { OWNED_TABLES } from '../owned.js';
import type { Reservations } from './reservations.js';
import { finder, insertInto, updateOf } from './rows.js';

const ORDERS: Readonly<Record<UserOrder['by'], string>> = {
  username: 't.username_key',
  role: 't.role',
  quota: 't.quota',
  usedQuota: 't.used_quota',
  requestCount: 't.request_count',
  createdTime: 't.created_time',
  lastLoginTime: 't.last_login_time',
};

export function openUsers(database: Database, reservations: Reservations): UserStore {
  const byId = finder(database, USERS, 'id');
  const byName = finder(database, USERS, 'username_key');
  const byEmail = finder(database, USERS, 'email_key');
  const remove = database.prepare<never>('DELETE FROM users WHERE id = ?');
  const removeWhatBelongs = [
    ...['tokens', 'reservations', 'sessions', 'one_time_codes', 'known_places', 'address_codes'],
    ...['identities', ...OWNED_TABLES],
  ].map((table) => database.prepare<never>(`DELETE FROM ${table} WHERE user_id = ?`));

  /** Reads a user again after giving back their expired reservations. */
  function read(user: StoredUser | undefined, nowMs: number): StoredUser | undefined {
    if (user === undefined) return undefined;
    reservations.giveBackExpired(nowMs, user.id);
    return byId(user.id);
  }

  function taken(
    { username, email }: { readonly username?: string; readonly email?: string | null | undefined },
    id: number | undefined,
  ): UserUpdate | undefined {
    const holder = username === undefined ? undefined : byName(username.toLowerCase());
    if (holder !== undefined && holder.id !== id) return { kind: 'taken', field: 'username' };
    const other = email == null ? undefined : byEmail(email.toLowerCase());
    if (other !== undefined && other.id !== id) return { kind: 'taken', field: 'email' };
    return undefined;
  }

  function create(user: NewUser, nowMs: number): UserUpdate {
    const conflict = taken(user, undefined);
    if (conflict !== undefined) return conflict;
    if (user.quota < 0 || user.quota > MAX_QUOTA)
      return { kind: 'conflict', reason: 'quota_range' };
    const stored = newStoredUser(user, nowMs);
    const id = insertInto(database, 'users', USERS.toRow(stored));
    return { kind: 'updated', user: userOf({ ...stored, id }) };
  }

  function change(
    id: number,
    wanted: UserChange,
    nowMs: number,
    { role, passwordHash, holds }: UserCondition,
  ): UserUpdate {
    const before = read(byId(id), nowMs);
    if (before === undefined) return { kind: 'not_found' };
    const conflict = taken(wanted, id);
    if (conflict !== undefined) return conflict;
    const user = userOf(before);
    if (
      (role ?? before.role) !== before.role ||
      (passwordHash ?? before.passwordHash) !== before.passwordHash ||
      holds?.(user) === false
    ) {
      return { kind: 'conflict', reason: 'changed' };
    }
    const balance = changedBalance(before.quota, wanted.quota);
    if (balance === undefined) return { kind: 'conflict', reason: 'quota_range' };
    const { quota: _, email, ...members } = wanted;
    const changed = { ...before, ...present(members), quota: balance };
    const use = useAfter(user, user.budgetUse, changed);
    const next: StoredUser = {
      ...changed,
      email: email === undefined ? before.email : (email ?? undefined),
      ...{ budgetSpent: use.spent, budgetUntilMs: use.untilMs },
    };
    updateOf(database, 'users', USERS.toRow(next), id);
    return { kind: 'updated', user: userOf(next) };
  }

  const shown = (user: StoredUser | undefined): User | undefined => user && userOf(user);

  return {
    createUser: (user, nowMs) => database.write(() => create(user, nowMs)),

    getUser: (id, nowMs) => database.write(() => shown(read(byId(id), nowMs))),

    findUser: (login, nowMs) =>
      database.write(() => {
        const key = login.toLowerCase();
        return shown(read(byName(key) ?? byEmail(key), nowMs));
      }),

    getPasswordHash: (userId) => database.read(() => byId(userId)?.passwordHash),

    listUsers: ({ keyword, role, enabled, label, order, offset, limit }, nowMs) =>
      database.write(() => {
        reservations.giveBackExpired(nowMs);
        const filter = new Filter()
          .where(
            `instr(t.username_key, ?) > 0 OR instr(t.email_key, ?) > 0 OR instr(t.display_key, ?) > 0
             OR CAST(t.id AS TEXT) = ?`,
            keyword?.toLowerCase(),
          )
          .where('t.role = ?', role)
          .where('t.enabled = ?', enabled === undefined ? undefined : Number(enabled))
          .where(
            "instr(',' || t.labels || ',', ?) > 0",
            label === undefined ? undefined : labelPart(label),
          );
        const listed = { table: 'users', read: (row: object) => userOf(USERS.fromRow(row)) };
        const slice = { offset, limit };
        return selectPage(database, listed, filter, slice, orderSql(ORDERS, order));
      }),

    updateUser: (id, wanted, nowMs, condition = {}) =>
      database.write(() => change(id, wanted, nowMs, condition)),

    deleteUser: (id) =>
      database.write(() => {
        for (const statement of removeWhatBelongs) statement.run(id);
        return remove.run(id) > 0;
      }),
  };
}
