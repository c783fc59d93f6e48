import { ACCOUNT_MEMBERS, accountMembersOf, type AccountMembers } from '../core/labels.js';
import { GatewayError } from '../core/errors.js';
import { MAX_QUOTA } from '../core/quota.js';
import type { Secret } from '../core/secret.js';
import type { QuotaChange, Role, User, UserCondition, UserUpdate } from '../store/store.js';
import type { AccountSettings } from './accounts.js';
import { ADMIN_ROLE, recordAudit, ROOT_ROLE, type Actor, type ManagementDeps } from './audit.js';
import { checkInteger, checkMembers, checkName } from './fields.js';
import { keepLabelsOfUser } from './labels.js';
import { checkPassword } from './password-rules.js';
import { hashPassword, newPassword, NO_PASSWORD, verifyPassword } from './passwords.js';
import { checkBelow } from './rank.js';
import { changesOf, userShown } from './changes.js';
import { deletedName } from './user-names.js';
import { changedSince, still, userRevision } from './revision.js';
import { knownUser, OURSELVES, type Asker } from './scrypt-thread.js';
import { checkEmail, checkUsername, rootStays } from './user-checks.js';

export interface RootAccount {
  readonly username: string;
  /** Without it, a random one is generated. */
  readonly password: Secret | undefined;
  readonly quota: number;
}

export type EnsuredRoot =
  /** `password` is present if it was generated here; it is shown this once. */
  | { readonly kind: 'created'; readonly user: User; readonly password: string | undefined }
  | { readonly kind: 'found'; readonly user: User };

/** An account to be created by an admin. */
export interface UserDraft extends Partial<AccountMembers> {
  readonly username: string;
  /** Without one, none opens the account until it is set. */
  readonly password?: string;
  readonly email?: string | undefined;
  readonly displayName?: string | undefined;
  readonly role?: Role;
  readonly enabled?: boolean;
  readonly quota?: number;
}

export interface Registration extends Pick<UserDraft, 'username' | 'email' | 'displayName'> {
  readonly password: string;
}

/** What people change about their own account; whatever is left out stays. */
export interface SelfEdit extends Pick<
  UserEdit,
  'username' | 'email' | 'displayName' | 'password'
> {
  /** The current password; required to change the password or the address. */
  readonly originalPassword?: string | undefined;
}

/** What an admin changes about an account; whatever is left out stays. */
export interface UserEdit extends Partial<AccountMembers> {
  readonly username?: string | undefined;
  /** `null` removes it. */
  readonly email?: string | null | undefined;
  readonly displayName?: string | undefined;
  readonly password?: string | undefined;
  readonly role?: Role | undefined;
  readonly enabled?: boolean | undefined;
  readonly quota?: QuotaChange | undefined;
}

export interface RegistrationDeps extends ManagementDeps {
  readonly accounts: Pick<AccountSettings, 'registration' | 'initialQuota'>;
}

/** An account, and the address that its owner has named but not yet confirmed. */
export interface WithNewAddress {
  readonly user: User;
  readonly unconfirmed: string | undefined;
}

const USER_ROLE = 1;

/** All of them together take no more than one stranger may, and leave room for logins. */
export const REGISTRATIONS: Asker = { owner: 'registration', isKnown: false };

const SYSTEM: Actor = { id: undefined, name: 'first start', role: ROOT_ROLE, address: undefined };

/** The account that owns the installation. If several processes start on an empty store, exactly one creates it. */
export async function ensureRoot(deps: ManagementDeps, account: RootAccount): Promise<EnsuredRoot> {
  const { store, now, randomBytes } = deps;
  const root = await findRoot(deps);
  if (root !== undefined) return { kind: 'found', user: root };
  const generated = account.password === undefined ? newPassword(randomBytes) : undefined;
  const password = account.password?.reveal() ?? generated ?? '';
  const created = await store.createUser(
    {
      username: account.username,
      email: undefined,
      displayName: account.username,
      passwordHash: await hashPassword(password, randomBytes, OURSELVES),
      role: ROOT_ROLE,
      enabled: true,
      quota: account.quota,
    },
    now(),
  );
  if (created.kind === 'updated') {
    const { user } = created;
    const { id, username, role, quota } = user;
    const detail = { username, role, quota };
    await recordAudit(deps, SYSTEM, 'user.create', target(id), detail, { name: username });
    return { kind: 'created', user, password: generated };
  }
  const other = await findRoot(deps);
  if (other !== undefined) return { kind: 'found', user: other };
  throw new GatewayError(
    'conflict',
    `There is no root account, and the name "${account.username}" belongs to another one; set ROOT_USERNAME.`,
  );
}

/** The root account, under its current name. It is nearly always the oldest one: on Redis, a search by role reads all accounts. */
export async function findRoot({ store, now }: ManagementDeps): Promise<User | undefined> {
  const { total } = await store.listUsers({ offset: 0, limit: 0 }, now());
  if (total === 0) return undefined;
  const { items } = await store.listUsers({ offset: total - 1, limit: 1 }, now());
  if (items[0]?.role === ROOT_ROLE) return items[0];
  const page = await store.listUsers({ role: ROOT_ROLE, offset: 0, limit: 1 }, now());
  return page.items[0];
}

/**
 * A person creates their own account, if that is allowed. The address counts once it is confirmed: the answer is the same
 * whether or not another account has it.
 */
export async function registerUser(
  deps: RegistrationDeps,
  { email, ...registration }: Registration,
  address: string | undefined,
): Promise<WithNewAddress> {
  if (!deps.accounts.registration) {
    throw new GatewayError('permission_denied', 'Registration is switched off; ask an admin.');
  }
  const unconfirmed = email === undefined ? undefined : checkEmail(email);
  checkPassword(registration.password, [unconfirmed]);
  const draft = { ...registration, quota: deps.accounts.initialQuota };
  const user = await insertUser(deps, draft, REGISTRATIONS);
  await recordAudit(deps, actorOf(user, address), 'user.register', target(user.id), {
    username: user.username,
  });
  return { user, unconfirmed };
}

/** An admin creates an account; its role must be below the admin's own. */
export async function createUser(
  deps: ManagementDeps,
  draft: UserDraft,
  actor: Actor,
): Promise<User> {
  checkRole(draft.role, actor);
  const user = await insertUser(deps, draft, hashingFor(actor));
  const { id, username, email, role, quota } = user;
  const detail = { username, email, role, quota };
  await recordAudit(deps, actor, 'user.create', target(id), detail, { name: username });
  return user;
}

/** The most names that a page shows. */
const MAX_ADMINS = 5;

/** The names by which others know the admins: the highest roles first. */
export async function adminNames({ store, now }: ManagementDeps): Promise<string[]> {
  const order = { by: 'role', descending: true } as const;
  const { items } = await store.listUsers(
    { enabled: true, order, offset: 0, limit: MAX_ADMINS },
    now(),
  );
  return items.filter(({ role }) => role >= ADMIN_ROLE).map(({ displayName }) => displayName);
}

export async function getUser({ store, now }: ManagementDeps, id: number): Promise<User> {
  const user = await store.getUser(id, now());
  if (user === undefined) throw noUser(id);
  return user;
}

/**
 * Changes one's own account. A new password ends all sessions and access tokens, including the current one. A new address
 * counts once it is confirmed.
 */
export async function updateSelf(
  deps: ManagementDeps,
  user: User,
  edit: SelfEdit,
  actor: Actor,
): Promise<WithNewAddress> {
  const email = edit.email === user.email ? undefined : edit.email;
  let condition: UserCondition = {};
  if (edit.password !== undefined || (email !== undefined && email !== (user.email ?? null))) {
    const recorded = await deps.store.getPasswordHash(user.id);
    // Hashing takes a while: a password that was replaced meanwhile authorizes nothing.
    if (recorded !== undefined) condition = { passwordHash: recorded };
    if (!(await verifyPassword(edit.originalPassword ?? '', recorded, hashingFor(actor)))) {
      throw new GatewayError(
        'permission_denied',
        'To change the password or the address, give the current password as original_password.',
        { param: 'original_password' },
      );
    }
  }
  const { username, displayName, password } = edit;
  const unconfirmed = typeof email === 'string' ? checkEmail(email) : undefined;
  const removed = email === null ? { email } : {};
  const change = { username, displayName, password, ...removed };
  return { user: await writeUser(deps, user, change, actor, condition), unconfirmed };
}

/** An admin changes an account below their own; root may also change its own quota. */
export async function updateUser(
  deps: ManagementDeps,
  id: number,
  edit: UserEdit,
  actor: Actor,
  ifRevision?: string,
): Promise<User> {
  const user = await getUser(deps, id);
  if (user.id === actor.id) {
    const { username, displayName, quota, ...protectedMembers } = edit;
    const { budget, budgetPeriod, budgetTimeZone, labels, ...rest } = protectedMembers;
    const isSet = (value: unknown): boolean => value !== undefined;
    const money = [quota, budget, budgetPeriod, budgetTimeZone, labels].some(isSet);
    if (Object.values(rest).some(isSet) || (money && actor.role < ROOT_ROLE)) {
      throw new GatewayError(
        'permission_denied',
        'You cannot change your own role, status, quota, budget or labels; change password and address under /api/user/self.',
      );
    }
  } else {
    checkBelow(user.role, actor, 'The role of this account');
  }
  checkRole(edit.role, actor);
  if (user.role === ROOT_ROLE && (edit.role !== undefined || edit.enabled === false)) {
    throw rootStays();
  }
  const holds = still(ifRevision, userRevision);
  return writeUser(deps, user, edit, actor, {
    role: user.role,
    ...(holds === undefined ? {} : { holds }),
  });
}

/** An admin deletes an account below their own. */
export async function deleteUser(deps: ManagementDeps, id: number, actor: Actor): Promise<void> {
  const user = await getUser(deps, id);
  checkBelow(user.role, actor, 'The role of this account');
  await removeUser(deps, user, actor);
}

function hashingFor({ id }: Actor): Asker {
  return id === undefined ? OURSELVES : knownUser(id);
}

function checkRole(role: Role | undefined, actor: Actor): void {
  if (role !== undefined && role >= actor.role) {
    throw new GatewayError('permission_denied', 'You can only give roles below your own.', {
      param: 'role',
    });
  }
}

/** Makes an account; `asker` is whose turn its password is hashed in. */
export async function insertUser(
  deps: ManagementDeps,
  draft: UserDraft,
  asker: Asker,
): Promise<User> {
  const { store, now, randomBytes } = deps;
  const username = checkUsername(draft.username, draft.role ?? USER_ROLE);
  const email = draft.email === undefined ? undefined : checkEmail(draft.email);
  const members = accountMembersOf(draft);
  checkMembers(ACCOUNT_MEMBERS, members);
  const { password } = draft;
  if (password !== undefined) checkPassword(password, [username, email]);
  const created = await store.createUser(
    {
      username,
      email,
      displayName:
        draft.displayName === undefined ? username : checkName(draft.displayName, 'display_name'),
      passwordHash:
        password === undefined ? NO_PASSWORD : await hashPassword(password, randomBytes, asker),
      role: draft.role ?? USER_ROLE,
      enabled: draft.enabled ?? true,
      quota: checkInteger(draft.quota ?? 0, 0, MAX_QUOTA, 'quota'),
      ...members,
    },
    now(),
  );
  if (created.kind !== 'updated') throw refusal(created, 0);
  return created.user;
}

async function writeUser(
  deps: ManagementDeps,
  user: User,
  { username, email, displayName, password, role, enabled, quota, ...others }: UserEdit,
  actor: Actor,
  condition: UserCondition,
): Promise<User> {
  const { store, now, randomBytes } = deps;
  const members = accountMembersOf(others);
  checkMembers(ACCOUNT_MEMBERS, members);
  const change = {
    ...members,
    ...(username === undefined || username === user.username
      ? {}
      : { username: checkUsername(username, user.role) }),
    ...(email === undefined ? {} : { email: email === null ? null : checkEmail(email) }),
    ...(displayName === undefined ? {} : { displayName: checkName(displayName, 'display_name') }),
    ...(role === undefined ? {} : { role }),
    ...(enabled === undefined ? {} : { enabled }),
    ...(quota === undefined ? {} : { quota: checkQuota(quota) }),
  };
  if (password !== undefined) {
    checkPassword(password, [change.username ?? user.username, change.email ?? user.email]);
  }
  const passwordHash =
    password === undefined
      ? {}
      : { passwordHash: await hashPassword(password, randomBytes, hashingFor(actor)) };
  const written = { ...change, ...passwordHash };
  const update = await store.updateUser(user.id, written, now(), condition);
  if (update.kind !== 'updated') throw refusal(update, user.id);
  // After the change: a login with outdated credentials meanwhile ends too.
  if (password !== undefined || enabled === false) await store.deleteUserSessions(user.id);
  const detail = { ...change, ...(password === undefined ? {} : { password: 'changed' }) };
  const { quota: left } = update.user;
  const had = quota !== undefined && 'add' in quota ? left - quota.add : user.quota;
  const changes = [
    ...changesOf(userShown(user), userShown(update.user)),
    ...(quota === undefined ? [] : changesOf({ quota: had }, { quota: left })),
  ];
  const of = { name: user.username, changes };
  await recordAudit(deps, actor, 'user.update', target(user.id), detail, of);
  return update.user;
}

/**
 * Deletes an account, with its keys and logins; not that of root. Sums and entries of the audit log stay, under a neutral name.
 * These are rewritten first, so that a deletion that fails half-way can be repeated, and again for what was written meanwhile.
 */
export async function removeUser(deps: ManagementDeps, user: User, actor: Actor): Promise<void> {
  if (user.role === ROOT_ROLE) throw rootStays();
  const { store } = deps;
  const name = deletedName(user.id);
  await keepLabelsOfUser(deps, user);
  await store.forgetInAudit(user.id, name);
  if (!(await store.deleteUser(user.id))) throw noUser(user.id);
  await store.forgetInAudit(user.id, name);
  const { username: _, email: __, display_name: ___, ...shown } = userShown(user);
  const by = actor.id === user.id ? { ...actor, name } : actor;
  const of = { name, changes: changesOf(shown, undefined) };
  await recordAudit(deps, by, 'user.delete', target(user.id), {}, of);
}

/** An account as the actor. */
export function actorOf(user: User, address: string | undefined): Actor & { readonly id: number } {
  return { id: user.id, name: user.username, role: user.role, address };
}

function checkQuota(quota: QuotaChange): QuotaChange {
  if ('set' in quota) checkInteger(quota.set, 0, MAX_QUOTA, 'quota');
  else checkInteger(quota.add, -MAX_QUOTA, MAX_QUOTA, 'add_quota');
  return quota;
}

function refusal(update: Exclude<UserUpdate, { kind: 'updated' }>, id: number): GatewayError {
  switch (update.kind) {
    case 'not_found':
      return noUser(id);
    case 'taken':
      return new GatewayError('conflict', `That ${update.field} is taken.`, {
        param: update.field,
      });
    case 'conflict':
      if (update.reason === 'changed') return changedSince('The account');
      return new GatewayError(
        'conflict',
        `The quota of the account would leave the range from 0 to ${MAX_QUOTA}.`,
        { param: 'add_quota' },
      );
  }
}

function noUser(id: number): GatewayError {
  return new GatewayError('not_found', `There is no user with id ${id}.`);
}

function target(id: number): string {
  return `user:${id}`;
}
