import Joi from 'joi';
import { confirmAddress, mailAddressCode } from '../../management/address-codes.js';
import { accountNamed } from '../../management/attempts.js';
import { invalid } from '../../management/fields.js';
import { logIn } from '../../management/log-in.js';
import {
  inviteUser,
  mailResetCode,
  mailResetTo,
  resetPassword,
} from '../../management/password-reset.js';
import { redeemCode } from '../../management/redeem.js';
import {
  createUser,
  deleteSelf,
  deleteUser,
  getUser,
  listUsers,
  registerUser,
  updateSelf,
  updateUser,
  type UserEdit,
  type WithNewAddress,
} from '../../management/users.js';
import { BUDGET_MEMBERS } from '../../core/budget.js';
import { MAX_QUOTA } from '../../core/quota.js';
import type { QuotaChange, Role } from '../../store/store.js';
import {
  ID,
  ID_PARAMS,
  IF_REVISION,
  LIST_QUERY,
  listOf,
  listReply,
  sliceOf,
  type ListQuery,
  type ListReply,
} from '../../wire/lists.js';
import { bodyMembers, readMembers, type MembersWire } from '../../wire/members.js';
import {
  QUOTA,
  ROLE,
  STATUS,
  USER,
  USER_OR_NULL,
  userWire,
  type UserWire,
} from '../../wire/user.js';
import { sessionCookieHeader } from '../login.js';
import { defineOperation, Reply, type Operation, type OperationDeps } from '../operation.js';
import { because, REASON, REASON_QUERY } from '../reason.js';

interface RegisterBody {
  username: string;
  password: string;
  email?: string;
  display_name?: string;
}

interface SelfBody {
  username?: string;
  display_name?: string;
  email?: string;
  password?: string;
  original_password?: string;
}

interface TopUpBody {
  key: string;
}

interface ConfirmBody {
  token: string;
}

interface ResetQuery {
  email: string;
}

interface ResetBody {
  email: string;
  token: string;
  password?: string;
}

interface FilterQuery extends ListQuery {
  role?: Role;
  status?: 1 | 2;
}

interface SearchQuery extends FilterQuery {
  keyword?: string;
}

type BudgetBody = Partial<MembersWire<typeof BUDGET_MEMBERS>>;

interface CreateBody extends RegisterBody, BudgetBody {
  role: Role;
  status: 1 | 2;
  quota: number;
  reason?: string;
}

interface InviteBody extends BudgetBody {
  username: string;
  email: string;
  display_name?: string;
  role: Role;
  quota: number;
  reason?: string;
}

interface MailResetBody {
  reason?: string;
}

interface UpdateBody extends BudgetBody {
  id: number;
  if_revision?: string;
  username?: string;
  password?: string;
  email?: string;
  display_name?: string;
  role?: Role;
  status?: 1 | 2;
  quota?: number;
  add_quota?: number;
  reason?: string;
}

interface ManageBody {
  id: number;
  action: 'enable' | 'disable' | 'delete' | 'promote' | 'demote' | 'add_quota';
  mode: 'add' | 'subtract' | 'override';
  value?: number;
  reason?: string;
}

// The domain decides how long a name may be; these bounds keep absurd ones away from it.
const USERNAME = Joi.string().max(320);
const PASSWORD = Joi.string().max(1_024);
const EMAIL = Joi.string().max(320);
const DISPLAY_NAME = Joi.string().max(1_024);
/** Clients send empty texts for members that they leave unchanged. */
const KEEP = Joi.string().max(1_024).empty('');

const FILTER = { ...LIST_QUERY, role: ROLE.empty(''), status: STATUS.empty('') };

const register = defineOperation({
  id: 'register',
  method: 'POST',
  path: '/api/user/register',
  area: 'users',
  summary: 'Make an account for yourself',
  description:
    'If `accounts.registration` allows it. An `email` counts once it is confirmed with the code mailed to it; the answer does not reveal whether another account has it.',
  access: 'public',
  body: Joi.object<RegisterBody, true>({
    username: USERNAME.required(),
    password: PASSWORD.required(),
    email: EMAIL.empty(''),
    display_name: DISPLAY_NAME.empty(''),
  }),
  reply: USER,
  errors: ['permission_denied', 'conflict'],
  limit: { name: 'register', account: ({ body }) => accountNamed(body.username) },
  async handler({ deps, body, address }) {
    const { username, password, email, display_name: displayName } = body;
    const registration = { username, password, email, displayName };
    return withNewAddress(deps, await registerUser(deps, registration, address));
  },
});

const getSelf = defineOperation({
  id: 'getSelf',
  method: 'GET',
  path: '/api/user/self',
  area: 'users',
  summary: 'Your own account',
  access: 'login',
  reply: USER,
  handler: ({ deps, login }) => userWire(deps.now())(login.user),
});

const putSelf = defineOperation({
  id: 'updateSelf',
  method: 'PUT',
  path: '/api/user/self',
  area: 'users',
  summary: 'Change your own account',
  description:
    'Absent members stay as they are. A new password or address requires `original_password`; an address counts once it is confirmed. A new password ends all sessions and access tokens; a browser that changed it gets a new session.',
  access: 'login',
  body: Joi.object<SelfBody, true>({
    username: KEEP,
    display_name: KEEP,
    email: EMAIL.allow('').description('Empty: removes the address.'),
    password: PASSWORD.empty(''),
    original_password: PASSWORD.allow(''),
  }),
  reply: USER,
  errors: ['permission_denied', 'conflict'],
  limit: { name: 'self', account: ({ login }) => String(login.user.id) },
  async handler({ deps, body, login, actor, block, secure }) {
    const { username, display_name: displayName, password, original_password } = body;
    const email = body.email === '' ? null : body.email;
    const edit = { username, displayName, password, email, originalPassword: original_password };
    const changed = await updateSelf(deps, login.user, edit, actor);
    const { user } = changed;
    const reply = withNewAddress(deps, changed);
    if (password === undefined || login.session.kind !== 'session') return reply;
    const { secret } = await logIn(deps, user.username, password, block);
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
  area: 'users',
  summary: 'Confirm your address with the code mailed to it',
  access: 'login',
  body: Joi.object<ConfirmBody, true>({ token: Joi.string().max(256).required() }),
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
  area: 'users',
  summary: 'Delete your own account and its keys',
  access: 'login',
  errors: ['permission_denied'],
  async handler({ deps, login, actor, secure }) {
    await deleteSelf(deps, login.user, actor);
    return new Reply(null, { headers: { 'Set-Cookie': sessionCookieHeader('', secure, 0) } });
  },
});

const topUp = defineOperation({
  id: 'topUp',
  method: 'POST',
  path: '/api/user/topup',
  area: 'users',
  summary: 'Redeem a code',
  description: 'Answers with the quota that was added.',
  access: 'login',
  body: Joi.object<TopUpBody, true>({ key: Joi.string().max(256).required() }),
  reply: QUOTA.required(),
  errors: ['conflict'],
  idempotent: true,
  limit: { name: 'topup', account: ({ login }) => String(login.user.id) },
  handler: ({ deps, body, actor }) => redeemCode(deps, body.key, actor),
});

const askReset = defineOperation({
  id: 'requestPasswordReset',
  method: 'GET',
  path: '/api/reset_password',
  area: 'users',
  summary: 'Have a one-time code mailed',
  description:
    'Gives the same answer, just as fast, whether or not the address belongs to an account.',
  access: 'public',
  unsafe: true,
  query: Joi.object<ResetQuery, true>({ email: EMAIL.required() }),
  limit: { name: 'reset-mail', account: ({ query }) => accountNamed(query.email) },
  handler({ deps, query, block }) {
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
  area: 'users',
  summary: 'Set a password with a one-time code',
  description:
    'Ends all sessions and access tokens of the account. Without `password`, a strong one is made and returned in `data`. Wrong, expired and used codes get the same answer.',
  access: 'public',
  body: Joi.object<ResetBody, true>({
    email: EMAIL.required(),
    token: Joi.string().max(256).required(),
    password: PASSWORD.empty(''),
  }),
  reply: Joi.string<string | null>().allow(null).required(),
  limit: { name: 'reset', account: ({ body }) => accountNamed(body.email) },
  async handler({ deps, body, address }) {
    const { email, token: code, password } = body;
    return (await resetPassword(deps, { email, code, password }, address)) ?? null;
  },
});

const list = defineOperation({
  id: 'listUsers',
  method: 'GET',
  path: '/api/user',
  area: 'users',
  summary: 'All accounts, newest first',
  access: 'auditor',
  query: Joi.object<FilterQuery, true>(FILTER),
  reply: listOf(USER),
  handler: ({ deps, query }) => listed(deps, query),
});

const search = defineOperation({
  id: 'searchUsers',
  method: 'GET',
  path: '/api/user/search',
  area: 'users',
  summary: 'Accounts by part of a name or address, or by id',
  access: 'auditor',
  query: Joi.object<SearchQuery, true>({ ...FILTER, keyword: Joi.string().max(256).empty('') }),
  reply: listOf(USER),
  handler: ({ deps, query }) => listed(deps, query),
});

async function listed(deps: OperationDeps, query: SearchQuery): Promise<ListReply<UserWire>> {
  const { keyword, role, status } = query;
  const found = await listUsers(deps, {
    ...sliceOf(query),
    ...(keyword === undefined ? {} : { keyword }),
    ...(role === undefined ? {} : { role }),
    ...(status === undefined ? {} : { enabled: status === 1 }),
  });
  return listReply(found, query, userWire(deps.now()));
}

const get = defineOperation({
  id: 'getUser',
  method: 'GET',
  path: '/api/user/:id',
  area: 'users',
  summary: 'One account',
  access: 'auditor',
  params: ID_PARAMS,
  reply: USER,
  errors: ['not_found'],
  handler: async ({ deps, params }) => userWire(deps.now())(await getUser(deps, params.id)),
});

const create = defineOperation({
  id: 'createUser',
  method: 'POST',
  path: '/api/user',
  area: 'users',
  summary: 'Make an account',
  description: 'Its role must be below your own.',
  access: 'admin',
  body: Joi.object<CreateBody, true>({
    username: USERNAME.required(),
    password: PASSWORD.required(),
    email: EMAIL.empty(''),
    display_name: DISPLAY_NAME.empty(''),
    role: ROLE.default(1),
    status: STATUS.default(1),
    quota: QUOTA.default(0),
    ...bodyMembers(BUDGET_MEMBERS),
    reason: REASON,
  }),
  reply: USER,
  errors: ['permission_denied', 'conflict'],
  idempotent: true,
  async handler({ deps, body, actor }) {
    const { username, password, email, display_name: displayName, role, status, quota } = body;
    const draft = {
      ...{ username, password, email, displayName, role, enabled: status === 1, quota },
      ...readMembers(BUDGET_MEMBERS, body),
    };
    return userWire(deps.now())(await createUser(deps, draft, because(actor, body.reason)));
  },
});

const invite = defineOperation({
  id: 'inviteUser',
  method: 'POST',
  path: '/api/user/invite',
  area: 'users',
  summary: 'Make an account, and mail its owner a code to set a password',
  description:
    'Until then nobody knows a password for it. The code is good for 24 hours; the mail has a link if `server.public_url` is set. If the mail cannot be sent, the answer is 502, but the account exists: `mailPasswordReset` sends another.',
  access: 'admin',
  body: Joi.object<InviteBody, true>({
    username: USERNAME.required(),
    email: EMAIL.required(),
    display_name: DISPLAY_NAME.empty(''),
    role: ROLE.default(1),
    quota: QUOTA.default(0),
    ...bodyMembers(BUDGET_MEMBERS),
    reason: REASON,
  }),
  reply: USER,
  errors: ['permission_denied', 'conflict', 'upstream_error'],
  idempotent: true,
  async handler({ deps, body, actor }) {
    const { username, email, display_name: displayName, role, quota } = body;
    const invitation = {
      ...{ username, email, displayName, role, quota },
      ...readMembers(BUDGET_MEMBERS, body),
    };
    return userWire(deps.now())(await inviteUser(deps, invitation, because(actor, body.reason)));
  },
});

const mailReset = defineOperation({
  id: 'mailPasswordReset',
  method: 'POST',
  path: '/api/user/:id/reset-mail',
  area: 'users',
  summary: 'Mail an account a code to set a new password',
  description:
    'Goes to the address of the account; its password stays until the code is used, within 24 hours. The mail has a link if `server.public_url` is set.',
  access: 'admin',
  params: ID_PARAMS,
  body: Joi.object<MailResetBody, true>({ reason: REASON }),
  errors: ['permission_denied', 'not_found', 'conflict', 'rate_limited', 'upstream_error'],
  async handler({ deps, params, body, actor }) {
    await mailResetTo(deps, params.id, because(actor, body.reason));
    return null;
  },
});

const update = defineOperation({
  id: 'updateUser',
  method: 'PUT',
  path: '/api/user',
  area: 'users',
  summary: 'Change an account',
  description:
    'Absent members stay as they are. `quota` sets the balance, `add_quota` moves it, both atomically against running traffic. Nobody acts on an equal or higher role. Disabling, and a new password, end all logins of the account.',
  access: 'admin',
  body: Joi.object<UpdateBody, true>({
    id: ID.required(),
    username: KEEP,
    password: PASSWORD.empty(''),
    email: EMAIL.allow('').description('Empty: removes the address.'),
    display_name: KEEP,
    role: ROLE,
    status: STATUS,
    quota: QUOTA,
    add_quota: Joi.number().integer().min(-MAX_QUOTA).max(MAX_QUOTA),
    ...bodyMembers(BUDGET_MEMBERS),
    if_revision: IF_REVISION,
    reason: REASON,
  }).oxor('quota', 'add_quota'),
  reply: USER,
  errors: ['permission_denied', 'not_found', 'conflict'],
  async handler({ deps, body, actor }) {
    const { id, username, password, display_name: displayName, role, status } = body;
    const edit: UserEdit = {
      ...{ username, password, displayName, role },
      email: body.email === '' ? null : body.email,
      enabled: status === undefined ? undefined : status === 1,
      quota: quotaChange(body),
      ...readMembers(BUDGET_MEMBERS, body),
    };
    const updated = await updateUser(deps, id, edit, because(actor, body.reason), body.if_revision);
    return userWire(deps.now())(updated);
  },
});

const remove = defineOperation({
  id: 'deleteUser',
  method: 'DELETE',
  path: '/api/user/:id',
  area: 'users',
  summary: 'Delete an account, with its keys',
  access: 'admin',
  params: ID_PARAMS,
  query: REASON_QUERY,
  errors: ['permission_denied', 'not_found'],
  async handler({ deps, params, query, actor }) {
    await deleteUser(deps, params.id, because(actor, query.reason));
    return null;
  },
});

const manage = defineOperation({
  id: 'manageUser',
  method: 'POST',
  path: '/api/user/manage',
  area: 'users',
  summary: 'Enable, disable, promote, demote or delete an account, or move its quota',
  description:
    'Promoting makes the account an admin; only root may do so. `add_quota` takes `value` and a `mode`. Answers with the account, or null once it is deleted.',
  access: 'admin',
  body: Joi.object<ManageBody, true>({
    id: ID.required(),
    action: Joi.string()
      .valid('enable', 'disable', 'delete', 'promote', 'demote', 'add_quota')
      .required(),
    mode: Joi.string().valid('add', 'subtract', 'override').default('add'),
    value: QUOTA,
    reason: REASON,
  }),
  reply: USER_OR_NULL,
  errors: ['permission_denied', 'not_found', 'conflict'],
  idempotent: true,
  async handler({ deps, body, actor }) {
    const manager = because(actor, body.reason);
    if (body.action === 'delete') {
      await deleteUser(deps, body.id, manager);
      return null;
    }
    return userWire(deps.now())(await updateUser(deps, body.id, managedEdit(body), manager));
  },
});

function managedEdit({ action, mode, value }: ManageBody): UserEdit {
  switch (action) {
    case 'enable':
      return { enabled: true };
    case 'disable':
      return { enabled: false };
    case 'promote':
      return { role: 10 };
    case 'demote':
      return { role: 1 };
    case 'add_quota':
      if (value === undefined) throw invalid('value', 'value is required: how much quota.');
      if (mode === 'override') return { quota: { set: value } };
      return { quota: { add: mode === 'add' ? value : -value } };
    case 'delete':
      return {};
  }
}

function quotaChange({ quota, add_quota: added }: UpdateBody): QuotaChange | undefined {
  if (quota !== undefined) return { set: quota };
  return added === undefined ? undefined : { add: added };
}

export const USER_OPERATIONS: readonly Operation[] = [
  ...[register, getSelf, putSelf, confirmEmail, removeSelf, topUp, askReset, reset],
  ...[list, search, get, create, invite, mailReset, update, remove, manage],
];
