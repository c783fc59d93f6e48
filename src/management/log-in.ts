import { GatewayError } from '../core/errors.js';
import type { User } from '../store/store.js';
import { hashPassword, needsRehash, verifyPassword } from './passwords.js';
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
  if (user === undefined || recorded === undefined || !matches) {
    throw new GatewayError('unauthorized', 'The username or the password is wrong.');
  }
  if (!user.enabled) throw new GatewayError('user_disabled', 'The account is disabled.');
  if (needsRehash(recorded)) {
    const passwordHash = await hashPassword(password, randomBytes);
    await store.updateUser(user.id, { passwordHash }, now());
  }
  return { user, secret: await startSession(deps, user.id) };
}
