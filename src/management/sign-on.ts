import { GatewayError } from '../core/errors.js';
import type { LoginOrigin, Role, User } from '../store/store.js';
import { ADMIN_ROLE, AUDITOR_ROLE, recordAudit, ROOT_ROLE } from './audit.js';
import { changesOf } from './changes.js';
import { loginName } from './fields.js';
import type { OutgoingEvent } from '../core/delivery.js';
import { cameFromNewPlace, newPlaceEvent, noteLogin, type LoggedIn } from './log-in.js';
import { isReserved } from './names.js';
import { newPassword } from './passwords.js';
import { hashSecret } from './secrets.js';
import { startSession, type SessionDeps } from './sessions.js';
import { actorOf, insertUser, REGISTRATIONS, type RegistrationDeps } from './users.js';

/** What the operator decides about logins; the settings of the group `login`. */
export interface LoginSettings {
  readonly passwords: boolean;
  readonly create: boolean;
  readonly link: boolean;
  readonly roles: Readonly<Record<string, 'user' | 'auditor' | 'admin'>>;
  readonly accounts: Readonly<Record<string, string>>;
  readonly sessionMaxMs: number;
}

export interface SignOnDeps extends SessionDeps, Pick<RegistrationDeps, 'accounts'> {
  readonly accounts: SessionDeps['accounts'] & RegistrationDeps['accounts'];
  readonly logins: LoginSettings;
  readonly alerting: { deliver(event: OutgoingEvent): void };
}

/** Where a login comes from; `block` is what its address belongs to. */
export type SignOnOrigin = Omit<LoginOrigin, 'source'> & { readonly block: string };

/** Whom a proxy or a provider has authenticated. */
export interface Vouched {
  /** Who says so: `proxy`, or the issuer. */
  readonly by: string;
  /** Their name there, which never changes. */
  readonly subject: string;
  /** What an account of theirs may be called. */
  readonly name: string;
  /** Only one that they certainly own. */
  readonly email: string | undefined;
  readonly groups: readonly string[];
  /** The name or address of an account that is theirs beyond doubt, if accounts may be linked. */
  readonly owns: string | undefined;
  /** What the session is known by: see `Session.source`. */
  readonly source: string;
}

const ROLES = { user: 1, auditor: AUDITOR_ROLE, admin: ADMIN_ROLE } as const;
const MARK_CHARACTERS = 6;
const MAX_PLAIN_NAME = 50;

/** @throws GatewayError 403 if passwords are switched off. */
export function requirePasswords({ logins }: Pick<SignOnDeps, 'logins'>): void {
  if (logins.passwords) return;
  throw new GatewayError(
    'permission_denied',
    'Passwords are switched off here; log in at the console, or send an access token.',
  );
}

/**
 * Begins a session for somebody vouched for, and gives their account the role of their groups. The account is the one that
 * their groups share, else the one that they were linked with, else one that is linked or made now, if the settings allow it.
 * Never root: no group of a provider may become the owner of the installation.
 */
export async function signOn(
  deps: SignOnDeps,
  vouched: Vouched,
  { block, ...origin }: SignOnOrigin,
): Promise<LoggedIn> {
  const { store, now, logins } = deps;
  const role = roleFor(vouched, logins);
  const found =
    (await sharedAccount(deps, vouched)) ??
    (await linkedAccount(deps, vouched)) ??
    (await newAccount(deps, vouched, role ?? ROLES.user, origin.address));
  judge(found);
  const user = await withRole(deps, vouched, found, role, origin.address);
  const { source } = vouched;
  const secret = await startSession(deps, user.id, { ...origin, source }, logins.sessionMaxMs);
  // Disabling ends all sessions; this one may have begun right after that.
  if ((await store.getUser(user.id, now()))?.enabled !== true) {
    await store.deleteSession(hashSecret(secret));
    throw disabled();
  }
  const lastLoginTime = Math.floor(now() / 1000);
  await store.updateUser(user.id, { lastLoginTime }, now());
  await noteLogin(deps, user, 'user.login', origin.address, { by: vouched.by, as: vouched.name });
  const isNewPlace = await cameFromNewPlace(deps, user, block);
  if (isNewPlace) deps.alerting.deliver(newPlaceEvent(user, origin.address, block, now()));
  return { user: { ...user, lastLoginTime }, secret, isNewPlace };
}

/** The hash of a name at somebody who vouches, for `IdentityStore`. */
export function identityHash(kind: 'account' | 'session', by: string, name: string): string {
  return hashSecret(JSON.stringify([kind, by, name]));
}

function judge(user: User): void {
  if (!user.enabled) throw disabled();
  if (user.role >= ROOT_ROLE) {
    throw new GatewayError('permission_denied', 'Root logs in with its password alone.');
  }
}

/** The highest role of their groups; `undefined` if roles are not given by groups. */
function roleFor({ groups }: Vouched, { roles }: LoginSettings): Role | undefined {
  if (Object.keys(roles).length === 0) return undefined;
  const given = [...groups, '*'].flatMap((group) => {
    const role = Object.hasOwn(roles, group) ? roles[group] : undefined;
    return role === undefined ? [] : [ROLES[role]];
  });
  if (given.length > 0) return Math.max(...given) as Role;
  throw new GatewayError('permission_denied', 'None of your groups may use this gateway.');
}

async function sharedAccount(
  { store, now, logins }: SignOnDeps,
  { groups }: Vouched,
): Promise<User | undefined> {
  const group = groups.find((name) => Object.hasOwn(logins.accounts, name));
  if (group === undefined) return undefined;
  const name = logins.accounts[group] ?? '';
  const user = await store.findUser(loginName(name), now());
  if (user !== undefined) return user;
  throw new GatewayError('not_found', `The account ${name} of your group does not exist.`);
}

async function linkedAccount(
  { store, now, logins }: SignOnDeps,
  { by, subject, owns }: Vouched,
): Promise<User | undefined> {
  const identity = identityHash('account', by, subject);
  const id = await store.findIdentity(identity, now());
  if (id !== undefined) return store.getUser(id, now());
  if (!logins.link || owns === undefined) return undefined;
  const own = await store.findUser(loginName(owns), now());
  if (own === undefined) return undefined;
  judge(own);
  return store.getUser(await store.linkIdentity(identity, own.id, now()), now());
}

/** An account without a usable password, under the first of some names that is free. */
async function newAccount(
  deps: SignOnDeps,
  vouched: Vouched,
  role: Role,
  address: string,
): Promise<User> {
  const { store, now, randomBytes, logins, accounts } = deps;
  const { by, subject, name } = vouched;
  if (!logins.create) {
    throw new GatewayError('permission_denied', 'You have no account here yet; ask an admin.');
  }
  const identity = identityHash('account', by, subject);
  const password = newPassword(randomBytes);
  let { email } = vouched;
  for (const username of namesFor(name, identity)) {
    const draft = { username, role, password, email, quota: accounts.initialQuota };
    const made = await insertUser(deps, draft, REGISTRATIONS).catch((error: unknown) => {
      if (!(error instanceof GatewayError)) throw error;
      if (error.param === 'email') email = undefined;
      else if (error.param !== 'username') throw error;
      return undefined;
    });
    if (made === undefined) continue;
    const id = await store.linkIdentity(identity, made.id, now());
    if (id !== made.id) {
      // Another login of the same person was faster.
      await store.deleteUser(made.id);
      return (await store.getUser(id, now())) ?? made;
    }
    const detail = { username, by };
    await recordAudit(deps, actorOf(made, address), 'user.register', `user:${made.id}`, detail);
    return made;
  }
  throw new GatewayError('conflict', 'No name is free for your account; ask an admin.');
}

/** Names to try: as it is, marked as theirs, and marks alone; each twice, since an address may be in the way. */
function namesFor(wished: string, identity: string): string[] {
  const plain = (wished.split('@')[0] ?? '')
    .normalize('NFKC')
    .replaceAll(/[^\p{L}\p{Nd}._-]+/gu, '-')
    .replace(/^[^\p{L}\p{Nd}]+/u, '')
    .slice(0, MAX_PLAIN_NAME);
  const mark = identity.slice(0, MARK_CHARACTERS);
  const names = [
    ...(plain === '' || isReserved(plain) ? [] : [plain, `${plain}-${mark}`]),
    `user-${mark}`,
  ];
  return [...names, `user-${identity.slice(0, 2 * MARK_CHARACTERS)}`].flatMap((name) => [
    name,
    name,
  ]);
}

async function withRole(
  deps: SignOnDeps,
  { by, subject }: Vouched,
  user: User,
  role: Role | undefined,
  address: string,
): Promise<User> {
  const { store, now } = deps;
  if (role === undefined || role === user.role) return user;
  const isOwn = (await store.findIdentity(identityHash('account', by, subject), now())) === user.id;
  // What one person may do says nothing about an account that several share.
  if (!isOwn) return user;
  const update = await store.updateUser(user.id, { role }, now(), { role: user.role });
  if (update.kind !== 'updated') throw new GatewayError('conflict', 'Your account has changed.');
  const of = { name: user.username, changes: changesOf({ role: user.role }, { role }) };
  const actor = { id: undefined, name: by, role: ROOT_ROLE, address } as const;
  await recordAudit(deps, actor, 'user.update', `user:${user.id}`, { role }, of);
  return update.user;
}

function disabled(): GatewayError {
  return new GatewayError('user_disabled', 'The account is disabled.');
}
