import { BUDGET_DEFAULTS, type BudgetPeriod, type BudgetUse } from '../core/budget.js';
import type { AccountMembers } from '../core/labels.js';
import type { QuotaChange } from './balance.js';
import type { Order, OrderValues, Page, Slice } from './page.js';
import { flag, maybe, number, recordOf, text } from './records.js';

export type Role = 0 | 1 | 5 | 10 | 100;

/** An account. Times are in unix seconds, quota is in units. */
export interface User extends AccountMembers {
  readonly id: number;
  readonly username: string;
  readonly email: string | undefined;
  readonly displayName: string;
  /** 0 guest, 1 user, 5 auditor, 10 admin, 100 root. */
  readonly role: Role;
  readonly enabled: boolean;
  readonly quota: number;
  readonly usedQuota: number;
  readonly requestCount: number;
  readonly createdTime: number;
  /** When somebody last logged in to it; 0: never. */
  readonly lastLoginTime: number;
  readonly budgetUse: BudgetUse;
}

/** An account as it is kept. */
export interface StoredUser extends Omit<User, 'budgetUse'> {
  readonly passwordHash: string;
  readonly budgetSpent: number;
  readonly budgetUntilMs: number;
}

export const USERS = recordOf<StoredUser>(
  'users',
  {
    id: number('id'),
    username: text('username'),
    email: maybe(text('email'), ''),
    displayName: text('display'),
    passwordHash: text('password'),
    role: number<Role>('role'),
    enabled: flag('enabled'),
    quota: number('quota'),
    usedQuota: number('used'),
    requestCount: number('requests'),
    createdTime: number('created'),
    lastLoginTime: number('login'),
    budget: number('budget', BUDGET_DEFAULTS.budget),
    budgetPeriod: text<BudgetPeriod>('period', BUDGET_DEFAULTS.budgetPeriod),
    budgetTimeZone: text('zone', BUDGET_DEFAULTS.budgetTimeZone),
    labels: text('labels'),
    budgetSpent: number('spent'),
    budgetUntilMs: number('until'),
  },
  { username: 'username_key', email: 'email_key', displayName: 'display_key' },
);

export function userOf({
  passwordHash: _,
  budgetSpent: spent,
  budgetUntilMs: untilMs,
  ...user
}: StoredUser): User {
  return { ...user, budgetUse: { spent, untilMs } };
}

/** The stored members of a new account. */
export function newStoredUser(user: NewUser, nowMs: number): Omit<StoredUser, 'id'> {
  return {
    ...{ ...BUDGET_DEFAULTS, labels: '', ...user, createdTime: Math.floor(nowMs / 1000) },
    ...{ lastLoginTime: 0, usedQuota: 0, requestCount: 0, budgetSpent: 0, budgetUntilMs: 0 },
  };
}

export type NewUser = Partial<AccountMembers> &
  Pick<
    StoredUser,
    'username' | 'email' | 'displayName' | 'passwordHash' | 'role' | 'enabled' | 'quota'
  >;

export interface UserChange extends Partial<Omit<NewUser, 'email' | 'quota'>> {
  /** `null` removes the address. */
  readonly email?: string | null;
  readonly quota?: QuotaChange;
  readonly lastLoginTime?: number;
}

/** What must still hold for an account to be changed: what the caller based its decision on. */
export interface UserCondition {
  readonly role?: Role;
  readonly passwordHash?: string;
  /** Held against the account in the step that changes it. */
  readonly holds?: (user: User) => boolean;
}

export type UserUpdate =
  | { readonly kind: 'updated'; readonly user: User }
  | { readonly kind: 'not_found' }
  | { readonly kind: 'taken'; readonly field: 'username' | 'email' }
  /** `changed`: the condition no longer holds. */
  | { readonly kind: 'conflict'; readonly reason: 'quota_range' | 'changed' };

/** What accounts can be ordered by. */
export const USER_ORDERS = {
  username: ({ username }) => username.toLowerCase(),
  role: ({ role }) => role,
  quota: ({ quota }) => quota,
  usedQuota: ({ usedQuota }) => usedQuota,
  requestCount: ({ requestCount }) => requestCount,
  createdTime: ({ createdTime }) => createdTime,
  lastLoginTime: ({ lastLoginTime }) => lastLoginTime,
} satisfies OrderValues<User>;

export type UserOrder = Order<keyof typeof USER_ORDERS>;

export interface UserQuery extends Slice {
  /** Part of the username, email or display name, case-insensitive; or an id. */
  readonly keyword?: string;
  readonly role?: Role;
  readonly enabled?: boolean;
  /** Those with this label: `team`, or `team=search`. */
  readonly label?: string;
  /** The newest first unless given. */
  readonly order?: UserOrder;
}

/** Usernames and addresses are unique regardless of case. Disabling a user stops its tokens at the next `admit`. */
export interface UserStore {
  createUser(user: NewUser, nowMs: number): Promise<UserUpdate>;
  getUser(id: number, nowMs: number): Promise<User | undefined>;
  /** By username, otherwise by address. */
  findUser(login: string, nowMs: number): Promise<User | undefined>;
  /** The stored password hash of a user. */
  getPasswordHash(userId: number): Promise<string | undefined>;
  listUsers(query: UserQuery, nowMs: number): Promise<Page<User>>;
  updateUser(
    id: number,
    change: UserChange,
    nowMs: number,
    condition?: UserCondition,
  ): Promise<UserUpdate>;
  /** Removes the user, its tokens and its sessions. */
  deleteUser(id: number): Promise<boolean>;
}
