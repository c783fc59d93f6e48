import type { OutgoingEvent } from '../core/delivery.js';
import { GatewayError } from '../core/errors.js';
import type { LoginOrigin, User } from '../store/store.js';
import {
  accountNamed,
  awaitTurn,
  forgetAttempts,
  knowsPlace,
  rememberPlace,
  type AttemptDeps,
} from './attempts.js';
import { recordAudit, type ManagementDeps } from './audit.js';
import { loginName } from './fields.js';
import { hashPassword, needsRehash, verifyPassword } from './passwords.js';
import { knownUser } from './scrypt-thread.js';
import { hashSecret } from './secrets.js';
import { startSession, type SessionDeps } from './sessions.js';

export interface LoggedIn {
  readonly user: User;
  /** Whether an administrator came from an address block that the account was not used from before. */
  readonly isNewPlace: boolean;
  /** The session's secret, for the cookie. */
  readonly secret: string;
}

/** No user has this id. Asking for it keeps the work the same if there is no account. */
const NOBODY = 0;
const ADMIN = 10;
const DAY_MS = 24 * 3_600_000;

/**
 * Begins a session for the right name (or address) and password. Unknown accounts cost and answer the same as wrong
 * passwords; only who knows the password learns that an account is disabled. `block` is the caller's address block: a right
 * password clears its wrong ones, and it is known from then on.
 */
export async function logIn(
  deps: SessionDeps & AttemptDeps,
  login: string,
  password: string,
  block: string,
  origin: Partial<LoginOrigin> = {},
): Promise<LoggedIn> {
  const { store, now } = deps;
  const account = accountNamed(login);
  const user = await store.findUser(loginName(login), now());
  const asker = await awaitTurn(deps, account, user?.id, block);
  const recorded = await store.getPasswordHash(user?.id ?? NOBODY);
  const matches = await verifyPassword(password, recorded, asker);
  if (user === undefined || recorded === undefined || !matches) throw wrongLogin();
  if (!user.enabled) throw new GatewayError('user_disabled', 'The account is disabled.');
  const current = await upgradeHash(deps, user.id, recorded, password);
  const secret = await startSession(deps, user.id, origin);
  // A new password, or disabling, ends all sessions; this one may have begun right after that, on what no longer holds.
  const stillRight = (await store.getPasswordHash(user.id)) === current;
  if (!stillRight || (await store.getUser(user.id, now()))?.enabled !== true) {
    await store.deleteSession(hashSecret(secret));
    throw wrongLogin();
  }
  await forgetAttempts(deps, 'login', account, block);
  const isNewPlace = await cameFromNewPlace(deps, user, block);
  const lastLoginTime = Math.floor(now() / 1000);
  await store.updateUser(user.id, { lastLoginTime }, now());
  return { user: { ...user, lastLoginTime }, secret, isNewPlace };
}

/**
 * Whether an administrator comes from an address block that the account was not used from before; it is known from then on.
 * The first login of all comes from no new place.
 */
export async function cameFromNewPlace(
  deps: Pick<AttemptDeps, 'store' | 'now'>,
  { id, role, lastLoginTime }: User,
  block: string,
): Promise<boolean> {
  const isNew = role >= ADMIN && lastLoginTime > 0 && !(await knowsPlace(deps, id, block));
  await rememberPlace(deps, id, block);
  return isNew;
}

/** The alert to a login of an administrator from a new place; the same for all logins from there. */
export function newPlaceEvent(
  { id, username }: User,
  address: string,
  block: string,
  nowMs: number,
): OutgoingEvent {
  return {
    id: `msg_login_${hashSecret(`${id} ${block} ${Math.floor(nowMs / DAY_MS)}`).slice(0, 32)}`,
    ...{ type: 'login.new_place', atMs: nowMs },
    summary: `${username} logged in from a new address range: ${block}`,
    data: { user_id: id, username, address },
  };
}

/** The hash in force: a new one at today's cost where needed, or that of another login with the same password that came first. */
async function upgradeHash(
  { store, now, randomBytes }: SessionDeps,
  userId: number,
  recorded: string,
  password: string,
): Promise<string> {
  if (!needsRehash(recorded)) return recorded;
  const passwordHash = await hashPassword(password, randomBytes, knownUser(userId));
  const condition = { passwordHash: recorded };
  const update = await store.updateUser(userId, { passwordHash }, now(), condition);
  if (update.kind === 'updated') return passwordHash;
  const other = await store.getPasswordHash(userId);
  if (other === undefined) return recorded;
  return (await verifyPassword(password, other, knownUser(userId))) ? other : recorded;
}

/**
 * Notes that somebody failed to log in to an account that there is. Takes another time where there is none, so that it must
 * be called off the path of the request; how often it is tried is bounded before.
 */
export async function noteFailedLogin(
  deps: ManagementDeps,
  login: string,
  code: string,
  address: string | undefined,
): Promise<void> {
  const user = await deps.store.findUser(loginName(login), deps.now());
  if (user === undefined) return;
  await noteLogin(deps, user, 'user.login_failed', address, { code });
}

/** Notes a login in the audit log, under the name of the account. */
export function noteLogin(
  deps: ManagementDeps,
  user: User,
  action: 'user.login' | 'user.login_failed',
  address: string | undefined,
  detail: Readonly<Record<string, unknown>> = {},
): Promise<void> {
  const { id, username: name, role } = user;
  return recordAudit(deps, { id, name, role, address }, action, `user:${id}`, detail);
}

function wrongLogin(): GatewayError {
  return new GatewayError('unauthorized', 'The username or the password is wrong.');
}
