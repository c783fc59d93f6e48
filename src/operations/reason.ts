import Joi from 'joi';
import type { Actor } from '../management/audit.js';
import { ID } from '../shapes/lists.js';
import { arrayOf, optional, shape } from '../shapes/shape.js';

/** Why something is done, which the actor then has: a member of the body, or of the query if there is no body. */
export const REASON = optional(
  Joi.string().max(500).empty(['', null]).description('Why, for the audit log.'),
);

/** The actor, with the reason that a request gives. */
export function because<A extends Actor>(
  actor: A,
  { query, body }: { readonly query: unknown; readonly body: unknown },
): A {
  const { reason } = { ...(query as Reasoned), ...(body as Reasoned) };
  const said = reason?.trim() ?? '';
  return said === '' ? actor : { ...actor, reason: said };
}

interface Reasoned {
  readonly reason?: string;
}

export const REASON_QUERY = shape({ reason: REASON });

/** Ids of what is to be changed together. */
export const IDS = arrayOf(ID).min(1).max(1_000);
