import Joi from 'joi';
import { confirmAddress, mailAddressCode } from '../management/address-codes.js';
import { accountNamed } from '../management/attempts.js';
import { logIn } from '../management/log-in.js';
import { redeemCode } from '../management/redeem.js';
import { requirePasswords } from '../management/sign-on.js';
import { registerUser, removeUser, updateSelf, type WithNewAddress } from '../management/users.js';
import { QUOTA, USER, userWire, type UserWire } from '../shapes/user.js';
import { sessionCookieHeader } from './session-cookie.js';
import { defineOperation, inArea, Reply, type OperationDeps } from './operation.js';
import { DISPLAY_NAME, EMAIL, KEEP, PASSWORD, USERNAME } from './user-fields.js';
import { partial, shape } from '../shapes/shape.js';

const register = defineOperation({
  id: 'register',
  method: 'POST',
  path: '/api/user/register',
  summary: 'Make an account for yourself',
  description:
    'If `accounts.registration` allows it. An `email` counts once it is confirmed with the code mailed to it; the answer does not reveal whether another account has it.',
  access: 'public',
  body: shape({
    username: USERNAME,
    password: PASSWORD,
    ...partial({ email: EMAIL.empty(''), display_name: DISPLAY_NAME.empty('') }),
  }),
  reply: USER,
  errors: ['permission_denied', 'conflict'],
  limit: { name: 'register', account: ({ body }) => accountNamed(body.username) },
  async handler({ deps, body, address }) {
    requirePasswords(deps);
    const { username, password, email, display_name: displayName } = body;
    const registration = { username, password, email, displayName };
    return withNewAddress(deps, await registerUser(deps, registration, address));
  },
});

const getSelf = defineOperation({
  id: 'getSelf',
  method: 'GET',
  path: '/api/user/self',
  summary: 'Your own account',
  access: 'login',
  reply: USER,
  handler: ({ deps, login }) => userWire(deps.now())(login.user),
});

const putSelf = defineOperation({
  id: 'updateSelf',
  method: 'PUT',
  path: '/api/user/self',
  summary: 'Change your own account',
  description:
    'Absent members stay as they are. A new password or address requires `original_password`; an address counts once it is confirmed. A new password ends all sessions and access tokens; a browser that changed it gets a new session.',
  access: 'login',
  body: shape(
    partial({
      username: KEEP,
      display_name: KEEP,
      email: EMAIL.allow('').description('Empty: removes the address.'),
      password: PASSWORD.empty(''),
      original_password: PASSWORD.allow(''),
    }),
  ),
  reply: USER,
  errors: ['permission_denied', 'conflict'],
  limit: { name: 'self', account: ({ login }) => String(login.user.id) },
  async handler({ deps, body, login, actor, address, agent, block, secure }) {
    const { username, display_name: displayName, password, original_password } = body;
    const email = body.email === '' ? null : body.email;
    const edit = { username, displayName, password, email, originalPassword: original_password };
    const changed = await updateSelf(deps, login.user, edit, actor);
    const { user } = changed;
    const reply = withNewAddress(deps, changed);
    if (password === undefined || login.session.kind !== 'session') return reply;
    const { secret } = await logIn(deps, user.username, password, block, { address, agent });
    const cookie = sessionCookieHeader(secret, secure, deps.accounts.sessionMaxMs);
    return new Reply(reply.data, { ...reply.extras, headers: { 'Set-Cookie': cookie } });
  },
});

/** Answers with the account as it is now, and mails the code for an address that is to be confirmed. */
function withNewAddress(
  deps: OperationDeps,
  { user, unconfirmed }: WithNewAddress,
): Reply<UserWire> {
  if (unconfirmed === undefined) return new Reply(userWire(deps.now())(user));
  deps.later('the mail that confirms an address', () => mailAddressCode(deps, user, unconfirmed));
  return new Reply(userWire(deps.now())(user), {
    message: 'The address counts once it is confirmed with the code that is on its way to it.',
  });
}

const confirmEmail = defineOperation({
  id: 'confirmEmail',
  method: 'POST',
  path: '/api/user/email/confirm',
  summary: 'Confirm your address with the code mailed to it',
  access: 'login',
  body: shape({ token: Joi.string().max(256) }),
  reply: USER,
  errors: ['conflict'],
  limit: { name: 'confirm', account: ({ login }) => String(login.user.id) },
  handler: async ({ deps, body, login, actor }) =>
    userWire(deps.now())(await confirmAddress(deps, login.user, body.token, actor)),
});

const removeSelf = defineOperation({
  id: 'deleteSelf',
  method: 'DELETE',
  path: '/api/user/self',
  summary: 'Delete your own account and its keys',
  access: 'login',
  errors: ['permission_denied'],
  async handler({ deps, login, actor, secure }) {
    await removeUser(deps, login.user, actor);
    return new Reply(null, { headers: { 'Set-Cookie': sessionCookieHeader('', secure, 0) } });
  },
});

const topUp = defineOperation({
  id: 'topUp',
  method: 'POST',
  path: '/api/user/topup',
  summary: 'Redeem a code',
  description: 'Answers with the quota that was added.',
  access: 'login',
  body: shape({ key: Joi.string().max(256) }),
  reply: QUOTA,
  errors: ['conflict'],
  idempotent: true,
  limit: { name: 'topup', account: ({ login }) => String(login.user.id) },
  handler: ({ deps, body, actor }) => redeemCode(deps, body.key, actor),
});

export const OWN_ACCOUNT_OPERATIONS = inArea('users', [
  register,
  getSelf,
  putSelf,
  confirmEmail,
  removeSelf,
  topUp,
]);
