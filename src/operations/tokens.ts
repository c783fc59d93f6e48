import Joi from 'joi';
import { GatewayError } from '../core/errors.js';
import { MAX_QUOTA } from '../core/quota.js';
import { tokenStatus, type Token } from '../core/token.js';
import { unknownKey } from '../gateway/key-refusals.js';
import {
  createToken,
  deleteToken,
  deleteTokens,
  enabledBy,
  findTokenByKey,
  getToken,
  listTokens,
  requireModelLimits,
  rollToken,
  updateToken,
} from '../management/tokens.js';
import type { Actor, ManagementDeps } from '../management/audit.js';
import { hashSecret } from '../management/secrets.js';
import { userNames } from '../management/user-names.js';
import type { QuotaChange, TokenChange, TokenQuery } from '../store/store.js';
import { COUNT } from '../shapes/counts.js';
import { ID, ID_PARAMS, IF_REVISION, listOf, orderOf, sortOf } from '../shapes/lists.js';
import { BUDGET_USE, budgetUse } from '../shapes/budget.js';
import {
  choice,
  extended,
  namesOf,
  optional,
  partial,
  shape,
  wireOf,
  type Of,
} from '../shapes/shape.js';
import { QUOTA, STATUS } from '../shapes/user.js';
import {
  EXPIRED_TIME,
  NAMES,
  POLICY_BODY,
  readPolicy,
  TOKEN,
  TOKEN_SORTS,
  TOKEN_STATUS,
  tokenWire,
} from '../shapes/key.js';
import { CSV, FORMAT_QUERY, pageOrFile } from './list-file.js';
import { defineOperation } from './operation.js';
import { orPresent } from './present.js';
import { because, IDS, REASON, REASON_QUERY } from './reason.js';
import { isStatusOnly, STATUS_ONLY_QUERY } from './status-only.js';

const TIME = Joi.number().integer();

const NAME = Joi.string().max(1_024).empty('');
const FILTER = shape({
  ...FORMAT_QUERY,
  ...partial({
    user_id: ID,
    status: TOKEN_STATUS.empty(''),
    model: NAME.description('Those that may use it.'),
    tag: NAME.description('Those that are bound to it.'),
    expires_before: TIME.min(0).description('Unix seconds; those that never end are left out.'),
    unused_since: TIME.min(0).description('Unix seconds.'),
    sort: sortOf(TOKEN_SORTS, 'newest first'),
  }),
});

const CREATE_BODY = shape({
  name: Joi.string().max(1_024),
  user_id: optional(ID),
  status: STATUS.default(1),
  ...partial({
    expired_time: EXPIRED_TIME,
    remain_quota: QUOTA,
    unlimited_quota: Joi.boolean(),
  }),
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
/** A key in a list, with the name of its owner. */
const LISTED = extended(TOKEN, {
  owner: Joi.string().allow('').description('The name of its account.'),
});
type ListedView = Of<typeof LISTED>;
const KEYS_FILE = {
  name: 'keys',
  columns: namesOf(LISTED),
  narrowedBy: 'status, user_id or keyword',
};
const USAGE = shape({
  object: choice('token_usage'),
  name: Joi.string(),
  status: TOKEN_STATUS,
  total_granted: COUNT,
  total_used: COUNT,
  total_available: COUNT.description('Of an unlimited key: the balance of its user.'),
  budget: QUOTA.description('What it may spend in each period; 0: no budget.'),
  ...BUDGET_USE,
  unlimited_quota: Joi.boolean(),
  model_limits_enabled: Joi.boolean(),
  model_limits: NAMES,
  expires_at: TIME.description('Unix seconds; 0: never.'),
});
/** 30 days. */
const MAX_KEEP_OLD_S = 2_592_000;

const list = defineOperation({
  id: 'listTokens',
  method: 'GET',
  path: '/api/token',
  area: 'tokens',
  summary: 'Your own keys; for admins, everybody’s',
  access: 'login',
  query: FILTER,
  reply: listOf(LISTED),
  files: [CSV],
  handler: ({ deps, query, actor }) => listed(deps, query, actor, filterOf(query)),
});

const search = defineOperation({
  id: 'searchTokens',
  method: 'GET',
  path: '/api/token/search',
  area: 'tokens',
  summary: 'Search keys by part of the name',
  access: 'login',
  query: extended(
    FILTER,
    partial({
      keyword: Joi.string().max(256).empty(''),
      token: Joi.string()
        .trim()
        .max(512)
        .empty('')
        .meta({ deprecated: true })
        .description(
          'The whole key, for clients of New API. Addresses are written to logs and histories: use `findToken`, which takes it in the body.',
        ),
    }),
  ),
  reply: listOf(LISTED),
  files: [CSV],
  handler({ deps, query, actor }) {
    const { keyword, token } = query;
    return listed(deps, query, actor, {
      ...filterOf(query),
      ...(keyword === undefined ? {} : { name: keyword }),
      ...(token === undefined ? {} : { keyHash: hashSecret(withPrefix(token)) }),
    });
  },
});

const find = defineOperation({
  id: 'findToken',
  method: 'POST',
  path: '/api/token/find',
  area: 'tokens',
  summary: 'Whose key is this?',
  description:
    'Takes the whole key in the body, which no proxy and no history keeps. Except to admins, somebody else’s key is as unknown as one that does not exist.',
  access: 'login',
  body: shape({ key: Joi.string().max(512) }),
  reply: TOKEN,
  errors: ['not_found'],
  async handler({ deps, body, actor }) {
    const token = await findTokenByKey(deps, withPrefix(body.key.trim()), actor);
    if (token === undefined) throw new GatewayError('not_found', 'There is no such key.');
    return tokenWire(deps.now())(token);
  },
});

const get = defineOperation({
  id: 'getToken',
  method: 'GET',
  path: '/api/token/:id',
  area: 'tokens',
  summary: 'One key',
  access: 'login',
  params: ID_PARAMS,
  reply: TOKEN,
  errors: ['not_found'],
  handler: async ({ deps, params, actor }) =>
    tokenWire(deps.now())(await getToken(deps, params.id, actor)),
});

const create = defineOperation({
  id: 'createToken',
  method: 'POST',
  path: '/api/token',
  area: 'tokens',
  summary: 'Make a key',
  description:
    'The reply has the key, which is not shown again. Without `remain_quota` the key may spend what its user has. Admins may make keys for others with `user_id`.',
  access: 'login',
  body: CREATE_BODY,
  reply: CREATED,
  errors: ['not_found'],
  idempotent: true,
  async handler({ deps, body, actor }) {
    const { name, user_id: userId = actor.id, status, expired_time: expiredTime } = body;
    const { remain_quota: remainQuota, unlimited_quota: unlimitedQuota } = body;
    const { token, key } = await createToken(
      deps,
      {
        userId,
        name,
        enabled: status === 1,
        unlimitedQuota: unlimitedQuota ?? remainQuota === undefined,
        ...(remainQuota === undefined ? {} : { remainQuota }),
        ...(expiredTime === undefined ? {} : { expiredTime }),
        policy: readPolicy(
          body.model_limits_enabled === true ? { model_limits: [], ...body } : body,
        ),
      },
      because(actor, body.reason),
    );
    return { ...tokenWire(deps.now())(token), key };
  },
});

const update = defineOperation({
  id: 'updateToken',
  method: 'PUT',
  path: '/api/token',
  area: 'tokens',
  summary: 'Change a key',
  description:
    'Absent members stay as they are. `remain_quota` sets the quota, `add_quota` moves it, both atomically against running traffic. Enabling is judged by the values after the change, so that one call can extend and enable a key; it is refused if the key would still be expired or exhausted. With `status_only`, only the status changes.',
  access: 'login',
  query: STATUS_ONLY_QUERY,
  body: UPDATE_BODY,
  reply: TOKEN,
  beside: { data: TOKEN },
  errors: ['not_found', 'conflict'],
  async handler({ deps, query, body, actor: who }) {
    const actor = because(who, body.reason);
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
  area: 'tokens',
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
    const { token, key } = await rollToken(deps, params.id, keepOldMs, because(actor, body.reason));
    return { ...tokenWire(deps.now())(token), key };
  },
});

const remove = defineOperation({
  id: 'deleteToken',
  method: 'DELETE',
  path: '/api/token/:id',
  area: 'tokens',
  summary: 'Delete a key',
  access: 'login',
  params: ID_PARAMS,
  query: REASON_QUERY,
  errors: ['not_found'],
  async handler({ deps, params, query, actor }) {
    await deleteToken(deps, params.id, because(actor, query.reason));
    return null;
  },
});

const removeMany = defineOperation({
  id: 'deleteTokens',
  method: 'POST',
  path: '/api/token/batch',
  area: 'tokens',
  summary: 'Delete many keys',
  description: 'Skips those that do not exist or are not yours. Returns how many.',
  access: 'login',
  body: shape({ ids: IDS, reason: REASON }),
  reply: COUNT.required(),
  handler: ({ deps, body, actor }) => deleteTokens(deps, body.ids, because(actor, body.reason)),
});

const usage = defineOperation({
  id: 'getTokenUsage',
  method: 'GET',
  path: '/api/usage/token',
  area: 'tokens',
  summary: 'What the key of this request has used and has left',
  description:
    'Send the API key as for a rerank, from an address that it allows; disabled, expired and exhausted keys get an answer too.',
  access: 'key',
  errors: ['ip_not_allowed'],
  reply: USAGE,
  async handler({ deps, identity }) {
    // Memory is good enough to admit a key, but not to report a balance.
    const { id, userId } = identity.credential.token;
    const nowMs = deps.now();
    const [token, user] = await Promise.all([
      deps.store.getToken(id, nowMs),
      deps.store.getUser(userId, nowMs),
    ]);
    if (token === undefined || user === undefined) throw unknownKey();
    const available = token.unlimitedQuota ? user.quota : token.remainQuota;
    return wireOf(USAGE, {
      ...token,
      object: 'token_usage',
      status: tokenStatus(token, nowMs),
      totalGranted: token.usedQuota + available,
      totalUsed: token.usedQuota,
      totalAvailable: available,
      budget: token.policy.budget,
      ...budgetUse(token.policy, token.budgetUse, nowMs),
      modelLimitsEnabled: token.policy.models !== undefined,
      modelLimits: token.policy.models ?? [],
      expiresAt: Math.max(0, token.expiredTime),
    });
  },
});

function changeOf(body: UpdateBody): TokenChange {
  const { name, expired_time: expiredTime, unlimited_quota: unlimitedQuota } = body;
  const quota = quotaChange(body);
  const policy = readPolicy(body);
  return {
    ...(name === undefined ? {} : { name }),
    ...(expiredTime === undefined ? {} : { expiredTime }),
    ...(unlimitedQuota === undefined ? {} : { unlimitedQuota }),
    ...(quota === undefined ? {} : { quota }),
    ...(Object.keys(policy).length === 0 ? {} : { policy }),
  };
}

function quotaChange({ remain_quota, add_quota }: UpdateBody): QuotaChange | undefined {
  if (remain_quota !== undefined) return { set: remain_quota };
  return add_quota === undefined ? undefined : { add: add_quota };
}

/** A page of keys, or a file of them, with the names of their owners. */
function listed(
  deps: ManagementDeps,
  query: Of<typeof FILTER>,
  actor: Actor,
  filter: Omit<TokenQuery, 'offset' | 'limit'>,
): ReturnType<typeof pageOrFile<ListedView, ListedView>> {
  const view = tokenWire(deps.now());
  return pageOrFile(
    query,
    KEYS_FILE,
    (one: ListedView) => one,
    async (slice) => {
      const { items, total } = await listTokens(deps, { ...slice, ...filter }, actor);
      const names = await userNames(
        deps,
        items.map(({ userId }) => userId),
      );
      // An account takes its keys with it: one without a name is being deleted.
      const ownerOf = ({ userId }: Token): string => names.get(userId) ?? '';
      return { items: items.map((token) => ({ ...view(token), owner: ownerOf(token) })), total };
    },
  );
}

function filterOf(query: Of<typeof FILTER>): Omit<TokenQuery, 'offset' | 'limit'> {
  const { user_id: userId, status, model, tag } = query;
  const { expires_before: expiresBefore, unused_since: unusedSince } = query;
  const order = orderOf(TOKEN_SORTS, query.sort);
  const wanted = { userId, status, model, tag, expiresBefore, unusedSince, order };
  return Object.fromEntries(Object.entries(wanted).filter(([, value]) => value !== undefined));
}

/** Other systems show keys without the prefix that all of them share. */
function withPrefix(key: string): string {
  return key.startsWith('sk-') ? key : `sk-${key}`;
}

export const TOKEN_OPERATIONS = [
  ...[list, search, find, get, create, update, roll, remove, removeMany, usage],
] as const;
