import { GatewayError } from '../core/errors.js';
import type { Session, User } from '../store/store.js';
import type { AccountSettings } from './accounts.js';
import { recordAudit, type Actor, type ManagementDeps } from './audit.js';
import { hashSecret } from './secrets.js';

export interface SessionDeps extends ManagementDeps {
  readonly accounts: Pick<AccountSettings, 'sessionIdleMs' | 'sessionMaxMs'>;
}

/** Somebody who has shown a live session or access token. */
export interface Login {
  readonly user: User;
  readonly session: Session;
}

/** What access tokens begin with, so that they cannot be taken for API keys. */
const ACCESS_TOKEN_PREFIX = 'at-';

const SECRET_BYTES = 32;
/** Access tokens live until they are revoked: a century, which every store can keep as a date. */
const ACCESS_TOKEN_MS = 100 * 365 * 24 * 60 * 60 * 1000;

/** Begins a login. The secret that is returned goes into the cookie; only its hash is kept. */
export async function startSession(
  { store, now, randomBytes, accounts }: SessionDeps,
  userId: number,
): Promise<string> {
  const secret = randomText(randomBytes);
  const createdAtMs = now();
  await store.createSession({
    idHash: hashSecret(secret),
    userId,
    kind: 'session',
    createdAtMs,
    expiresAtMs: createdAtMs + Math.min(accounts.sessionIdleMs, accounts.sessionMaxMs),
    endsAtMs: createdAtMs + accounts.sessionMaxMs,
  });
  return secret;
}

/** A new access token for oneself; those made before end. A login that ends meanwhile leaves none behind. */
export async function issueAccessToken(
  deps: ManagementDeps,
  { user, session }: Login,
  actor: Actor,
): Promise<string> {
  const { store, now, randomBytes } = deps;
  const secret = `${ACCESS_TOKEN_PREFIX}${randomText(randomBytes)}`;
  const createdAtMs = now();
  const token: Session = {
    idHash: hashSecret(secret),
    userId: user.id,
    kind: 'access_token',
    createdAtMs,
    expiresAtMs: createdAtMs + ACCESS_TOKEN_MS,
    endsAtMs: createdAtMs + ACCESS_TOKEN_MS,
  };
  if (!(await store.deriveSession(token, session.idHash))) {
    throw new GatewayError('unauthorized', 'The login is over; log in again.');
  }
  await recordAudit(deps, actor, 'user.access_token', `user:${user.id}`);
  return secret;
}

/** Who bears this secret, if it lives and is of that kind; using a session prolongs it. */
export async function findLogin(
  { store, now, accounts }: SessionDeps,
  secret: string,
  kind: Session['kind'],
): Promise<Login | undefined> {
  const nowMs = now();
  const session = await store.findSession(hashSecret(secret), nowMs, accounts.sessionIdleMs);
  if (session?.kind !== kind) return undefined;
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

function randomText(randomBytes: ManagementDeps['randomBytes']): string {
  return Buffer.from(randomBytes(SECRET_BYTES)).toString('base64url');
}
