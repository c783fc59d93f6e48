import Joi from 'joi';
import type { CodeBatch, RedemptionCode } from '../store/store.js';
import type { ShownCode } from '../management/redemption-codes.js';
import { codeRevision } from '../management/revision.js';
import { COUNT } from './counts.js';
import { ID, REVISION } from './lists.js';
import { nullable, shape, wireOf, type Of } from './shape.js';

/** `status` of a redemption code on the wire. */
export type CodeStatus = 1 | 2 | 3;

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
const UNITS = Joi.number().min(0);

/** A code on the wire: everything but the code itself. */
export const CODE = shape({
  id: ID,
  user_id: COUNT,
  name: Joi.string(),
  batch_id: BATCH_ID.allow('').description(
    'The same for codes that were made together; empty for those of older releases.',
  ),
  key_hint: Joi.string(),
  quota: COUNT,
  status: CODE_STATUS,
  created_time: COUNT,
  redeemed_time: COUNT.description('0 while unused.'),
  used_user_id: COUNT.description('0 while unused.'),
  used_by: nullable(Joi.string()).description(
    'The name of that account, a neutral one once it is deleted; null while unused.',
  ),
  expired_time: COUNT.description('Unix seconds; 0: never.'),
  revision: REVISION,
});
export type CodeWire = Of<typeof CODE>;

/** Codes that were made together, added up. */
export const BATCH = shape({
  batch_id: BATCH_ID.allow('').description('Empty: all that have this name.'),
  name: Joi.string(),
  made: COUNT,
  used: COUNT,
  used_quota: UNITS,
  left: COUNT.description('Those that can be redeemed.'),
  left_quota: UNITS,
  created_time: COUNT.description('Of the newest.'),
});
export type BatchWire = Of<typeof BATCH>;

/** A code as the API returns it, and as the command line prints it with `--json`. */
export function codeWire(code: ShownCode): CodeWire {
  return wireOf(CODE, {
    ...code,
    userId: code.createdBy,
    keyHint: code.codeHint,
    status: CODE_STATUS_NUMBERS[code.status],
    revision: codeRevision(code),
  });
}

export function batchWire(batch: CodeBatch): BatchWire {
  return wireOf(BATCH, batch);
}
