import { GatewayError } from '../core/errors.js';
import { MAX_QUOTA } from '../core/quota.js';
import type {
  Page,
  RedemptionChange,
  RedemptionCode,
  RedemptionQuery,
  RedemptionUpdate,
} from '../store/store.js';
import { ADMIN_ROLE, recordAudit, ROOT_ROLE, type Actor, type ManagementDeps } from './audit.js';
import { changesOf, codeShown } from './changes.js';
import { changedSince, codeRevision, still } from './revision.js';
import { checkInteger, checkName, invalid } from './fields.js';
import { allOf } from './pages.js';
import { checkOwner, isOperator } from './rank.js';
import { hashRedemptionCode } from './redeem.js';
import { userNames } from './user-names.js';

/** Codes to be made, all alike. */
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
  /** The code itself. It is not stored, so it can be shown only now. */
  readonly code: string;
}

/** A code as people see it. */
export interface ShownCode extends RedemptionCode {
  /** The name of who redeemed it; absent while unused, and once the account is gone. */
  readonly usedBy?: string;
}

export const MAX_CODES_AT_ONCE = 100;
const CODE_BYTES = 16;
const BATCH_BYTES = 6;
/** Stored as the maker of a code that was made at the command line. */
const OPERATOR = 0;
const PAGE = 100;
/** The last second that a date can express. */
const MAX_TIME = 8_640_000_000_000;
/** A claim this old was left by a process that died: crediting takes milliseconds. */
const ABANDONED_MS = 60_000;

export async function createRedemptionCodes(
  deps: ManagementDeps,
  { name: givenName, quota, count, expiredTime }: RedemptionDraft,
  actor: Actor,
): Promise<FreshCode[]> {
  const { store, now, randomBytes } = deps;
  const name = checkName(givenName, 'name');
  checkInteger(quota, 1, MAX_QUOTA, 'quota');
  checkInteger(count, 1, MAX_CODES_AT_ONCE, 'count');
  checkExpiry(expiredTime);
  if (expiredTime !== 0 && expiredTime * 1000 <= now()) {
    throw invalid('expired_time', 'expired_time is in the past.');
  }
  const batchId = newBatchId(randomBytes);
  const codes = Array.from({ length: count }, () => newCode(randomBytes));
  const records = await store.createCodes(
    codes.map((code) => ({
      name,
      batchId,
      quota,
      codeHash: hashRedemptionCode(code),
      codeHint: hintOf(code),
      createdBy: actor.id ?? OPERATOR,
      expiredTime,
    })),
    now(),
  );
  const ids = records.map(({ id }) => id);
  const detail = { name, batchId, quota, expiredTime, ids };
  await recordAudit(deps, actor, 'redemption.create', target(ids[0] ?? 0), detail, { name });
  return records.map((record, index) => ({ record, code: codes[index] ?? '' }));
}

type ReadDeps = Pick<ManagementDeps, 'store' | 'now'>;

export async function getRedemptionCode(deps: ReadDeps, id: number): Promise<ShownCode> {
  const code = await deps.store.getCode(id);
  if (code === undefined) throw noCode(id);
  const [shown = code] = await withNames(deps, [code]);
  return shown;
}

export async function listRedemptionCodes(
  deps: ReadDeps,
  query: RedemptionQuery,
): Promise<Page<ShownCode>> {
  const { items, total } = await deps.store.listCodes(query);
  return { items: await withNames(deps, items), total };
}

async function withNames(deps: ReadDeps, codes: readonly RedemptionCode[]): Promise<ShownCode[]> {
  const users = codes.map(({ usedUserId }) => usedUserId).filter((id) => id !== 0);
  const names = await userNames(deps, users);
  return codes.map((code) => {
    const usedBy = names.get(code.usedUserId);
    return usedBy === undefined ? code : { ...code, usedBy };
  });
}

/** The codes of one making or, for those of older releases, of one name. */
export type BatchOf = { readonly batchId: string } | { readonly name: string };

/** Disables the enabled codes of a batch, except those of makers whose role is not below. Resolves to how many. */
export async function disableRedemptionBatch(
  deps: ManagementDeps,
  of: BatchOf,
  actor: Actor,
): Promise<number> {
  const { store } = deps;
  const query = 'name' in of ? { name: checkName(of.name, 'name') } : of;
  const spared = new Set(await outOfReach(deps, actor));
  let disabled = 0;
  const codes = allOf(PAGE, (slice) => store.listCodes({ ...query, ...slice }));
  for await (const { id, status, createdBy } of codes) {
    if (status !== 'enabled' || spared.has(createdBy)) continue;
    const update = await store.updateCode(id, { enabled: false });
    // A code that was used or deleted meanwhile needs nothing.
    if (update.kind === 'updated') disabled += 1;
  }
  await recordAudit(deps, actor, 'redemption.disable_batch', 'redemption', { ...of, disabled });
  return disabled;
}

/** Changes what is given and leaves the rest. A used code is final. */
export async function updateRedemptionCode(
  deps: ManagementDeps,
  id: number,
  change: RedemptionChange,
  actor: Actor,
  ifRevision?: string,
): Promise<RedemptionCode> {
  const { name, quota, expiredTime } = change;
  if (quota !== undefined) checkInteger(quota, 1, MAX_QUOTA, 'quota');
  if (expiredTime !== undefined) checkExpiry(expiredTime);
  const checked = { ...change, ...(name === undefined ? {} : { name: checkName(name, 'name') }) };
  const before = await getRedemptionCode(deps, id);
  await checkMaker(deps, before, actor);
  const holds = still(ifRevision, codeRevision);
  // Whoever got no answer sends the change again, with the revision from before it.
  const when = holds && ((code: RedemptionCode) => holds(code) || isAlready(code, checked));
  const update = await deps.store.updateCode(id, checked, when);
  if (update.kind !== 'updated') throw refusal(update, id);
  const of = { name: before.name, changes: changesOf(codeShown(before), codeShown(update.code)) };
  await recordAudit(deps, actor, 'redemption.update', target(id), { ...checked }, of);
  return update.code;
}

function isAlready(code: RedemptionCode, { enabled, ...change }: RedemptionChange): boolean {
  const status = enabled === undefined ? code.status : enabled ? 'enabled' : 'disabled';
  return codeRevision({ ...code, ...change, status }) === codeRevision(code);
}

/** Refuses to mark a code as used. A used one passes: sent back as it was read, it is refused later because it is final. */
export async function refuseToUse(deps: ReadDeps, id: number): Promise<void> {
  if ((await getRedemptionCode(deps, id)).status === 'used') return;
  throw invalid(
    'status',
    'status can be set to 1 (enabled) or 2 (disabled); 3 is set when a code is redeemed.',
  );
}

export async function deleteRedemptionCode(
  deps: ManagementDeps,
  id: number,
  actor: Actor,
): Promise<void> {
  const code = await getRedemptionCode(deps, id);
  await checkMaker(deps, code, actor);
  if (!(await deps.store.deleteCode(id))) throw noCode(id);
  const of = { name: code.name, changes: changesOf(codeShown(code), undefined) };
  await recordAudit(deps, actor, 'redemption.delete', target(id), {}, of);
}

/**
 * Deletes what can no longer be redeemed: used, disabled and expired codes, except those of makers whose role is not below.
 * Resolves to how many.
 */
export async function deleteInvalidRedemptionCodes(
  deps: ManagementDeps,
  actor: Actor,
): Promise<number> {
  const deleted = await deps.store.deleteInvalidCodes(deps.now(), await outOfReach(deps, actor));
  await recordAudit(deps, actor, 'redemption.delete_invalid', 'redemption', { deleted });
  return deleted;
}

/** Completes what a process that died between claiming a code and crediting its user left undone. */
export async function recoverRedemptions({
  store,
  now,
}: Pick<ManagementDeps, 'store' | 'now'>): Promise<void> {
  await store.recoverRedemptions(now(), ABANDONED_MS);
}

/** Codes made at the command line are the operator's: only root may touch them. */
async function checkMaker(
  deps: ManagementDeps,
  { createdBy }: RedemptionCode,
  actor: Actor,
): Promise<void> {
  if (createdBy === OPERATOR && actor.role < ROOT_ROLE) {
    throw new GatewayError(
      'permission_denied',
      'This code was made on the command line of the gateway; only root may change it.',
    );
  }
  await checkOwner(deps, createdBy, actor, 'code');
}

/** Makers whose codes an actor may not touch. */
async function outOfReach({ store, now }: ManagementDeps, actor: Actor): Promise<number[]> {
  if (isOperator(actor)) return [];
  const makers = actor.role < ROOT_ROLE ? [OPERATOR] : [];
  for (const role of [ADMIN_ROLE, ROOT_ROLE] as const) {
    if (role < actor.role) continue;
    const users = allOf(PAGE, (slice) => store.listUsers({ role, ...slice }, now()));
    for await (const { id } of users) makers.push(id);
  }
  return makers.filter((id) => id !== actor.id);
}

function newBatchId(randomBytes: ManagementDeps['randomBytes']): string {
  return Buffer.from(randomBytes(BATCH_BYTES)).toString('hex');
}

/** 32 hexadecimal digits. */
function newCode(randomBytes: ManagementDeps['randomBytes']): string {
  return Buffer.from(randomBytes(CODE_BYTES)).toString('hex');
}

/** The part of a code that may be shown forever. */
export function hintOf(code: string): string {
  return `${code.slice(0, 4)}…${code.slice(-4)}`;
}

function checkExpiry(expiredTime: number): void {
  if (!Number.isInteger(expiredTime) || expiredTime < 0 || expiredTime > MAX_TIME) {
    throw invalid('expired_time', 'expired_time must be in unix seconds, or 0 for never.');
  }
}

function refusal(update: Exclude<RedemptionUpdate, { kind: 'updated' }>, id: number): GatewayError {
  switch (update.kind) {
    case 'not_found':
      return noCode(id);
    case 'changed':
      return changedSince('The code');
    case 'used':
      return new GatewayError(
        'conflict',
        'The code has been used, which is final; make a new one.',
      );
  }
}

function noCode(id: number): GatewayError {
  return new GatewayError('not_found', `There is no redemption code with id ${id}.`);
}

function target(id: number): string {
  return `redemption:${id}`;
}
