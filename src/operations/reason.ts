import Joi from 'joi';
import type { Actor } from '../management/audit.js';
import { ID } from '../shapes/lists.js';
import { arrayOf, optional, shape } from '../shapes/shape.js';

/** Why something is done, for the audit log: a member of the body, or of the query if there is no body. */
export const REASON = optional(
  Joi.string().max(500).empty(['', null]).description('Why, for the audit log.'),
);

/** The actor, with the reason that was given. */
export function because<A extends Actor>(actor: A, given: string | undefined): A {
  const reason = given?.trim() ?? '';
  return reason === '' ? actor : { ...actor, reason };
}

export const REASON_QUERY = shape({ reason: REASON });

/** Ids of what is to be changed together. */
export const IDS = arrayOf(ID).min(1).max(1_000);
