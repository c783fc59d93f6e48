import Joi from 'joi';
import type { CodeBatch, RedemptionCode } from '../store/store.js';
import type { ShownCode } from '../management/redemption-codes.js';
import { codeRevision } from '../management/revision.js';
import { REQUIRED_COUNT } from './counts.js';
import { ID, REVISION } from './lists.js';

/** `status` of a redemption code on the wire. */
export type CodeStatus = 1 | 2 | 3;

/** A code on the wire: everything but the code itself. */
export interface CodeWire {
  id: number;
  /** The user who created it. */
  user_id: number;
  name: string;
  batch_id: string;
  key_hint: string;
  quota: number;
  status: CodeStatus;
  created_time: number;
  redeemed_time: number;
  used_user_id: number;
  used_by: string | null;
  expired_time: number;
  revision: string;
}

/** Codes that were made together, added up. */
export interface BatchWire {
  batch_id: string;
  name: string;
  made: number;
  used: number;
  used_quota: number;
  left: number;
  left_quota: number;
  created_time: number;
}

export const CODE_STATUS_NUMBERS: Readonly<Record<RedemptionCode['status'], CodeStatus>> = {
  enabled: 1,
  disabled: 2,
  used: 3,
};

export const STATUS_NAMES = { 1: 'enabled', 2: 'disabled', 3: 'used' } as const;
export const CODE_STATUS = Joi.number<CodeStatus>()
  .valid(1, 2, 3)
  .description('1 enabled, 2 disabled, 3 used');
export const BATCH_ID = Joi.string().max(64);
const TIME = Joi.number().integer().min(0);

export const CODE = Joi.object<CodeWire, true>({
  id: ID.required(),
  user_id: REQUIRED_COUNT,
  name: Joi.string().required(),
  batch_id: BATCH_ID.allow('')
    .required()
    .description('The same for codes that were made together; empty for those of older releases.'),
  key_hint: Joi.string().required(),
  quota: REQUIRED_COUNT,
  status: CODE_STATUS.required(),
  created_time: TIME.required(),
  redeemed_time: TIME.required().description('0 while unused.'),
  used_user_id: REQUIRED_COUNT.description('0 while unused.'),
  used_by: Joi.string()
    .allow(null)
    .required()
    .description('The name of that account; null while unused, and once it is gone.'),
  expired_time: TIME.required().description('Unix seconds; 0: never.'),
  revision: REVISION,
});

export const BATCH = Joi.object<BatchWire, true>({
  batch_id: BATCH_ID.allow('').required().description('Empty: all that have this name.'),
  name: Joi.string().required(),
  made: REQUIRED_COUNT,
  used: REQUIRED_COUNT,
  used_quota: Joi.number().min(0).required(),
  left: REQUIRED_COUNT.description('Those that can be redeemed.'),
  left_quota: Joi.number().min(0).required(),
  created_time: TIME.required().description('Of the newest.'),
});

/** A code as the API returns it, and as the command line prints it with `--json`. */
export function codeWire(code: ShownCode): CodeWire {
  return {
    id: code.id,
    user_id: code.createdBy,
    name: code.name,
    batch_id: code.batchId,
    key_hint: code.codeHint,
    quota: code.quota,
    status: CODE_STATUS_NUMBERS[code.status],
    created_time: code.createdTime,
    redeemed_time: code.redeemedTime,
    used_user_id: code.usedUserId,
    used_by: code.usedBy ?? null,
    expired_time: code.expiredTime,
    revision: codeRevision(code),
  };
}

export function batchWire(batch: CodeBatch): BatchWire {
  return {
    batch_id: batch.batchId,
    ...{ name: batch.name, made: batch.made, used: batch.used, used_quota: batch.usedQuota },
    ...{ left: batch.left, left_quota: batch.leftQuota, created_time: batch.createdTime },
  };
}
