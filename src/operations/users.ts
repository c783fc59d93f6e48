import Joi from 'joi';
import { inviteUser } from '../management/password-reset.js';
import {
  adminNames,
  createUser,
  deleteUser,
  getUser,
  updateUser,
  type UserEdit,
} from '../management/users.js';
import { ACCOUNT_MEMBERS } from '../core/labels.js';
import { MAX_QUOTA } from '../core/quota.js';
import type { QuotaChange } from '../store/store.js';
import {
  ID,
  LABEL,
  ID_PARAMS,
  IF_REVISION,
  KEYWORD,
  LIST_QUERY,
  listOf,
  listReply,
  orderOf,
  sliceOf,
  sortOf,
  type ListQuery,
  type ListReply,
} from '../shapes/lists.js';
import { bodyMembers, readMembers } from '../shapes/members.js';
import { QUOTA, ROLE, STATUS, USER, USER_SORTS, userWire, type UserWire } from '../shapes/user.js';
import { defineOperation, inArea, type OperationDeps } from './operation.js';
import { orPresent } from './present.js';
import { REASON, REASON_QUERY } from './reason.js';
import { DISPLAY_NAME, EMAIL, KEEP, PASSWORD, USERNAME } from './user-fields.js';
import {
  arrayOf,
  optional,
  partial,
  recordOf,
  shape,
  type ObjectOf,
  type Of,
} from '../shapes/shape.js';

const FILTERS = partial({
  role: ROLE.empty(''),
  status: STATUS.empty(''),
  label: LABEL.description('Those that have it: `team`, or `team=search`.'),
  sort: sortOf(USER_SORTS, 'newest first'),
});
const SEARCHED = { ...FILTERS, keyword: KEYWORD };

const list = defineOperation({
  id: 'listUsers',
  method: 'GET',
  path: '/api/user',
  summary: 'All accounts',
  access: 'auditor',
  query: shape({ ...LIST_QUERY, ...FILTERS }),
  reply: listOf(USER),
  handler: ({ deps, query }) => listed(deps, query),
});

const search = defineOperation({
  id: 'searchUsers',
  method: 'GET',
  path: '/api/user/search',
  summary: 'Search accounts by part of a name or address, or by id',
  access: 'auditor',
  query: shape({ ...LIST_QUERY, ...SEARCHED }),
  reply: listOf(USER),
  handler: ({ deps, query }) => listed(deps, query),
});

async function listed(
  deps: OperationDeps,
  query: ListQuery & ObjectOf<typeof SEARCHED>,
): Promise<ListReply<UserWire>> {
  const { sort, status, ...wanted } = recordOf(SEARCHED, query);
  const filter = {
    ...sliceOf(query),
    ...wanted,
    ...(status === undefined ? {} : { enabled: status === 1 }),
    ...orderOf(USER_SORTS, sort),
  };
  const found = await deps.store.listUsers(filter, deps.now());
  return listReply(found, query, userWire(deps.now()));
}

const listAdmins = defineOperation({
  id: 'listAdmins',
  method: 'GET',
  path: '/api/user/admins',
  summary: 'Whom to ask for what only admins may do',
  description:
    'The display names of up to five admins, or the names of those without one. If everybody may register, nobody is named.',
  access: 'login',
  reply: arrayOf(Joi.string()),
  handler: ({ deps }) => (deps.accounts.registration ? [] : adminNames(deps)),
});

const get = defineOperation({
  id: 'getUser',
  method: 'GET',
  path: '/api/user/:id',
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
  summary: 'Make an account',
  description: 'Its role must be below your own.',
  access: 'admin',
  body: shape({
    username: USERNAME,
    password: PASSWORD,
    ...partial({ email: EMAIL.empty(''), display_name: DISPLAY_NAME.empty('') }),
    role: ROLE.default(1),
    status: STATUS.default(1),
    quota: QUOTA.default(0),
    ...bodyMembers(ACCOUNT_MEMBERS),
    reason: REASON,
  }),
  reply: USER,
  errors: ['permission_denied', 'conflict'],
  idempotent: true,
  async handler({ deps, body, actor }) {
    const { username, password, email, display_name: displayName, role, status, quota } = body;
    const draft = {
      ...{ username, password, email, displayName, role, enabled: status === 1, quota },
      ...readMembers(ACCOUNT_MEMBERS, body),
    };
    return userWire(deps.now())(await createUser(deps, draft, actor));
  },
});

const invite = defineOperation({
  id: 'inviteUser',
  method: 'POST',
  path: '/api/user/invite',
  summary: 'Make an account, and mail its owner a code to set a password',
  description:
    'Until then nobody knows a password for it. The code is good for 24 hours; the mail has a link if `server.public_url` is set. If the mail cannot be sent, the answer is 502, but the account exists: `mailPasswordReset` sends another.',
  access: 'admin',
  body: shape({
    username: USERNAME,
    email: EMAIL,
    display_name: optional(DISPLAY_NAME.empty('')),
    role: ROLE.default(1),
    quota: QUOTA.default(0),
    ...bodyMembers(ACCOUNT_MEMBERS),
    reason: REASON,
  }),
  reply: USER,
  errors: ['permission_denied', 'conflict', 'upstream_error'],
  idempotent: true,
  async handler({ deps, body, actor }) {
    const { username, email, display_name: displayName, role, quota } = body;
    const invitation = {
      ...{ username, email, displayName, role, quota },
      ...readMembers(ACCOUNT_MEMBERS, body),
    };
    return userWire(deps.now())(await inviteUser(deps, invitation, actor));
  },
});

const UPDATE_BODY = shape({
  id: ID,
  ...partial({
    username: KEEP,
    password: PASSWORD.empty(''),
    email: EMAIL.allow('').description('Empty: removes the address.'),
    display_name: KEEP,
    role: ROLE,
    status: STATUS,
    quota: QUOTA,
    add_quota: Joi.number().integer().min(-MAX_QUOTA).max(MAX_QUOTA),
  }),
  ...bodyMembers(ACCOUNT_MEMBERS),
  if_revision: IF_REVISION,
  reason: REASON,
}).oxor('quota', 'add_quota');
type UpdateBody = Of<typeof UPDATE_BODY>;

const update = defineOperation({
  id: 'updateUser',
  method: 'PUT',
  path: '/api/user',
  summary: 'Change an account',
  description:
    'Absent members stay as they are. `quota` sets the balance, `add_quota` moves it, both atomically against running traffic. Nobody acts on an equal or higher role. Disabling, and a new password, end all logins of the account.',
  access: 'admin',
  body: UPDATE_BODY,
  reply: USER,
  beside: { data: USER },
  errors: ['permission_denied', 'not_found', 'conflict'],
  async handler({ deps, body, actor }) {
    const { id, username, password, display_name: displayName, role, status } = body;
    const edit: UserEdit = {
      ...{ username, password, displayName, role },
      email: body.email === '' ? null : body.email,
      enabled: status === undefined ? undefined : status === 1,
      quota: quotaChange(body),
      ...readMembers(ACCOUNT_MEMBERS, body),
    };
    const view = userWire(deps.now());
    const updated = updateUser(deps, id, edit, actor, body.if_revision);
    return view(await orPresent(updated, async () => view(await getUser(deps, id))));
  },
});

const remove = defineOperation({
  id: 'deleteUser',
  method: 'DELETE',
  path: '/api/user/:id',
  summary: 'Delete an account, with its keys',
  access: 'admin',
  params: ID_PARAMS,
  query: REASON_QUERY,
  errors: ['permission_denied', 'not_found'],
  async handler({ deps, params, actor }) {
    await deleteUser(deps, params.id, actor);
    return null;
  },
});

function quotaChange({ quota, add_quota: added }: UpdateBody): QuotaChange | undefined {
  if (quota !== undefined) return { set: quota };
  return added === undefined ? undefined : { add: added };
}

export const USER_OPERATIONS = inArea('users', [
  list,
  search,
  listAdmins,
  get,
  create,
  invite,
  update,
  remove,
]);
