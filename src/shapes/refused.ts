import Joi from 'joi';
import type { Logged, RefusedEntry } from '../store/store.js';
import { REQUIRED_COUNT } from './counts.js';
import { ID } from './lists.js';
import { LOG_ID, SECONDS } from './log.js';

/** A request that was answered without being admitted, as the owner of the key it named may see it. */
export interface OwnRefusedWire {
  id: number;
  created_at: number;
  request_id: string;
  outcome: string;
  status: number;
  message: string;
  model: string | null;
  token_id: number | null;
  token_name: string | null;
  documents: number;
  duration_ms: number;
  repeated: number;
}

/** The same, as operators see it. */
export interface RefusedWire extends OwnRefusedWire {
  user_id: number | null;
  address: string | null;
  node: string;
}

const TEXT = Joi.string().allow('').required();

export const OWN_REFUSED_REPLY = {
  id: LOG_ID,
  created_at: SECONDS.required(),
  request_id: Joi.string().required(),
  outcome: Joi.string().required().description('The error code that the caller got.'),
  status: REQUIRED_COUNT,
  message: TEXT,
  model: TEXT.allow(null),
  token_id: ID.allow(null).required(),
  token_name: TEXT.allow(null),
  documents: REQUIRED_COUNT,
  duration_ms: REQUIRED_COUNT,
  repeated: REQUIRED_COUNT.description('How many more of this address and code it stands for.'),
};
export const REFUSED_REPLY = {
  ...OWN_REFUSED_REPLY,
  user_id: ID.allow(null).required(),
  address: Joi.string().allow(null).required(),
  node: TEXT.description('The gateway that answered.'),
};

export function ownRefusedWire(entry: Logged<RefusedEntry>): OwnRefusedWire {
  return {
    id: entry.id,
    created_at: Math.floor(entry.atMs / 1000),
    request_id: entry.requestId,
    outcome: entry.outcome,
    status: entry.status,
    message: entry.message,
    model: entry.model ?? null,
    token_id: entry.tokenId ?? null,
    token_name: entry.tokenName ?? null,
    documents: entry.documents,
    duration_ms: Math.round(entry.durationMs),
    repeated: entry.repeated,
  };
}

export function refusedWire(entry: Logged<RefusedEntry>): RefusedWire {
  return {
    ...ownRefusedWire(entry),
    user_id: entry.userId ?? null,
    address: entry.address ?? null,
    node: entry.node,
  };
}
