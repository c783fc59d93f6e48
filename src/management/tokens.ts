import { GatewayError } from '../core/errors.js';
import { MAX_QUOTA } from '../core/quota.js';
import {
  isExpired,
  keyHint,
  NEVER_EXPIRES,
  newApiKey,
  TOKEN_DISABLED,
  TOKEN_ENABLED,
  tokenStatus,
  type Token,
  type TokenPolicy,
  type TokenStatus,
} from '../core/token.js';
import type { Page, TokenChange, TokenQuery, TokenUpdate } from '../store/store.js';
import { isAddressOrRange } from './addresses.js';
import { ADMIN_ROLE, recordAudit, type Actor, type ManagementDeps } from './audit.js';
import { checkInteger, checkName, checkNames, invalid } from './fields.js';
import { hashSecret } from './secrets.js';

/** What a new key may and may not. What is left out does not limit it, except for its quota, which begins at 0. */
export interface TokenDraft {
  readonly userId: number;
  readonly name: string;
  readonly enabled?: boolean;
  /** Unix seconds, or -1 for never. */
  readonly expiredTime?: number;
  readonly remainQuota?: number;
  /** Bounded by the balance of the user alone. */
  readonly unlimitedQuota?: boolean;
  readonly policy?: Partial<TokenPolicy>;
}

export interface CreatedToken {
  readonly token: Token;
  /** The key itself. It is kept nowhere, so this is the only time that it can be shown. */
  readonly key: string;
}

const MAX_LIMIT = 1_000_000_000;
const MAX_LIST = 1_000;
/** The last second that a date can name. */
const MAX_TIME = 8_640_000_000_000;

/** Creates a key for a user: for oneself, or, as an admin, for anybody. */
export async function createToken(
  deps: ManagementDeps,
  draft: TokenDraft,
  actor: Actor,
): Promise<CreatedToken> {
  const { userId, enabled = true, expiredTime = NEVER_EXPIRES, unlimitedQuota = false } = draft;
  const owner = ownerScope(actor);
  if (owner !== undefined && owner !== userId) throw noUser();
  const nowMs = deps.now();
  checkExpiry(expiredTime);
  if (isExpired(expiredTime, nowMs)) throw invalid('expired_time', 'expired_time is in the past.');
  const policy: TokenPolicy = {
    models: undefined,
    allowIps: [],
    tags: [],
    defaultModel: undefined,
    rateLimit: 0,
    maxConcurrency: 0,
    ...checkPolicy(draft.policy ?? {}),
  };
  checkDefaultModel(policy);
  const key = newApiKey(deps.randomBytes);
  const token = await deps.store.createToken(
    {
      userId,
      name: checkName(draft.name, 'name'),
      keyHash: hashSecret(key),
      keyHint: keyHint(key),
      enabled,
      expiredTime,
      remainQuota: checkInteger(draft.remainQuota ?? 0, 0, MAX_QUOTA, 'remain_quota'),
      unlimitedQuota,
      policy,
    },
    nowMs,
  );
  if (token === undefined) throw noUser();
  await recordAudit(deps, actor, 'token.create', target(token.id), {
    userId,
    name: token.name,
    keyHint: token.keyHint,
    expiredTime,
    remainQuota: token.remainQuota,
    unlimitedQuota,
    policy,
  });
  return { token, key };
}

/** One key; somebody else's is as unknown as one that is not there. */
export async function getToken(
  { store, now }: ManagementDeps,
  id: number,
  actor: Actor,
): Promise<Token> {
  const token = await store.getToken(id, now());
  const owner = ownerScope(actor);
  if (token === undefined || (owner !== undefined && token.userId !== owner)) throw noToken(id);
  return token;
}

export function listTokens(
  { store, now }: ManagementDeps,
  query: TokenQuery,
  actor: Actor,
): Promise<Page<Token>> {
  const owner = ownerScope(actor);
  return store.listTokens(owner === undefined ? query : { ...query, userId: owner }, now());
}

/** The token of a key that somebody holds in hand. */
export async function findTokenByKey(
  deps: ManagementDeps,
  key: string,
  actor: Actor,
): Promise<Token | undefined> {
  const query = { keyHash: hashSecret(key), offset: 0, limit: 1 };
  return (await listTokens(deps, query, actor)).items[0];
}

/** Changes what is given and leaves the rest. Enabling is judged on the values after the change. */
export async function updateToken(
  deps: ManagementDeps,
  id: number,
  change: TokenChange,
  actor: Actor,
): Promise<Token> {
  const checked = await checkChange(deps, id, change, actor);
  const update = await deps.store.updateToken(id, checked, deps.now(), ownerScope(actor));
  if (update.kind !== 'updated') throw refusal(update, id);
  await recordAudit(deps, actor, 'token.update', target(id), { ...checked });
  return update.token;
}

/**
 * What a status that a client sends sets. Expired and exhausted follow from the clock and the balance: they may be sent back
 * as they were read and then change nothing.
 */
export async function enabledBy(
  deps: ManagementDeps,
  id: number,
  status: TokenStatus,
  actor: Actor,
): Promise<boolean | undefined> {
  if (status === TOKEN_ENABLED) return true;
  if (status === TOKEN_DISABLED) return false;
  const token = await getToken(deps, id, actor);
  if (tokenStatus(token, deps.now()) === status) return undefined;
  throw invalid(
    'status',
    'status can be set to 1 (enabled) or 2 (disabled); 3 and 4 follow from expired_time and remain_quota.',
  );
}

/** The models that a key is limited to, for who wants the limit as it is; refused where there is none. */
export async function requireModelLimits(
  deps: ManagementDeps,
  id: number,
  actor: Actor,
): Promise<void> {
  const { policy } = await getToken(deps, id, actor);
  if (policy.models === undefined) {
    throw invalid('model_limits', 'model_limits must name the models that the key may use.');
  }
}

/** Deletes those of the keys that are there and may be; resolves to how many. */
export async function deleteTokens(
  deps: ManagementDeps,
  ids: readonly number[],
  actor: Actor,
): Promise<number> {
  let gone = 0;
  for (const id of new Set(ids)) {
    if (!(await deps.store.deleteToken(id, ownerScope(actor)))) continue;
    gone += 1;
    await recordAudit(deps, actor, 'token.delete', target(id));
  }
  return gone;
}

export async function deleteToken(deps: ManagementDeps, id: number, actor: Actor): Promise<void> {
  if (!(await deps.store.deleteToken(id, ownerScope(actor)))) throw noToken(id);
  await recordAudit(deps, actor, 'token.delete', target(id));
}

/** Whose keys somebody may see and change: their own, or everybody's (`undefined`). */
function ownerScope(actor: Actor): number | undefined {
  return actor.role >= ADMIN_ROLE ? undefined : actor.id;
}

async function checkChange(
  deps: ManagementDeps,
  id: number,
  change: TokenChange,
  actor: Actor,
): Promise<TokenChange> {
  const { name, quota, policy, expiredTime } = change;
  if (expiredTime !== undefined) checkExpiry(expiredTime);
  if (quota !== undefined) {
    if ('set' in quota) checkInteger(quota.set, 0, MAX_QUOTA, 'remain_quota');
    else checkInteger(quota.add, -MAX_QUOTA, MAX_QUOTA, 'add_quota');
  }
  const checkedPolicy = policy === undefined ? undefined : checkPolicy(policy);
  if (
    checkedPolicy !== undefined &&
    ('models' in checkedPolicy || 'defaultModel' in checkedPolicy)
  ) {
    const { policy: current } = await getToken(deps, id, actor);
    checkDefaultModel({ ...current, ...checkedPolicy });
  }
  return {
    ...change,
    ...(name === undefined ? {} : { name: checkName(name, 'name') }),
    ...(checkedPolicy === undefined ? {} : { policy: checkedPolicy }),
  };
}

function checkExpiry(expiredTime: number): void {
  if (expiredTime === NEVER_EXPIRES) return;
  if (!Number.isInteger(expiredTime) || expiredTime < 1 || expiredTime > MAX_TIME) {
    throw invalid('expired_time', 'expired_time must be in unix seconds, or -1 for never.');
  }
}

function checkPolicy(policy: Partial<TokenPolicy>): Partial<TokenPolicy> {
  const { models, allowIps, tags, defaultModel, rateLimit, maxConcurrency } = policy;
  checkLength(models, 'model_limits');
  checkLength(allowIps, 'allow_ips');
  checkLength(tags, 'tags');
  if (models?.length === 0) {
    throw invalid('model_limits', 'model_limits must name a model, or be lifted altogether.');
  }
  const addresses = allowIps?.map((entry) => entry.trim());
  const wrong = addresses?.find((entry) => !isAddressOrRange(entry));
  if (wrong !== undefined) {
    throw invalid(
      'allow_ips',
      `allow_ips must hold addresses and ranges such as 192.0.2.7 or 10.0.0.0/8; "${wrong}" is neither.`,
    );
  }
  if (rateLimit !== undefined) checkInteger(rateLimit, 0, MAX_LIMIT, 'rate_limit');
  if (maxConcurrency !== undefined) checkInteger(maxConcurrency, 0, MAX_LIMIT, 'max_concurrency');
  return {
    ...policy,
    ...(models === undefined ? {} : { models: checkNames(models, 'model_limits') }),
    ...(addresses === undefined ? {} : { allowIps: [...new Set(addresses)] }),
    ...(tags === undefined ? {} : { tags: checkNames(tags, 'tags') }),
    ...(defaultModel === undefined
      ? {}
      : { defaultModel: checkName(defaultModel, 'default_model') }),
  };
}

function checkLength(list: readonly string[] | undefined, param: string): void {
  if (list !== undefined && list.length > MAX_LIST) {
    throw invalid(param, `${param} may have ${MAX_LIST} entries at most.`);
  }
}

function checkDefaultModel({ models, defaultModel }: TokenPolicy): void {
  if (defaultModel === undefined || models === undefined || models.includes(defaultModel)) return;
  throw invalid(
    'default_model',
    `default_model must be one of the models that the key is limited to: ${models.join(', ')}.`,
  );
}

function refusal(update: Exclude<TokenUpdate, { kind: 'updated' }>, id: number): GatewayError {
  if (update.kind === 'not_found') return noToken(id);
  switch (update.reason) {
    case 'expired':
      return new GatewayError(
        'conflict',
        'The key has expired and cannot be enabled as it is; give it a later expiry in the same change.',
        { param: 'expired_time' },
      );
    case 'exhausted':
      return new GatewayError(
        'conflict',
        'The key has no quota left and cannot be enabled as it is; give it quota in the same change.',
        { param: 'remain_quota' },
      );
    case 'quota_range':
      return new GatewayError(
        'conflict',
        `The quota of the key would leave the range from 0 to ${MAX_QUOTA}.`,
        { param: 'add_quota' },
      );
  }
}

function noToken(id: number): GatewayError {
  return new GatewayError('not_found', `There is no key with id ${id}.`);
}

function noUser(): GatewayError {
  return new GatewayError('not_found', 'There is no such user.', { param: 'user_id' });
}

function target(id: number): string {
  return `token:${id}`;
}
