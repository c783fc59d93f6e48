import { GatewayError } from '../core/errors.js';
import { MAX_QUOTA } from '../core/quota.js';
import type {
  Page,
  RedemptionChange,
  RedemptionCode,
  RedemptionQuery,
  RedemptionUpdate,
} from '../store/store.js';
import { recordAudit, type Actor, type ManagementDeps } from './audit.js';
import { checkInteger, checkName, invalid } from './fields.js';
import { hashRedemptionCode } from './redeem.js';

/** Codes to be, all alike. */
export interface RedemptionDraft {
  readonly name: string;
  /** What each of them is worth. */
  readonly quota: number;
  readonly count: number;
  /** Unix seconds; 0: never. */
  readonly expiredTime: number;
}

export interface FreshCode {
  readonly record: RedemptionCode;
  /** The code itself. It is kept nowhere, so this is the only time that it can be shown. */
  readonly code: string;
}

export const MAX_CODES_AT_ONCE = 100;
const CODE_BYTES = 16;
/** The last second that a date can name. */
const MAX_TIME = 8_640_000_000_000;
/** A claim that is so old was left by a process that died: crediting takes milliseconds. */
const ABANDONED_MS = 60_000;

export async function createRedemptionCodes(
  deps: ManagementDeps,
  { name: givenName, quota, count, expiredTime }: RedemptionDraft,
  actor: Actor,
): Promise<FreshCode[]> {
  const { store, now, randomBytes } = deps;
  const name = checkName(givenName, 'name');
  checkQuota(quota);
  checkInteger(count, 1, MAX_CODES_AT_ONCE, 'count');
  checkExpiry(expiredTime);
  if (expiredTime !== 0 && expiredTime * 1000 <= now()) {
    throw invalid('expired_time', 'expired_time is in the past.');
  }
  const codes = Array.from({ length: count }, () => newCode(randomBytes));
  const records = await store.createCodes(
    codes.map((code) => ({
      name,
      quota,
      codeHash: hashRedemptionCode(code),
      codeHint: hintOf(code),
      createdBy: actor.id ?? 0,
      expiredTime,
    })),
    now(),
  );
  const ids = records.map(({ id }) => id);
  await recordAudit(deps, actor, 'redemption.create', target(ids[0] ?? 0), {
    name,
    quota,
    expiredTime,
    ids,
  });
  return records.map((record, index) => ({ record, code: codes[index] ?? '' }));
}

export async function getRedemptionCode(
  { store }: Pick<ManagementDeps, 'store'>,
  id: number,
): Promise<RedemptionCode> {
  const code = await store.getCode(id);
  if (code === undefined) throw noCode(id);
  return code;
}

export function listRedemptionCodes(
  { store }: Pick<ManagementDeps, 'store'>,
  query: RedemptionQuery,
): Promise<Page<RedemptionCode>> {
  return store.listCodes(query);
}

/** Changes what is given and leaves the rest. A used code is final. */
export async function updateRedemptionCode(
  deps: ManagementDeps,
  id: number,
  change: RedemptionChange,
  actor: Actor,
): Promise<RedemptionCode> {
  const { name, quota, expiredTime } = change;
  if (quota !== undefined) checkQuota(quota);
  if (expiredTime !== undefined) checkExpiry(expiredTime);
  const checked = { ...change, ...(name === undefined ? {} : { name: checkName(name, 'name') }) };
  const update = await deps.store.updateCode(id, checked);
  if (update.kind !== 'updated') throw refusal(update, id);
  await recordAudit(deps, actor, 'redemption.update', target(id), { ...checked });
  return update.code;
}

/** Refuses to mark a code as used. A used one passes: sent back as it was read, it meets what makes it final. */
export async function refuseToUse(deps: Pick<ManagementDeps, 'store'>, id: number): Promise<void> {
  if ((await getRedemptionCode(deps, id)).status === 'used') return;
  throw invalid(
    'status',
    'status can be set to 1 (enabled) or 2 (disabled); 3 comes by redeeming.',
  );
}

export async function deleteRedemptionCode(
  deps: ManagementDeps,
  id: number,
  actor: Actor,
): Promise<void> {
  if (!(await deps.store.deleteCode(id))) throw noCode(id);
  await recordAudit(deps, actor, 'redemption.delete', target(id));
}

/** Deletes what can no longer be redeemed: used, disabled and expired codes. Resolves to how many. */
export async function deleteInvalidRedemptionCodes(
  deps: ManagementDeps,
  actor: Actor,
): Promise<number> {
  const deleted = await deps.store.deleteInvalidCodes(deps.now());
  await recordAudit(deps, actor, 'redemption.delete_invalid', 'redemption', { deleted });
  return deleted;
}

/** Completes what a process left undone that died between claiming a code and crediting its user. */
export async function recoverRedemptions({
  store,
  now,
}: Pick<ManagementDeps, 'store' | 'now'>): Promise<void> {
  await store.recoverRedemptions(now(), ABANDONED_MS);
}

/** 32 hexadecimal digits. */
function newCode(randomBytes: ManagementDeps['randomBytes']): string {
  return Buffer.from(randomBytes(CODE_BYTES)).toString('hex');
}

function hintOf(code: string): string {
  return `${code.slice(0, 4)}…${code.slice(-4)}`;
}

function checkQuota(quota: number): void {
  checkInteger(quota, 1, MAX_QUOTA, 'quota');
}

function checkExpiry(expiredTime: number): void {
  if (!Number.isInteger(expiredTime) || expiredTime < 0 || expiredTime > MAX_TIME) {
    throw invalid('expired_time', 'expired_time must be in unix seconds, or 0 for never.');
  }
}

function refusal(update: Exclude<RedemptionUpdate, { kind: 'updated' }>, id: number): GatewayError {
  return update.kind === 'not_found'
    ? noCode(id)
    : new GatewayError('conflict', 'The code has been used, which is final; make a new one.');
}

function noCode(id: number): GatewayError {
  return new GatewayError('not_found', `There is no redemption code with id ${id}.`);
}

function target(id: number): string {
  return `redemption:${id}`;
}
