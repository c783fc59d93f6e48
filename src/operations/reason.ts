import Joi from 'joi';
import type { Actor } from '../management/audit.js';

/** Why something is done, for the audit log: a member of the body, or of the query if there is no body. */
export const REASON = Joi.string()
  .max(500)
  .empty(['', null])
  .description('Why, for the audit log.');

/** The actor, with the reason that was given. */
export function because<A extends Actor>(actor: A, given: string | undefined): A {
  const reason = given?.trim() ?? '';
  return reason === '' ? actor : { ...actor, reason };
}

export interface ReasonQuery {
  reason?: string;
}

export const REASON_QUERY = Joi.object<ReasonQuery, true>({ reason: REASON });

/** Ids of what is to be changed together. */
export const IDS = Joi.array()
  .items(Joi.number().integer().min(1).max(Number.MAX_SAFE_INTEGER))
  .min(1)
  .max(1_000);
