import Joi from 'joi';
import type { Logged, RefusedEntry } from '../store/store.js';
import { COUNT } from './counts.js';
import { ID } from './lists.js';
import { LOG_ID, SECONDS } from './log.js';
import { secondsOf } from './seconds.js';
import { extended, nullable, shape, wireOf, type Of } from './shape.js';

const TEXT = Joi.string().allow('');

/** A request that was answered without being admitted, as the owner of the key it named may see it. */
export const OWN_REFUSED = shape({
  id: LOG_ID,
  created_at: SECONDS,
  request_id: Joi.string(),
  outcome: Joi.string().description('The error code that the caller got.'),
  status: COUNT,
  message: TEXT,
  model: nullable(TEXT),
  token_id: nullable(ID),
  token_name: nullable(TEXT),
  documents: COUNT,
  duration_ms: COUNT,
  repeated: COUNT.description('How many more of this address and code it stands for.'),
});
export type OwnRefusedWire = Of<typeof OWN_REFUSED>;

/** The same, as operators see it. */
export const REFUSED = extended(OWN_REFUSED, {
  user_id: nullable(ID),
  address: nullable(Joi.string()),
  node: TEXT.description('The gateway that answered.'),
});
export type RefusedWire = Of<typeof REFUSED>;

export function ownRefusedWire(entry: Logged<RefusedEntry>): OwnRefusedWire {
  return wireOf(OWN_REFUSED, shown(entry));
}

export function refusedWire(entry: Logged<RefusedEntry>): RefusedWire {
  return wireOf(REFUSED, shown(entry));
}

function shown(entry: Logged<RefusedEntry>) {
  return { ...entry, createdAt: secondsOf(entry.atMs), durationMs: Math.round(entry.durationMs) };
}
