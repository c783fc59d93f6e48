import Joi from 'joi';
import { present } from '../core/records.js';
import { MAX_QUOTA } from '../core/quota.js';
import {
  createToken,
  deleteToken,
  deleteTokens,
  enabledBy,
  getToken,
  requireModelLimits,
  rollToken,
  updateToken,
} from '../management/tokens.js';
import type { QuotaChange, TokenChange } from '../store/store.js';
import { COUNT } from '../shapes/counts.js';
import { ID, ID_PARAMS, IF_REVISION } from '../shapes/lists.js';
import { extended, optional, partial, recordOf, shape, type Of } from '../shapes/shape.js';
import { QUOTA, STATUS } from '../shapes/user.js';
import {
  EXPIRED_TIME,
  POLICY_BODY,
  readPolicy,
  TOKEN,
  TOKEN_STATUS,
  tokenWire,
} from '../shapes/key.js';
import { defineOperation } from './operation.js';
import { orPresent } from './present.js';
import { IDS, REASON, REASON_QUERY } from './reason.js';
import { isStatusOnly, STATUS_ONLY_QUERY } from './status-only.js';

const TERMS = partial({
  expired_time: EXPIRED_TIME,
  remain_quota: QUOTA,
  unlimited_quota: Joi.boolean(),
});
const CREATE_BODY = shape({
  name: Joi.string().max(1_024),
  user_id: optional(ID),
  status: STATUS.default(1),
  ...TERMS,
  ...POLICY_BODY,
  reason: REASON,
});
const UPDATE_BODY = shape({
  id: ID,
  ...partial({
    name: Joi.string().max(1_024),
    status: TOKEN_STATUS,
    expired_time: EXPIRED_TIME,
    remain_quota: QUOTA,
    add_quota: Joi.number().integer().min(-MAX_QUOTA).max(MAX_QUOTA),
    unlimited_quota: Joi.boolean(),
  }),
  ...POLICY_BODY,
  if_revision: IF_REVISION,
  reason: REASON,
}).oxor('remain_quota', 'add_quota');
type UpdateBody = Of<typeof UPDATE_BODY>;

/** A new key on the wire, with the key itself. */
const CREATED = extended(TOKEN, { key: Joi.string() });
/** 30 days: long enough for the slowest roll-out. */
const MAX_KEEP_OLD_S = 2_592_000;

const create = defineOperation({
  id: 'createToken',
  method: 'POST',
  path: '/api/token',
  summary: 'Make a key',
  description:
    'The reply has the key, which is not shown again. Without `remain_quota` the key may spend what its user has. Admins may make keys for others with `user_id`.',
  access: 'login',
  body: CREATE_BODY,
  reply: CREATED,
  errors: ['not_found'],
  idempotent: true,
  async handler({ deps, body, actor }) {
    const { name, user_id: userId = actor.id, status, model_limits_enabled: limited } = body;
    const terms = recordOf(TERMS, body);
    const draft = {
      unlimitedQuota: terms.remainQuota === undefined,
      ...terms,
      ...{ userId, name, enabled: status === 1 },
      policy: readPolicy(limited === true ? { model_limits: [], ...body } : body),
    };
    const { token, key } = await createToken(deps, draft, actor);
    return { ...tokenWire(deps.now())(token), key };
  },
});

const update = defineOperation({
  id: 'updateToken',
  method: 'PUT',
  path: '/api/token',
  summary: 'Change a key',
  description:
    'Absent members stay as they are. `remain_quota` sets the quota, `add_quota` moves it, both atomically against running traffic. Enabling is judged by the values after the change, so that one call can extend and enable a key; it is refused if the key would still be expired or exhausted. With `status_only`, only the status changes.',
  access: 'login',
  query: STATUS_ONLY_QUERY,
  body: UPDATE_BODY,
  reply: TOKEN,
  beside: { data: TOKEN },
  errors: ['not_found', 'conflict'],
  async handler({ deps, query, body, actor }) {
    const { id, status } = body;
    const statusOnly = isStatusOnly(query, body);
    const enabled = status === undefined ? undefined : await enabledBy(deps, id, status, actor);
    const keepsLimits = body.model_limits_enabled === true && body.model_limits === undefined;
    if (!statusOnly && keepsLimits) await requireModelLimits(deps, id, actor);
    const change: TokenChange = {
      ...(statusOnly ? {} : changeOf(body)),
      ...(enabled === undefined ? {} : { enabled }),
    };
    const view = tokenWire(deps.now());
    const updated = updateToken(deps, id, change, actor, body.if_revision);
    return view(await orPresent(updated, async () => view(await getToken(deps, id, actor))));
  },
});

const roll = defineOperation({
  id: 'rollToken',
  method: 'POST',
  path: '/api/token/:id/roll',
  summary: 'Give a key another secret',
  description:
    'The reply has the new key, which is not shown again. Name, quota, limits and history stay. The old key works for `keep_old_s`, so that applications can be changed one by one; without it, the old key ends at once. A second roll ends the key before the last.',
  access: 'login',
  params: ID_PARAMS,
  body: shape({
    keep_old_s: COUNT.max(MAX_KEEP_OLD_S).default(0),
    reason: REASON,
  }),
  reply: CREATED,
  errors: ['not_found', 'conflict'],
  idempotent: true,
  async handler({ deps, params, body, actor }) {
    const keepOldMs = body.keep_old_s * 1_000;
    const { token, key } = await rollToken(deps, params.id, keepOldMs, actor);
    return { ...tokenWire(deps.now())(token), key };
  },
});

const remove = defineOperation({
  id: 'deleteToken',
  method: 'DELETE',
  path: '/api/token/:id',
  summary: 'Delete a key',
  access: 'login',
  params: ID_PARAMS,
  query: REASON_QUERY,
  errors: ['not_found'],
  async handler({ deps, params, actor }) {
    await deleteToken(deps, params.id, actor);
    return null;
  },
});

const removeMany = defineOperation({
  id: 'deleteTokens',
  method: 'POST',
  path: '/api/token/batch',
  summary: 'Delete many keys',
  description: 'Skips those that do not exist or are not yours. Returns how many.',
  access: 'login',
  body: shape({ ids: IDS, reason: REASON }),
  reply: COUNT.required(),
  handler: ({ deps, body, actor }) => deleteTokens(deps, body.ids, actor),
});

function changeOf(body: UpdateBody): TokenChange {
  const { name, expired_time: expiredTime, unlimited_quota: unlimitedQuota } = body;
  const policy = readPolicy(body);
  return {
    ...present({ name, expiredTime, unlimitedQuota, quota: quotaChange(body) }),
    ...(Object.keys(policy).length === 0 ? {} : { policy }),
  };
}

function quotaChange({ remain_quota, add_quota }: UpdateBody): QuotaChange | undefined {
  if (remain_quota !== undefined) return { set: remain_quota };
  return add_quota === undefined ? undefined : { add: add_quota };
}

export const TOKEN_CHANGES = [create, update, roll, remove, removeMany] as const;
