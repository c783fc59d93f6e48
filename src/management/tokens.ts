import { GatewayError } from '../core/errors.js';
import { MAX_QUOTA } from '../core/quota.js';
import {
  KEY_PREFIX,
  keyHint,
  NEVER_EXPIRES,
  newApiKey,
  OPEN_POLICY,
  TOKEN_DISABLED,
  TOKEN_ENABLED,
  tokenStatus,
  type Token,
  type TokenPolicy,
  type TokenStatus,
} from '../core/token.js';
import type { NewToken, Page, TokenChange, TokenQuery, TokenUpdate } from '../store/store.js';
import type { AccountSettings } from './accounts.js';
import { AUDITOR_ROLE, recordAudit, type Actor, type ManagementDeps } from './audit.js';
import { changesOf, tokenShown, Witness } from './changes.js';
import { checkInteger, checkName, invalid } from './fields.js';
import { keepLabelsOf } from './labels.js';
import { checkOwner } from './rank.js';
import { changedSince, still, tokenRevision } from './revision.js';
import { hashSecret } from './secrets.js';
import {
  checkDefaultModel,
  checkExpiry,
  checkMayExplain,
  checkPolicy,
  refusePast,
} from './token-checks.js';

/** What a new key may do. Whatever is left out does not limit it, except for its quota, which starts at 0. */
export interface TokenDraft {
  readonly userId: number;
  readonly name: string;
  readonly enabled?: boolean;
  /** Unix seconds, or -1 for never. */
  readonly expiredTime?: number;
  readonly remainQuota?: number;
  /** Limited only by the user's balance. */
  readonly unlimitedQuota?: boolean;
  readonly policy?: Partial<TokenPolicy>;
}

export interface TokenDeps extends ManagementDeps {
  readonly accounts?: Pick<AccountSettings, 'keysPerAccount'>;
}

export interface CreatedToken {
  readonly token: Token;
  /** The key itself. It is not stored, so it can be shown only now. */
  readonly key: string;
}

/**
 * Creates a key for a user: for oneself, or, as an admin, for lower roles. If `deps.accounts` limits the number of keys,
 * which it does not at the command line, one more is refused.
 */
export async function createToken(
  deps: TokenDeps,
  draft: TokenDraft,
  actor: Actor,
): Promise<CreatedToken> {
  const key = newApiKey(deps.randomBytes);
  const secret = { keyHash: hashSecret(key), keyHint: keyHint(key) };
  return { token: await addToken(deps, draft, secret, actor), key };
}

/** The stored form of a key: its hash, and the characters that people recognise it by. */
export type TokenSecret = Pick<NewToken, 'keyHash' | 'keyHint'>;

/** Creates a key whose secret is made already; the rules are those of `createToken`. */
export async function addToken(
  deps: TokenDeps,
  draft: TokenDraft,
  secret: TokenSecret,
  actor: Actor,
): Promise<Token> {
  const { userId, enabled = true, expiredTime = NEVER_EXPIRES, unlimitedQuota = false } = draft;
  const owner = ownerScope(actor);
  if (owner !== undefined && owner !== userId) throw noUser();
  await checkOwner(deps, userId, actor, 'key');
  const nowMs = deps.now();
  checkExpiry(expiredTime);
  refusePast(expiredTime, nowMs);
  const policy: TokenPolicy = { ...OPEN_POLICY, ...checkPolicy(draft.policy ?? {}) };
  checkDefaultModel(policy);
  checkMayExplain(policy, OPEN_POLICY, actor);
  const { keysPerAccount = Number.MAX_SAFE_INTEGER } = deps.accounts ?? {};
  const token = await deps.store.createTokenWithin(
    {
      userId,
      name: checkName(draft.name, 'name'),
      ...secret,
      enabled,
      expiredTime,
      remainQuota: checkInteger(draft.remainQuota ?? 0, 0, MAX_QUOTA, 'remain_quota'),
      unlimitedQuota,
      policy,
    },
    keysPerAccount,
    nowMs,
  );
  if (token === undefined) throw noUser();
  if (token === 'too_many') {
    throw new GatewayError(
      'conflict',
      `An account may have at most ${keysPerAccount} keys; delete one that is unused.`,
    );
  }
  const { name, keyHint: hint, remainQuota } = token;
  const detail = { userId, name, keyHint: hint, expiredTime, remainQuota, unlimitedQuota, policy };
  await recordAudit(deps, actor, 'token.create', target(token.id), detail, { name });
  return token;
}

/** One key; somebody else's is as unknown as one that does not exist. */
export async function getToken(
  { store, now }: ManagementDeps,
  id: number,
  actor: Actor,
): Promise<Token> {
  const token = await store.getToken(id, now());
  if (token === undefined || !sees(actor, token)) throw noToken(id);
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

/** The token of a key that the caller holds. */
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
  ifRevision?: string,
): Promise<Token> {
  const token = await ownToken(deps, id, actor);
  const checked = await checkChange(deps, id, change, actor);
  const { before, update } = await witnessed(deps, token, checked, ifRevision);
  if (update.kind !== 'updated') throw refusal(update, id);
  const { quota } = checked;
  const { remainQuota: left } = update.token;
  const had = quota !== undefined && 'add' in quota ? left - quota.add : before.remainQuota;
  const changes = [
    ...changesOf(tokenShown(before), tokenShown(update.token)),
    ...(quota === undefined ? [] : changesOf({ remain_quota: had }, { remain_quota: left })),
  ];
  const of = { name: before.name, changes };
  await recordAudit(deps, actor, 'token.update', target(id), { ...checked }, of);
  return update.token;
}

/** Writes the change, and returns what it replaced. */
async function witnessed(
  { store, now }: ManagementDeps,
  token: Token,
  change: TokenChange,
  ifRevision: string | undefined,
): Promise<{ readonly before: Token; readonly update: TokenUpdate }> {
  const witness = new Witness(token, still(ifRevision, tokenRevision));
  const update = await store.updateToken(token.id, change, now(), token.userId, witness.when);
  return { before: witness.before, update };
}

/**
 * Gives a key another secret; its quota, limits and history stay. The old one works for `keepOldMs`, which should be 0 if it
 * has leaked.
 */
export async function rollToken(
  deps: ManagementDeps,
  id: number,
  keepOldMs: number,
  actor: Actor,
): Promise<CreatedToken> {
  const { userId, keyHint: before } = await ownToken(deps, id, actor);
  if (!before.startsWith(KEY_PREFIX)) {
    throw new GatewayError('conflict', "This key has no secret: it is the playground's.");
  }
  const key = newApiKey(deps.randomBytes);
  const rolled = { keyHash: hashSecret(key), keyHint: keyHint(key), keepOldMs };
  const token = await deps.store.rollToken(id, rolled, deps.now(), userId);
  if (token === undefined) throw noToken(id);
  const detail = { keyHint: rolled.keyHint, before, keepOldMs };
  await recordAudit(deps, actor, 'token.roll', target(id), detail, { name: token.name });
  return { token, key };
}

/**
 * The status that a client's value sets. Expired and exhausted follow from the clock and the balance: they may be sent back
 * as they were read, and then change nothing.
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

/**
 * Deletes those of the keys that exist; resolves to how many. One that is not theirs to delete refuses the whole request.
 */
export async function deleteTokens(
  deps: ManagementDeps,
  ids: readonly number[],
  actor: Actor,
): Promise<number> {
  let gone = 0;
  const wanted: Token[] = [];
  for (const id of new Set(ids)) {
    const token = await deps.store.getToken(id, deps.now());
    if (token === undefined || !sees(actor, token)) continue;
    await checkOwner(deps, token.userId, actor, 'key');
    wanted.push(token);
  }
  for (const token of wanted) {
    await keepLabelsOf(deps, token);
    if (!(await deps.store.deleteToken(token.id, token.userId))) continue;
    gone += 1;
    await recordDeletion(deps, token, actor);
  }
  return gone;
}

export async function deleteToken(deps: ManagementDeps, id: number, actor: Actor): Promise<void> {
  const token = await ownToken(deps, id, actor);
  await keepLabelsOf(deps, token);
  if (!(await deps.store.deleteToken(id, token.userId))) throw noToken(id);
  await recordDeletion(deps, token, actor);
}

function recordDeletion(deps: ManagementDeps, token: Token, actor: Actor): Promise<void> {
  const { name, userId, keyHint: hint } = token;
  const of = { name, changes: changesOf(tokenShown(token), undefined) };
  const detail = { userId, keyHint: hint };
  return recordAudit(deps, actor, 'token.delete', target(token.id), detail, of);
}

/** A key that the actor may change: their own or, as an admin, one of a lower role. */
async function ownToken(deps: ManagementDeps, id: number, actor: Actor): Promise<Token> {
  const token = await getToken(deps, id, actor);
  await checkOwner(deps, token.userId, actor, 'key');
  return token;
}

function sees(actor: Actor, token: Token): boolean {
  const owner = ownerScope(actor);
  return owner === undefined || token.userId === owner;
}

/** Whose keys the actor may see: their own, or everybody's (`undefined`). */
function ownerScope(actor: Actor): number | undefined {
  return actor.role >= AUDITOR_ROLE ? undefined : actor.id;
}

async function checkChange(
  deps: ManagementDeps,
  id: number,
  change: TokenChange,
  actor: Actor,
): Promise<TokenChange> {
  const { name, quota, policy, expiredTime } = change;
  if (expiredTime !== undefined) {
    checkExpiry(expiredTime);
    const isNew = (await getToken(deps, id, actor)).expiredTime !== expiredTime;
    // A body that somebody has read and sends back may have what has passed since.
    if (isNew) refusePast(expiredTime, deps.now());
  }
  if (quota !== undefined) {
    if ('set' in quota) checkInteger(quota.set, 0, MAX_QUOTA, 'remain_quota');
    else checkInteger(quota.add, -MAX_QUOTA, MAX_QUOTA, 'add_quota');
  }
  const checkedPolicy = policy === undefined ? undefined : checkPolicy(policy);
  if (checkedPolicy?.mayExplain === true) {
    checkMayExplain(checkedPolicy, (await getToken(deps, id, actor)).policy, actor);
  }
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

function refusal(update: Exclude<TokenUpdate, { kind: 'updated' }>, id: number): GatewayError {
  if (update.kind === 'not_found') return noToken(id);
  switch (update.reason) {
    case 'changed':
      return changedSince('The key');
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
