import Joi from 'joi';
import { ACCOUNT_MEMBERS } from '../core/labels.js';
import { MAX_QUOTA } from '../core/quota.js';
import type { Role, User, UserOrder } from '../store/store.js';
import { BUDGET_USE, budgetUse } from './budget.js';
import { COUNT } from './counts.js';
import { userRevision } from '../management/revision.js';
import { ID, REVISION } from './lists.js';
import { replyMembers } from './members.js';
import { nullable, shape, wireOf, type Of } from './shape.js';

/** What accounts can be ordered by, in wire spelling. */
export const USER_SORTS: Readonly<Record<string, UserOrder['by']>> = {
  username: 'username',
  role: 'role',
  quota: 'quota',
  used_quota: 'usedQuota',
  request_count: 'requestCount',
  created_time: 'createdTime',
  last_login_time: 'lastLoginTime',
};

export const ROLE = Joi.number<Role>()
  .valid(0, 1, 5, 10, 100)
  .description('0 guest, 1 user, 5 auditor, 10 admin, 100 root');
export const STATUS = Joi.number<1 | 2>().valid(1, 2).description('1 enabled, 2 disabled');
export const QUOTA = Joi.number().integer().min(0).max(MAX_QUOTA);

/** An account on the wire. */
export const USER = shape({
  id: ID,
  username: Joi.string(),
  email: Joi.string().allow(''),
  display_name: Joi.string().allow(''),
  role: ROLE,
  status: STATUS,
  quota: QUOTA,
  used_quota: COUNT,
  request_count: COUNT,
  created_time: COUNT,
  last_login_time: COUNT.description('With a password, in unix seconds; 0: never.'),
  ...replyMembers(ACCOUNT_MEMBERS),
  ...BUDGET_USE,
  revision: REVISION,
});
export type UserWire = Of<typeof USER>;

/** The account as it is now, or null once it is gone. */
export const USER_OR_NULL = nullable(USER);

/** An account as the API returns it, and as the command line prints it with `--json`. */
export function userWire(nowMs: number): (user: User) => UserWire {
  return (user) =>
    wireOf(USER, {
      ...user,
      email: user.email ?? '',
      status: user.enabled ? 1 : 2,
      ...budgetUse(user, user.budgetUse, nowMs),
      revision: userRevision(user),
    });
}
