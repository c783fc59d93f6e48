import Joi from 'joi';
import { logIn } from '../../management/log-in.js';
import { endLogin, issueAccessToken } from '../../management/sessions.js';
import { accountNamed, sessionCookieHeader } from '../login.js';
import { defineOperation, Reply, type Operation } from '../operation.js';
import { USER, userView } from '../user-view.js';

interface LoginBody {
  username: string;
  password: string;
}

interface LogoutBody {
  everywhere: boolean;
}

const login = defineOperation({
  id: 'login',
  method: 'POST',
  path: '/api/user/login',
  area: 'sessions',
  summary: 'Log in with username (or address) and password',
  description: 'The session comes as a cookie. It lives as long as it is used, up to a bound.',
  access: 'public',
  body: Joi.object<LoginBody, true>({
    username: Joi.string().max(320).required(),
    password: Joi.string().max(1_024).required(),
  }),
  reply: USER,
  errors: ['unauthorized', 'user_disabled'],
  limit: { name: 'login', account: ({ body }) => accountNamed(body.username) },
  async handler({ deps, body, secure }) {
    const { user, secret } = await logIn(deps, body.username, body.password);
    const cookie = sessionCookieHeader(secret, secure, deps.accounts.sessionMaxMs);
    return new Reply(userView(user), { headers: { 'Set-Cookie': cookie } });
  },
});

const logout = defineOperation({
  id: 'logout',
  method: 'POST',
  path: '/api/user/logout',
  area: 'sessions',
  summary: 'End this login, or all of them',
  description: 'With `everywhere`, all sessions and access tokens of the account end.',
  access: 'login',
  body: Joi.object<LogoutBody, true>({ everywhere: Joi.boolean().default(false) }),
  async handler({ deps, login, body, secure }) {
    await endLogin(deps, login, body.everywhere);
    return new Reply(null, { headers: { 'Set-Cookie': sessionCookieHeader('', secure, 0) } });
  },
});

const logoutByLink = defineOperation({
  id: 'logoutByLink',
  method: 'GET',
  path: '/api/user/logout',
  area: 'sessions',
  summary: 'End this login, for clients that ask with GET',
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
  area: 'sessions',
  summary: 'Make a new access token; the one before ends',
  description:
    'For scripts: send it as `Authorization: Bearer`. It is shown this once and lives until it is replaced, or until the password changes.',
  access: 'login',
  idempotent: true,
  reply: Joi.string().required(),
  handler: ({ deps, login: current, actor }) => issueAccessToken(deps, current, actor),
});

export const SESSION_OPERATIONS: readonly Operation[] = [
  login,
  logout,
  logoutByLink,
  createAccessToken,
];
