import Joi from 'joi';
import { ERRORS, type ErrorCode } from '../core/errors.js';
import type { FoundOne, LoggedRequest } from '../management/requests.js';
import { COUNT } from './counts.js';
import { ID } from './lists.js';
import { secondsOf } from './seconds.js';
import { arrayOf, choice, nullable, shape, wireOf, type Of } from './shape.js';

const MS = Joi.number().min(0);
const TEXT = Joi.string().allow('');
const NAME = nullable(TEXT);
const ID_OR_NULL = nullable(ID);

const OWN_MEMBERS = {
  request_id: Joi.string(),
  created_at: COUNT.description('Unix seconds.'),
  kind: choice('admitted', 'refused').description(
    'refused: answered without being admitted; nothing was reserved or charged.',
  ),
  outcome: Joi.string().description('ok, or the error code that the caller got.'),
  status: COUNT.description('Of the answer.'),
  message: NAME.description('What the caller was told; null if all went well.'),
  model: NAME,
  token_id: ID_OR_NULL,
  token_name: NAME,
  documents: COUNT,
  input_tokens: COUNT,
  search_units: COUNT,
  quota: COUNT,
  duration_ms: MS,
  upstream_ms: nullable(MS).description('Waiting for upstreams, all told.'),
  attempts: COUNT,
  repeated: COUNT.description('How many more of its kind this entry stands for.'),
};

const PLACE = { id: Joi.string().description('Of this entry in the list: what `before` takes.') };
const OPERATORS_MEMBERS = {
  user_id: ID_OR_NULL,
  channel_id: ID_OR_NULL,
  channel: NAME,
  provider: NAME,
  tag: NAME,
  address: NAME,
  node: NAME.description('The gateway that answered.'),
  source: choice('api', 'console'),
};

/** One request as the user who made it may see it: no channels, no addresses, none of the upstream's words. */
export const OWN_REQUEST = shape(OWN_MEMBERS);
export type OwnRequestWire = Of<typeof OWN_REQUEST>;

const ATTEMPT = shape({
  channel_id: ID,
  channel: NAME,
  provider: Joi.string(),
  tag: NAME,
  outcome: Joi.string(),
  status: nullable(Joi.number().integer()),
  message: TEXT,
  duration_ms: MS,
});

/** One request as operators see it. */
export const REQUEST = shape({
  ...OWN_MEMBERS,
  ...OPERATORS_MEMBERS,
  username: NAME,
  tried: arrayOf(ATTEMPT).description(
    'Every attempt, where there was more than one or one that failed.',
  ),
});
export type RequestWire = Of<typeof REQUEST>;

/** A request in a list of both logs, as the user who made it may see it, and as operators see it. */
export const OWN_LISTED_REQUEST = shape({ ...PLACE, ...OWN_MEMBERS });
export type OwnListedRequestWire = Of<typeof OWN_LISTED_REQUEST>;
export const LISTED_REQUEST = shape({ ...PLACE, ...OWN_MEMBERS, ...OPERATORS_MEMBERS });
export type ListedRequestWire = Of<typeof LISTED_REQUEST>;

export function ownRequestWire(request: FoundOne): OwnRequestWire {
  return wireOf(OWN_REQUEST, ownMembers(request));
}

/** What a refused request did not come to is zero or not set, as is what an admitted one cannot be. */
function ownMembers({ kind, entry }: FoundOne) {
  const createdAt = secondsOf(entry.atMs);
  if (kind === 'refused') {
    const nothing = { inputTokens: 0, searchUnits: 0, quota: 0, attempts: 0 };
    return { ...entry, ...nothing, kind, createdAt, upstreamMs: null };
  }
  const { detail, outcome, tokenId } = entry;
  return {
    ...entry,
    kind,
    createdAt,
    status: detail?.status ?? (outcome === 'ok' ? 200 : statusOf(outcome)),
    message: detail?.message,
    tokenId: tokenId === 0 ? null : tokenId,
    upstreamMs: detail?.upstreamMs,
    repeated: 0,
  };
}

/** For entries of releases that did not keep the status. */
function statusOf(outcome: string): number {
  return Object.hasOwn(ERRORS, outcome) ? ERRORS[outcome as ErrorCode].status : 500;
}

/** A request as operators see it. */
export function requestWire(
  request: FoundOne,
  username: string | undefined,
  channelName: (id: number) => string | undefined,
): RequestWire {
  return wireOf(REQUEST, { ...operatorsMembers(request, channelName), username });
}

function operatorsMembers(request: FoundOne, channelName: (id: number) => string | undefined) {
  const own = ownMembers(request);
  const { userId } = request.entry;
  if (request.kind === 'refused') {
    const { address, node } = request.entry;
    return { ...UNTOLD_CHANNEL, ...own, userId, address, node, source: 'api' as const, tried: [] };
  }
  const { channelId, provider, tag, detail } = request.entry;
  return {
    ...own,
    ...{ userId, channelId, provider, tag },
    channel: channelId === undefined ? undefined : channelName(channelId),
    address: null,
    node: detail?.node,
    source: detail?.source ?? ('api' as const),
    tried: (detail?.tried ?? []).map((attempt) =>
      wireOf(ATTEMPT, { ...attempt, channel: channelName(attempt.channelId) }),
    ),
  };
}

const UNTOLD_CHANNEL = { channelId: null, channel: null, provider: null, tag: null };

export function ownListedWire(request: LoggedRequest): OwnListedRequestWire {
  return wireOf(OWN_LISTED_REQUEST, { ...ownMembers(request), id: request.id });
}

export function listedWire(
  request: LoggedRequest,
  channelName: (id: number) => string | undefined,
): ListedRequestWire {
  return wireOf(LISTED_REQUEST, { ...operatorsMembers(request, channelName), id: request.id });
}

/** A request in either shape as one: users do not see which channels were asked, or where. */
export function wholeRequest(shown: OwnRequestWire & Partial<RequestWire>): RequestWire {
  return { ...UNTOLD, username: null, tried: [], ...shown };
}

/** The same of a request in a list. */
export function wholeListed(
  shown: OwnListedRequestWire & Partial<ListedRequestWire>,
): ListedRequestWire {
  return { ...UNTOLD, ...shown };
}

const UNTOLD = {
  ...{ user_id: null, channel_id: null, channel: null, provider: null, tag: null },
  ...{ address: null, node: null, source: 'api' as const },
};
