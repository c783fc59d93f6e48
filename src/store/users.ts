import type { BudgetMembers, BudgetUse } from '../core/budget.js';
import type { QuotaChange } from './balance.js';
import type { Page, Slice } from './page.js';

export type Role = 0 | 1 | 10 | 100;

/** An account. Times are unix seconds, quota is in units. */
export interface User extends BudgetMembers {
  readonly id: number;
  readonly username: string;
  readonly email: string | undefined;
  readonly displayName: string;
  /** 0 guest, 1 user, 10 admin, 100 root. */
  readonly role: Role;
  readonly enabled: boolean;
  readonly quota: number;
  readonly usedQuota: number;
  readonly requestCount: number;
  readonly createdTime: number;
  readonly budgetUse: BudgetUse;
}

export interface NewUser extends Partial<BudgetMembers> {
  readonly username: string;
  readonly email: string | undefined;
  readonly displayName: string;
  readonly passwordHash: string;
  readonly role: Role;
  readonly enabled: boolean;
  readonly quota: number;
}

export interface UserChange extends Partial<BudgetMembers> {
  readonly username?: string;
  /** `null` takes the address away. */
  readonly email?: string | null;
  readonly displayName?: string;
  readonly passwordHash?: string;
  readonly role?: Role;
  readonly enabled?: boolean;
  readonly quota?: QuotaChange;
}

/** What an account must still have for a change of it to be made: what the one who asks has judged it by. */
export interface UserCondition {
  readonly role?: Role;
  readonly passwordHash?: string;
}

export type UserUpdate =
  | { readonly kind: 'updated'; readonly user: User }
  | { readonly kind: 'not_found' }
  | { readonly kind: 'taken'; readonly field: 'username' | 'email' }
  /** `changed`: the condition no longer holds. */
  | { readonly kind: 'conflict'; readonly reason: 'quota_range' | 'changed' };

export interface UserQuery extends Slice {
  /** Part of username, email or display name, in any case; or an id. */
  readonly keyword?: string;
  readonly role?: Role;
}

/** Usernames and addresses are unique without regard to case. Disabling a user stops its tokens at the next `admit`. */
export interface UserStore {
  createUser(user: NewUser, nowMs: number): Promise<UserUpdate>;
  getUser(id: number, nowMs: number): Promise<User | undefined>;
  /** By username, else by address. */
  findUser(login: string, nowMs: number): Promise<User | undefined>;
  /** The recorded password hash of a user. */
  getPasswordHash(userId: number): Promise<string | undefined>;
  listUsers(query: UserQuery, nowMs: number): Promise<Page<User>>;
  updateUser(
    id: number,
    change: UserChange,
    nowMs: number,
    condition?: UserCondition,
  ): Promise<UserUpdate>;
  /** Removes the user with its tokens and sessions. */
  deleteUser(id: number): Promise<boolean>;
}
