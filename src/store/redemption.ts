import type { Page, Slice } from './page.js';
import { number, recordOf, text } from './records.js';

/** A code that can be turned into quota. Times are unix seconds; only the SHA-256 of the code is stored. */
export interface RedemptionCode {
  readonly id: number;
  readonly name: string;
  /** Shared by the codes that were made together; empty for those of older releases. */
  readonly batchId: string;
  readonly quota: number;
  readonly status: 'enabled' | 'disabled' | 'used';
  readonly codeHint: string;
  readonly createdBy: number;
  readonly createdTime: number;
  readonly redeemedTime: number;
  /** 0 while unused. */
  readonly usedUserId: number;
  /** 0: never. */
  readonly expiredTime: number;
}

/** A code as it is kept. */
export interface StoredCode extends RedemptionCode {
  readonly codeHash: string;
}

export const CODES = recordOf<StoredCode>(
  'codes',
  {
    id: number(),
    name: text('name'),
    batchId: text('batch'),
    quota: number('quota'),
    status: text<RedemptionCode['status']>('status'),
    codeHash: text('hash'),
    codeHint: text('hint'),
    createdBy: number('creator'),
    createdTime: number('created'),
    redeemedTime: number('redeemed'),
    usedUserId: number('user'),
    expiredTime: number('expires'),
  },
  { name: 'name_key' },
);

export function codeOf({ codeHash: _, ...code }: StoredCode): RedemptionCode {
  return code;
}

/** The stored members of a new code. */
export function newStoredCode(code: NewRedemptionCode, nowMs: number): Omit<StoredCode, 'id'> {
  const createdTime = Math.floor(nowMs / 1000);
  return { ...code, status: 'enabled', createdTime, redeemedTime: 0, usedUserId: 0 };
}

export type NewRedemptionCode = Omit<
  StoredCode,
  'id' | 'status' | 'createdTime' | 'redeemedTime' | 'usedUserId'
>;

export interface RedemptionChange extends Partial<
  Pick<RedemptionCode, 'name' | 'quota' | 'expiredTime'>
> {
  readonly enabled?: boolean;
}

export type RedemptionUpdate =
  | { readonly kind: 'updated'; readonly code: RedemptionCode }
  | { readonly kind: 'not_found' }
  /** A used code is final. */
  | { readonly kind: 'used' }
  /** It is no longer what the change depends on. */
  | { readonly kind: 'changed' };

export type Redemption =
  | { readonly kind: 'redeemed'; readonly quota: number; readonly codeId: number }
  | {
      readonly kind: 'refused';
      /** `own`: a code cannot be redeemed by the account that made it. */
      readonly reason: 'unknown' | 'used' | 'own' | 'disabled' | 'expired' | 'quota_range';
    };

export interface RedemptionQuery extends Slice {
  /** Part of the name in any case, or an id. */
  readonly keyword?: string;
  /** Exactly this name. */
  readonly name?: string;
  readonly batchId?: string;
  readonly status?: RedemptionCode['status'];
}

/** Totals of the codes that were made together or, where that is not known, of those with one name. */
export interface CodeBatch {
  readonly batchId: string;
  /** Of the newest. */
  readonly name: string;
  readonly made: number;
  readonly used: number;
  readonly usedQuota: number;
  /** Those that can be redeemed: enabled and not expired. */
  readonly left: number;
  readonly leftQuota: number;
  /** Of the newest. */
  readonly createdTime: number;
}

export interface RedemptionStore {
  /** Creates all of them or none, in the given order. */
  createCodes(codes: readonly NewRedemptionCode[], nowMs: number): Promise<RedemptionCode[]>;
  getCode(id: number): Promise<RedemptionCode | undefined>;
  listCodes(query: RedemptionQuery): Promise<Page<RedemptionCode>>;
  /** Totals of all codes by batch, the newest first; reads every code. */
  sumCodes(nowMs: number): Promise<CodeBatch[]>;
  /** With `when`, only if that holds for it, in the same step. */
  updateCode(
    id: number,
    change: RedemptionChange,
    when?: (code: RedemptionCode) => boolean,
  ): Promise<RedemptionUpdate>;
  deleteCode(id: number): Promise<boolean>;
  /** Deletes used, disabled and expired codes, except those made by `notOf`; resolves to how many. */
  deleteInvalidCodes(nowMs: number, notOf?: readonly number[]): Promise<number>;
  /**
   * Claims the code and credits the user, exactly once under any race. If a process dies between the two, the same user's
   * next attempt or `recoverRedemptions` completes the credit, once.
   */
  redeem(codeHash: string, userId: number, nowMs: number): Promise<Redemption>;
  /** Completes claims older than `olderThanMs` whose credit is missing; resolves to how many. */
  recoverRedemptions(nowMs: number, olderThanMs: number): Promise<number>;
}

/** Why a user may not redeem a code, as far as the code itself tells. */
export function codeRefusal(
  { status, createdBy, expiredTime }: RedemptionCode,
  userId: number,
  nowMs: number,
): 'used' | 'own' | 'disabled' | 'expired' | undefined {
  if (status === 'used') return 'used';
  if (createdBy === userId) return 'own';
  if (status === 'disabled') return 'disabled';
  return hasExpired(expiredTime, nowMs) ? 'expired' : undefined;
}

/** Whether a code cannot be redeemed any more, unless it is changed. */
export function isInvalid({ status, expiredTime }: RedemptionCode, nowMs: number): boolean {
  return status !== 'enabled' || hasExpired(expiredTime, nowMs);
}

function hasExpired(expiredTime: number, nowMs: number): boolean {
  return expiredTime !== 0 && expiredTime * 1000 <= nowMs;
}

/** What a change makes of a code, or why it does not: a used one is final. */
export function changedCode(
  code: RedemptionCode | undefined,
  { enabled, ...members }: RedemptionChange,
  when?: (code: RedemptionCode) => boolean,
): RedemptionUpdate {
  if (code === undefined) return { kind: 'not_found' };
  if (code.status === 'used') return { kind: 'used' };
  if (when?.(code) === false) return { kind: 'changed' };
  const status = enabled === undefined ? code.status : enabled ? 'enabled' : 'disabled';
  return { kind: 'updated', code: { ...code, ...members, status } };
}
