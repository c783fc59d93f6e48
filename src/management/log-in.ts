import { GatewayError } from '../core/errors.js';
import type { User } from '../store/store.js';
import { hashPassword, needsRehash, verifyPassword } from './passwords.js';
import { hashSecret } from './secrets.js';
import { startSession, type SessionDeps } from './sessions.js';

export interface LoggedIn {
  readonly user: User;
  /** The session's secret, for the cookie. */
  readonly secret: string;
}

/** No user has this id. Asking for it keeps the work the same where there is no account. */
const NOBODY = 0;

/**
 * Begins a session for the right name (or address) and password. Unknown accounts cost and answer the same as wrong
 * passwords; that an account is disabled is told only to who knows its password.
 */
export async function logIn(deps: SessionDeps, login: string, password: string): Promise<LoggedIn> {
  const { store, now, randomBytes } = deps;
  const user = await store.findUser(login.trim(), now());
  const recorded = await store.getPasswordHash(user?.id ?? NOBODY);
  const matches = await verifyPassword(password, recorded);
  if (user === undefined || recorded === undefined || !matches) throw wrongLogin();
  if (!user.enabled) throw new GatewayError('user_disabled', 'The account is disabled.');
  let current = recorded;
  if (needsRehash(recorded)) {
    const passwordHash = await hashPassword(password, randomBytes);
    // Hashing takes a while, and a new password that was set meanwhile must stay.
    if ((await store.getPasswordHash(user.id)) === recorded) {
      await store.updateUser(user.id, { passwordHash }, now());
      current = passwordHash;
    }
  }
  const secret = await startSession(deps, user.id);
  // A new password ends all sessions; this one may have begun right after that, on the strength of the old one.
  if ((await store.getPasswordHash(user.id)) !== current) {
    await store.deleteSession(hashSecret(secret));
    throw wrongLogin();
  }
  return { user, secret };
}

function wrongLogin(): GatewayError {
  return new GatewayError('unauthorized', 'The username or the password is wrong.');
}
