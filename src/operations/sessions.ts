import Joi from 'joi';
import { accountNamed } from '../management/attempts.js';
import { GatewayError, type ErrorCode } from '../core/errors.js';
import { logIn, newPlaceEvent, noteFailedLogin, noteLogin } from '../management/log-in.js';
import { endListed, endLogin, issueAccessToken, listLogins } from '../management/sessions.js';
import { requirePasswords } from '../management/sign-on.js';
import { getUser } from '../management/users.js';
import { ID, ID_PARAMS } from '../shapes/lists.js';
import { SESSION, sessionWire } from '../shapes/session.js';
import { USER, userWire } from '../shapes/user.js';
import { sessionCookieHeader } from './session-cookie.js';
import { defineOperation, inArea, Reply } from './operation.js';
import { REASON_QUERY } from './reason.js';
import { arrayOf, optional, shape } from '../shapes/shape.js';

/** Login failures that say something about the person; repeated refusals to wait are not noted again. */
const NOTED: ReadonlySet<string> = new Set<ErrorCode>(['unauthorized', 'user_disabled']);

const login = defineOperation({
  id: 'login',
  method: 'POST',
  path: '/api/user/login',
  summary: 'Log in with username (or address) and password',
  description: 'The session is a cookie. It lasts as long as it is used, up to a maximum.',
  access: 'public',
  body: shape({ username: Joi.string().max(320), password: Joi.string().max(1_024) }),
  reply: USER,
  errors: ['unauthorized', 'user_disabled', 'permission_denied'],
  limit: { name: 'login', account: ({ body }) => accountNamed(body.username) },
  async handler({ deps, body, address, agent, block, secure }) {
    requirePasswords(deps);
    const { username, password } = body;
    const origin = { address, agent };
    const { user, secret, isNewPlace } = await logIn(deps, username, password, block, origin).catch(
      (error: unknown) => {
        const code = error instanceof GatewayError ? error.code : 'internal_error';
        const note = () => noteFailedLogin(deps, username, code, address);
        if (NOTED.has(code)) deps.later('to note a failed login', note);
        throw error;
      },
    );
    if (isNewPlace) deps.alerting.deliver(newPlaceEvent(user, address, block, deps.now()));
    deps.later('to note a login', () => noteLogin(deps, user, 'user.login', address));
    const cookie = sessionCookieHeader(secret, secure, deps.accounts.sessionMaxMs);
    return new Reply(userWire(deps.now())(user), { headers: { 'Set-Cookie': cookie } });
  },
});

const logout = defineOperation({
  id: 'logout',
  method: 'POST',
  path: '/api/user/logout',
  summary: 'End this login, or all of them',
  description: 'With `everywhere`, all sessions and access tokens of the account end.',
  access: 'login',
  body: shape({ everywhere: Joi.boolean().default(false) }),
  async handler({ deps, login, body, secure }) {
    await endLogin(deps, login, body.everywhere);
    return new Reply(null, { headers: { 'Set-Cookie': sessionCookieHeader('', secure, 0) } });
  },
});

const logoutByLink = defineOperation({
  id: 'logoutByLink',
  method: 'GET',
  path: '/api/user/logout',
  summary: 'End this login, for clients that send GET',
  access: 'login',
  unsafe: true,
  async handler({ deps, login, secure }) {
    await endLogin(deps, login, false);
    return new Reply(null, { headers: { 'Set-Cookie': sessionCookieHeader('', secure, 0) } });
  },
});

const createAccessToken = defineOperation({
  id: 'createAccessToken',
  method: 'POST',
  path: '/api/user/token',
  summary: 'Make a new access token; the previous one ends',
  description:
    'For scripts: send it as `Authorization: Bearer`. It is not shown again, and is valid until it is replaced, the password changes, or its time is up: `expires_in` seconds, at most `accounts.access_token_ms`.',
  access: 'login',
  idempotent: true,
  body: shape({ expires_in: optional(Joi.number().integer().min(60)) }),
  reply: Joi.string(),
  handler: ({ deps, login: current, actor, body, address, agent }) =>
    issueAccessToken(
      deps,
      current,
      actor,
      body.expires_in === undefined ? undefined : body.expires_in * 1_000,
      { address, agent },
    ),
});

const SESSIONS = arrayOf(SESSION);

const list = defineOperation({
  id: 'listSessions',
  method: 'GET',
  path: '/api/user/session',
  summary: 'Your logins: sessions and access tokens, newest first',
  access: 'login',
  reply: SESSIONS,
  handler: async ({ deps, login: asking }) =>
    (await listLogins(deps, asking.user.id, asking)).map(sessionWire),
});

const listOfUser = defineOperation({
  id: 'listUserSessions',
  method: 'GET',
  path: '/api/user/:id/session',
  summary: 'The logins of an account, newest first',
  description:
    'The audit log has the logins, with time and address, and the failed ones: `user.login` and `user.login_failed`.',
  access: 'auditor',
  params: ID_PARAMS,
  reply: SESSIONS,
  errors: ['not_found'],
  async handler({ deps, params, login: asking }) {
    await getUser(deps, params.id);
    return (await listLogins(deps, params.id, asking)).map(sessionWire);
  },
});

const end = defineOperation({
  id: 'endSession',
  method: 'DELETE',
  path: '/api/user/session/:id',
  summary: 'End one of your own sessions or access tokens',
  access: 'login',
  params: shape({ id: Joi.string().max(64) }),
  errors: ['not_found'],
  async handler({ deps, login: asking, params, actor }) {
    await endListed(deps, asking.user.id, params.id, actor);
    return null;
  },
});

const endOfUser = defineOperation({
  id: 'endUserSession',
  method: 'DELETE',
  path: '/api/user/:id/session/:session',
  summary: 'End a session or access token of an account with a lower role',
  access: 'admin',
  params: shape({ id: ID, session: Joi.string().max(64) }),
  query: REASON_QUERY,
  errors: ['permission_denied', 'not_found'],
  async handler({ deps, params, actor }) {
    await endListed(deps, params.id, params.session, actor);
    return null;
  },
});

export const SESSION_OPERATIONS = inArea('sessions', [
  login,
  logout,
  logoutByLink,
  createAccessToken,
  list,
  end,
  listOfUser,
  endOfUser,
]);
