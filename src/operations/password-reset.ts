import Joi from 'joi';
import { accountNamed } from '../management/attempts.js';
import { mailResetCode, mailResetTo, resetPassword } from '../management/password-reset.js';
import { requirePasswords } from '../management/sign-on.js';
import { ID_PARAMS } from '../shapes/lists.js';
import { defineOperation, inArea, Reply } from './operation.js';
import { REASON } from './reason.js';
import { EMAIL, PASSWORD } from './user-fields.js';
import { nullable, optional, shape } from '../shapes/shape.js';

const askReset = defineOperation({
  id: 'requestPasswordReset',
  method: 'GET',
  path: '/api/reset_password',
  summary: 'Have a one-time code mailed',
  description:
    'Gives the same answer, just as fast, whether or not the address belongs to an account.',
  access: 'public',
  unsafe: true,
  query: shape({ email: EMAIL }),
  errors: ['permission_denied'],
  limit: { name: 'reset-mail', account: ({ query }) => accountNamed(query.email) },
  handler({ deps, query, block }) {
    requirePasswords(deps);
    deps.later('the mail with a one-time code', () => mailResetCode(deps, query.email, block));
    return new Reply(null, {
      message: 'If the address belongs to an account, a code is on its way.',
    });
  },
});

const reset = defineOperation({
  id: 'resetPassword',
  method: 'POST',
  path: '/api/user/reset',
  summary: 'Set a password with a one-time code',
  description:
    'Ends all sessions and access tokens of the account. Without `password`, a strong one is made and returned in `data`. Wrong, expired and used codes get the same answer.',
  access: 'public',
  body: shape({
    email: EMAIL,
    token: Joi.string().max(256),
    password: optional(PASSWORD.empty('')),
  }),
  reply: nullable(Joi.string<string | null>()),
  errors: ['permission_denied'],
  limit: { name: 'reset', account: ({ body }) => accountNamed(body.email) },
  async handler({ deps, body, address }) {
    requirePasswords(deps);
    const { email, token: code, password } = body;
    return (await resetPassword(deps, { email, code, password }, address)) ?? null;
  },
});

const mailReset = defineOperation({
  id: 'mailPasswordReset',
  method: 'POST',
  path: '/api/user/:id/reset-mail',
  summary: 'Mail an account a code to set a new password',
  description:
    'Goes to the address of the account; its password stays until the code is used, within 24 hours. The mail has a link if `server.public_url` is set.',
  access: 'admin',
  params: ID_PARAMS,
  body: shape({ reason: REASON }),
  errors: ['permission_denied', 'not_found', 'conflict', 'rate_limited', 'upstream_error'],
  async handler({ deps, params, actor }) {
    requirePasswords(deps);
    await mailResetTo(deps, params.id, actor);
    return null;
  },
});

export const PASSWORD_RESET_OPERATIONS = inArea('users', [askReset, reset, mailReset]);
