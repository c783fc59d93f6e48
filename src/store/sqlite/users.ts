import { BUDGET_DEFAULTS, useAfter, type BudgetPeriod } from '../../core/budget.js';
import { accountMembersOf, labelPart } from '../../core/labels.js';
import { MAX_QUOTA } from '../../core/quota.js';
import type {
  NewUser,
  Role,
  User,
  UserChange,
  UserCondition,
  UserOrder,
  UserStore,
  UserUpdate,
} from '../store.js';
import { changedBalance } from './balance.js';
import type { Database } from './database.js';
import { Filter, orderSql, selectPage } from './page.js';
import type { Reservations } from './reservations.js';

interface UserRow {
  readonly id: number;
  readonly username: string;
  readonly email: string | null;
  readonly display_name: string;
  readonly password_hash: string;
  readonly role: Role;
  readonly enabled: number;
  readonly quota: number;
  readonly used_quota: number;
  readonly request_count: number;
  readonly created_time: number;
  readonly budget: number;
  readonly budget_period: BudgetPeriod;
  readonly budget_time_zone: string;
  readonly budget_spent: number;
  readonly budget_until_ms: number;
  readonly last_login_time: number;
  readonly labels: string;
}

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
  const insert = database.prepare<UserRow>(
    `INSERT INTO users (username, username_key, email, email_key, display_name, display_key, password_hash, role,
       enabled, quota, created_time, budget, budget_period, budget_time_zone, labels)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING *`,
  );
  const byId = database.prepare<UserRow>('SELECT * FROM users WHERE id = ?');
  const byName = database.prepare<UserRow>('SELECT * FROM users WHERE username_key = ?');
  const byEmail = database.prepare<UserRow>('SELECT * FROM users WHERE email_key = ?');
  const update = database.prepare<UserRow>(
    `UPDATE users SET username = ?, username_key = ?, email = ?, email_key = ?, display_name = ?, display_key = ?,
       password_hash = ?, role = ?, enabled = ?, quota = ?, budget = ?, budget_period = ?, budget_time_zone = ?,
       budget_spent = ?, budget_until_ms = ?, last_login_time = ?, labels = ?
     WHERE id = ? RETURNING *`,
  );
  const remove = database.prepare<never>('DELETE FROM users WHERE id = ?');
  const removeWhatBelongs = [
    ...[
      'tokens',
      'reservations',
      'sessions',
      'one_time_codes',
      'known_places',
      'address_codes',
      'examples',
      'identities',
    ],
  ].map((table) => database.prepare<never>(`DELETE FROM ${table} WHERE user_id = ?`));

  /** Reads a user again after giving back their expired reservations. */
  function read(row: UserRow | undefined, nowMs: number): UserRow | undefined {
    if (row === undefined) return undefined;
    reservations.giveBackExpired(nowMs, row.id);
    return byId.get(row.id);
  }

  function taken(
    { username, email }: { readonly username?: string; readonly email?: string | null | undefined },
    id: number | undefined,
  ): UserUpdate | undefined {
    const holder = username === undefined ? undefined : byName.get(username.toLowerCase());
    if (holder !== undefined && holder.id !== id) return { kind: 'taken', field: 'username' };
    const other = email == null ? undefined : byEmail.get(email.toLowerCase());
    if (other !== undefined && other.id !== id) return { kind: 'taken', field: 'email' };
    return undefined;
  }

  function create(user: NewUser, nowMs: number): UserUpdate {
    const conflict = taken(user, undefined);
    if (conflict !== undefined) return conflict;
    if (user.quota < 0 || user.quota > MAX_QUOTA)
      return { kind: 'conflict', reason: 'quota_range' };
    const { budget, budgetPeriod, budgetTimeZone, labels } = {
      ...{ ...BUDGET_DEFAULTS, labels: '' },
      ...accountMembersOf(user),
    };
    return updated(
      insert.get(
        user.username,
        user.username.toLowerCase(),
        user.email ?? null,
        user.email?.toLowerCase() ?? null,
        user.displayName,
        user.displayName.toLowerCase(),
        user.passwordHash,
        user.role,
        Number(user.enabled),
        user.quota,
        Math.floor(nowMs / 1000),
        budget,
        budgetPeriod,
        budgetTimeZone,
        labels,
      ),
    );
  }

  function change(
    id: number,
    wanted: UserChange,
    nowMs: number,
    { role, passwordHash, holds }: UserCondition,
  ): UserUpdate {
    const row = read(byId.get(id), nowMs);
    if (row === undefined) return { kind: 'not_found' };
    const conflict = taken(wanted, id);
    if (conflict !== undefined) return conflict;
    if (
      (role ?? row.role) !== row.role ||
      (passwordHash ?? row.password_hash) !== row.password_hash ||
      holds?.(presentUser(row)) === false
    ) {
      return { kind: 'conflict', reason: 'changed' };
    }
    const quota = changedBalance(row.quota, wanted.quota);
    if (quota === undefined) return { kind: 'conflict', reason: 'quota_range' };
    const username = wanted.username ?? row.username;
    const email = wanted.email === undefined ? row.email : wanted.email;
    const displayName = wanted.displayName ?? row.display_name;
    const before = presentUser(row);
    const budgets = { ...before, ...accountMembersOf(wanted) };
    const use = useAfter(before, before.budgetUse, budgets);
    return updated(
      update.get(
        username,
        username.toLowerCase(),
        email,
        email?.toLowerCase() ?? null,
        displayName,
        displayName.toLowerCase(),
        wanted.passwordHash ?? row.password_hash,
        wanted.role ?? row.role,
        wanted.enabled === undefined ? row.enabled : Number(wanted.enabled),
        quota,
        budgets.budget,
        budgets.budgetPeriod,
        budgets.budgetTimeZone,
        use.spent,
        use.untilMs,
        wanted.lastLoginTime ?? row.last_login_time,
        budgets.labels,
        id,
      ),
    );
  }

  return {
    createUser: (user, nowMs) => database.write(() => create(user, nowMs)),

    getUser: (id, nowMs) => database.write(() => userOf(read(byId.get(id), nowMs))),

    findUser: (login, nowMs) =>
      database.write(() => {
        const key = login.toLowerCase();
        return userOf(read(byName.get(key) ?? byEmail.get(key), nowMs));
      }),

    getPasswordHash: (userId) => database.read(() => byId.get(userId)?.password_hash),

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
        const listed = { table: 'users', read: presentUser };
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

function updated(row: UserRow | undefined): UserUpdate {
  return row === undefined ? { kind: 'not_found' } : { kind: 'updated', user: presentUser(row) };
}

function userOf(row: UserRow | undefined): User | undefined {
  return row === undefined ? undefined : presentUser(row);
}

function presentUser(row: UserRow): User {
  return {
    id: row.id,
    username: row.username,
    email: row.email ?? undefined,
    displayName: row.display_name,
    role: row.role,
    enabled: row.enabled === 1,
    quota: row.quota,
    usedQuota: row.used_quota,
    requestCount: row.request_count,
    createdTime: row.created_time,
    lastLoginTime: row.last_login_time,
    labels: row.labels,
    budget: row.budget,
    budgetPeriod: row.budget_period,
    budgetTimeZone: row.budget_time_zone,
    budgetUse: { spent: row.budget_spent, untilMs: row.budget_until_ms },
  };
}
