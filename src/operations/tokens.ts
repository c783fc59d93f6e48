import Joi from 'joi';
import { GatewayError } from '../core/errors.js';
import { tokenStatus, type Token } from '../core/token.js';
import { unknownKey } from '../gateway/key-refusals.js';
import { findTokenByKey, getToken, listTokens } from '../management/tokens.js';
import type { Actor, ManagementDeps } from '../management/audit.js';
import { hashSecret } from '../management/secrets.js';
import { userNames } from '../management/user-names.js';
import type { TokenQuery } from '../store/store.js';
import { COUNT } from '../shapes/counts.js';
import { ID, ID_PARAMS, LABEL, listOf, orderOf, sortOf } from '../shapes/lists.js';
import { BUDGET_USE, budgetUse } from '../shapes/budget.js';
import {
  choice,
  extended,
  namesOf,
  partial,
  recordOf,
  shape,
  wireOf,
  type ObjectOf,
  type Of,
} from '../shapes/shape.js';
import { QUOTA } from '../shapes/user.js';
import { NAMES, TOKEN, TOKEN_SORTS, TOKEN_STATUS, tokenWire } from '../shapes/key.js';
import { CSV, FORMAT_QUERY, pageOrFile, type FormatQuery } from './list-file.js';
import { TOKEN_CHANGES } from './token-changes.js';
import { defineOperation, inArea } from './operation.js';

const TIME = Joi.number().integer();

const NAME = Joi.string().max(1_024).empty('');
const FILTERS = partial({
  user_id: ID,
  status: TOKEN_STATUS.empty(''),
  model: NAME.description('Those that may use it.'),
  tag: NAME.description('Those that are bound to it.'),
  label: LABEL.description('Those that have it themselves: `team`, or `team=search`.'),
  expires_before: TIME.min(0).description('Unix seconds; those that never end are left out.'),
  unused_since: TIME.min(0).description('Unix seconds.'),
  sort: sortOf(TOKEN_SORTS, 'newest first'),
});
const LIST_FILTER = shape({ ...FORMAT_QUERY, ...FILTERS });

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
const list = defineOperation({
  id: 'listTokens',
  method: 'GET',
  path: '/api/token',
  summary: 'Your own keys; for admins, everybody’s',
  access: 'login',
  query: LIST_FILTER,
  reply: listOf(LISTED),
  files: [CSV],
  handler: ({ deps, query, actor }) => listed(deps, query, actor, filterOf(query)),
});

const search = defineOperation({
  id: 'searchTokens',
  method: 'GET',
  path: '/api/token/search',
  summary: 'Search keys by part of the name',
  access: 'login',
  query: extended(
    LIST_FILTER,
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
  summary: 'One key',
  access: 'login',
  params: ID_PARAMS,
  reply: TOKEN,
  errors: ['not_found'],
  handler: async ({ deps, params, actor }) =>
    tokenWire(deps.now())(await getToken(deps, params.id, actor)),
});

const usage = defineOperation({
  id: 'getTokenUsage',
  method: 'GET',
  path: '/api/usage/token',
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

/** A page of keys, or a file of them, with the names of their owners. */
function listed(
  deps: ManagementDeps,
  query: FormatQuery,
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
      const ownerOf = ({ userId }: Token): string => names.get(userId) ?? '';
      return { items: items.map((token) => ({ ...view(token), owner: ownerOf(token) })), total };
    },
  );
}

function filterOf(query: ObjectOf<typeof FILTERS>): Omit<TokenQuery, 'offset' | 'limit'> {
  const { sort, ...wanted } = recordOf(FILTERS, query);
  return { ...wanted, ...orderOf(TOKEN_SORTS, sort) };
}

/** Other systems show keys without the prefix that all of them share. */
function withPrefix(key: string): string {
  return key.startsWith('sk-') ? key : `sk-${key}`;
}

export const TOKEN_OPERATIONS = inArea('tokens', [
  list,
  search,
  find,
  get,
  ...TOKEN_CHANGES,
  usage,
]);
