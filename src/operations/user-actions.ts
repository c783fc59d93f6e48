import { invalid } from '../management/fields.js';
import { deleteUser, updateUser, type UserEdit } from '../management/users.js';
import { ID } from '../shapes/lists.js';
import { QUOTA, USER_OR_NULL, userWire } from '../shapes/user.js';
import { defineOperation, inArea } from './operation.js';
import { REASON } from './reason.js';
import { choice, optional, shape, type Of } from '../shapes/shape.js';

const MANAGE_BODY = shape({
  id: ID,
  action: choice('enable', 'disable', 'delete', 'promote', 'demote', 'add_quota'),
  mode: choice('add', 'subtract', 'override').default('add'),
  value: optional(QUOTA),
  reason: REASON,
});
type ManageBody = Of<typeof MANAGE_BODY>;

const manage = defineOperation({
  id: 'manageUser',
  method: 'POST',
  path: '/api/user/manage',
  summary: 'Enable, disable, promote, demote or delete an account, or move its quota',
  description:
    'Promoting makes the account an admin; only root may do so. `add_quota` takes `value` and a `mode`. Answers with the account, or null once it is deleted.',
  access: 'admin',
  body: MANAGE_BODY,
  reply: USER_OR_NULL,
  errors: ['permission_denied', 'not_found', 'conflict'],
  idempotent: true,
  async handler({ deps, body, actor }) {
    if (body.action === 'delete') {
      await deleteUser(deps, body.id, actor);
      return null;
    }
    return userWire(deps.now())(await updateUser(deps, body.id, managedEdit(body), actor));
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

export const USER_ACTION_OPERATIONS = inArea('users', [manage]);
