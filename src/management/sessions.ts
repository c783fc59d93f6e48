import { GatewayError } from '../core/errors.js';
import type { LoginOrigin, NewSession, Session, User } from '../store/store.js';
import type { AccountSettings } from './accounts.js';
import { recordAudit, type Actor, type ManagementDeps } from './audit.js';
import { checkOwner } from './rank.js';
import { hashSecret } from './secrets.js';

export interface SessionDeps extends ManagementDeps {
  readonly accounts: Pick<AccountSettings, 'sessionIdleMs' | 'sessionMaxMs' | 'accessTokenMs'>;
}

/** Somebody who has presented a live session or access token. */
export interface Login {
  readonly user: User;
  readonly session: Session;
}

/** The prefix of access tokens, so that they cannot be taken for API keys. */
const ACCESS_TOKEN_PREFIX = 'at-';

const SECRET_BYTES = 32;
/** The part of a session's hash that identifies it to its owner. */
const SHOWN_ID_CHARACTERS = 16;

/** Begins a login. The secret returned goes into the cookie; only its hash is stored. */
export async function startSession(
  { store, now, randomBytes, accounts }: SessionDeps,
  userId: number,
  origin: Partial<LoginOrigin> = {},
  maxMs = accounts.sessionMaxMs,
): Promise<string> {
  const secret = randomText(randomBytes);
  const createdAtMs = now();
  const lifeMs = Math.min(maxMs, accounts.sessionMaxMs);
  await store.createSession({
    idHash: hashSecret(secret),
    userId,
    kind: 'session',
    createdAtMs,
    expiresAtMs: createdAtMs + Math.min(accounts.sessionIdleMs, lifeMs),
    endsAtMs: createdAtMs + lifeMs,
    ...origin,
  });
  return secret;
}

/**
 * A new access token for oneself; earlier ones end. A login that ends meanwhile leaves none behind. `lifeMs` may only
 * shorten its life.
 */
export async function issueAccessToken(
  deps: SessionDeps,
  { user, session }: Login,
  actor: Actor,
  lifeMs = deps.accounts.accessTokenMs,
  origin: Partial<LoginOrigin> = {},
): Promise<string> {
  const { store, now, randomBytes, accounts } = deps;
  const endsAfterMs = Math.min(lifeMs, accounts.accessTokenMs);
  const secret = `${ACCESS_TOKEN_PREFIX}${randomText(randomBytes)}`;
  const createdAtMs = now();
  const token: NewSession = {
    idHash: hashSecret(secret),
    userId: user.id,
    kind: 'access_token',
    createdAtMs,
    expiresAtMs: createdAtMs + endsAfterMs,
    endsAtMs: createdAtMs + endsAfterMs,
    ...origin,
  };
  if (!(await store.deriveSession(token, session.idHash))) {
    throw new GatewayError('unauthorized', 'The login has ended; log in again.');
  }
  await recordAudit(deps, actor, 'user.access_token', `user:${user.id}`);
  return secret;
}

/** Who holds this secret, if it is live and of that kind; using a session prolongs it. */
export async function findLogin(
  { store, now, accounts }: SessionDeps,
  secret: string,
  kind: Session['kind'],
): Promise<Login | undefined> {
  const nowMs = now();
  const session = await store.findSession(hashSecret(secret), nowMs, accounts.sessionIdleMs);
  if (session?.kind !== kind) return undefined;
  // Includes those made when the lifetime was longer.
  const isOld = nowMs >= session.createdAtMs + accounts.accessTokenMs;
  if (kind === 'access_token' && isOld) return undefined;
  const user = await store.getUser(session.userId, nowMs);
  return user === undefined ? undefined : { user, session };
}

/** Ends one login, or everything that the user is logged in with, access tokens included. */
export async function endLogin(
  { store }: Pick<ManagementDeps, 'store'>,
  { session, user }: Login,
  everywhere: boolean,
): Promise<void> {
  if (everywhere) await store.deleteUserSessions(user.id);
  else await store.deleteSession(session.idHash);
}

/** A login as its owner sees it. */
export interface ShownSession {
  readonly id: string;
  readonly session: Session;
  /** Whether it is the one making this request. */
  readonly current: boolean;
}

/** Everything that an account is logged in with, newest first; `asking` is the login that asks, if one does. */
export async function listLogins(
  { store, now }: Pick<ManagementDeps, 'store' | 'now'>,
  userId: number,
  asking?: Login,
): Promise<ShownSession[]> {
  const sessions = await store.listSessions(userId, now());
  return sessions.map((session) => ({
    id: shownId(session),
    session,
    current: session.idHash === asking?.session.idHash,
  }));
}

/** Ends a login by the id that it is listed under: one's own or, as an admin, that of somebody of a lower role. */
export async function endListed(
  deps: ManagementDeps,
  userId: number,
  id: string,
  actor: Actor,
): Promise<void> {
  await checkOwner(deps, userId, actor, 'login');
  const sessions = await deps.store.listSessions(userId, deps.now());
  const found = sessions.find((session) => shownId(session) === id);
  if (found === undefined || !(await deps.store.deleteSession(found.idHash))) {
    throw new GatewayError('not_found', `There is no login with id ${id}.`);
  }
  await recordAudit(deps, actor, 'user.end_login', `user:${userId}`, { kind: found.kind });
}

function shownId({ idHash }: Session): string {
  return idHash.slice(0, SHOWN_ID_CHARACTERS);
}

function randomText(randomBytes: ManagementDeps['randomBytes']): string {
  return Buffer.from(randomBytes(SECRET_BYTES)).toString('base64url');
}
