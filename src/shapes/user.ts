import Joi from 'joi';
import { BUDGET_MEMBERS } from '../core/budget.js';
import { MAX_QUOTA } from '../core/quota.js';
import type { Role, User, UserOrder } from '../store/store.js';
import { BUDGET_USE_REPLY, budgetUseWire, type BudgetUseWire } from './budget.js';
import { userRevision } from '../management/revision.js';
import { ID, REVISION } from './lists.js';
import { membersWire, replyMembers, type MembersWire } from './members.js';

/** An account on the wire. */
export interface UserWire extends MembersWire<typeof BUDGET_MEMBERS>, BudgetUseWire {
  id: number;
  username: string;
  /** Empty if unknown. */
  email: string;
  display_name: string;
  /** 0 guest, 1 user, 5 auditor, 10 admin, 100 root. */
  role: Role;
  /** 1 enabled, 2 disabled. */
  status: 1 | 2;
  quota: number;
  used_quota: number;
  request_count: number;
  /** Unix seconds. */
  created_time: number;
  last_login_time: number;
  revision: string;
}

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

export const USER = Joi.object<UserWire, true>({
  id: ID.required(),
  username: Joi.string().required(),
  email: Joi.string().allow('').required(),
  display_name: Joi.string().allow('').required(),
  role: ROLE.required(),
  status: STATUS.required(),
  quota: QUOTA.required(),
  used_quota: Joi.number().integer().min(0).required(),
  request_count: Joi.number().integer().min(0).required(),
  created_time: Joi.number().integer().min(0).required(),
  last_login_time: Joi.number()
    .integer()
    .min(0)
    .required()
    .description('With a password, in unix seconds; 0: never.'),
  ...replyMembers(BUDGET_MEMBERS),
  ...BUDGET_USE_REPLY,
  revision: REVISION,
});

/** The account as it is now, or null once it is gone. */
export const USER_OR_NULL = USER.allow(null) as Joi.AnySchema<UserWire | null>;

/** An account as the API returns it, and as the command line prints it with `--json`. */
export function userWire(nowMs: number): (user: User) => UserWire {
  return (user) => ({
    id: user.id,
    username: user.username,
    email: user.email ?? '',
    display_name: user.displayName,
    role: user.role,
    status: user.enabled ? 1 : 2,
    quota: user.quota,
    used_quota: user.usedQuota,
    request_count: user.requestCount,
    created_time: user.createdTime,
    last_login_time: user.lastLoginTime,
    ...membersWire(BUDGET_MEMBERS, user),
    ...budgetUseWire(user, user.budgetUse, nowMs),
    revision: userRevision(user),
  });
}
