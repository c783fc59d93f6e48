import { MAX_QUOTA } from '../core/quota.js';
import { recordAudit, type Actor, type ManagementDeps } from './audit.js';
import { checkInteger, checkName } from './fields.js';
import { hashRedemptionCode } from './redeem.js';
import { hintOf } from './redemption-codes.js';

/** A redemption code that another gateway gave out. */
export interface CarriedCode {
  readonly code: string;
  readonly name: string;
  readonly quota: number;
  /** Unix seconds; 0: never. */
  readonly expiredTime: number;
}

/** Stored as the maker of a code that was made at the command line. */
const OPERATOR = 0;

/** Whether a key has this hash, or had it before it was rolled and still works. */
export async function hasToken(
  { store, now }: Pick<ManagementDeps, 'store' | 'now'>,
  keyHash: string,
): Promise<boolean> {
  return (await store.listTokens({ keyHash, offset: 0, limit: 1 }, now())).total > 0;
}

/** Stores a code that another gateway gave out, as one of the batch `batchId`. */
export async function carryCode(
  deps: ManagementDeps,
  { code, name: givenName, quota, expiredTime }: CarriedCode,
  batchId: string,
  actor: Actor,
): Promise<void> {
  const name = checkName(givenName, 'name');
  checkInteger(quota, 1, MAX_QUOTA, 'quota');
  const stored = { name, batchId, quota, codeHint: hintOf(code), expiredTime };
  const [record] = await deps.store.createCodes(
    [{ ...stored, codeHash: hashRedemptionCode(code), createdBy: actor.id ?? OPERATOR }],
    deps.now(),
  );
  const detail = { name, batchId, quota, expiredTime };
  const target = `redemption:${record?.id ?? 0}`;
  await recordAudit(deps, actor, 'redemption.create', target, detail, { name });
}
