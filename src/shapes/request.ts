import Joi from 'joi';
import { ERRORS, type ErrorCode } from '../core/errors.js';
import type { FoundOne, LoggedRequest } from '../management/requests.js';
import type { AttemptRecord } from '../store/store.js';
import { REQUIRED_COUNT } from './counts.js';
import { ID } from './lists.js';

/** One request as the user who made it may see it: no channels, no addresses, none of the upstream's words. */
export interface OwnRequestWire {
  request_id: string;
  created_at: number;
  kind: 'admitted' | 'refused';
  /** `ok`, or the error code that the caller got. */
  outcome: string;
  status: number;
  message: string | null;
  model: string | null;
  token_id: number | null;
  token_name: string | null;
  documents: number;
  input_tokens: number;
  search_units: number;
  quota: number;
  duration_ms: number;
  upstream_ms: number | null;
  attempts: number;
  /** How many more like it this entry stands for. */
  repeated: number;
}

interface AttemptWire {
  channel_id: number;
  channel: string | null;
  provider: string;
  tag: string | null;
  outcome: string;
  status: number | null;
  message: string;
  duration_ms: number;
}

export interface RequestWire extends OwnRequestWire {
  user_id: number | null;
  username: string | null;
  channel_id: number | null;
  channel: string | null;
  provider: string | null;
  tag: string | null;
  address: string | null;
  node: string | null;
  source: 'api' | 'console';
  /** Every attempt, if there was more than one or if one failed. */
  tried: AttemptWire[];
}

/** A request in a list of both logs, as the user who made it may see it, and as operators see it. */
export interface OwnListedRequestWire extends OwnRequestWire {
  id: string;
}
export interface ListedRequestWire
  extends OwnListedRequestWire, Omit<RequestWire, 'username' | 'tried'> {}

const MS = Joi.number().min(0);
const TEXT = Joi.string().allow('');
const NAME = TEXT.allow(null).required();
const ID_OR_NULL = ID.allow(null).required();

const OWN_MEMBERS = {
  request_id: Joi.string().required(),
  created_at: REQUIRED_COUNT.description('Unix seconds.'),
  kind: Joi.string<OwnRequestWire['kind']>()
    .valid('admitted', 'refused')
    .required()
    .description('refused: answered without being admitted; nothing was reserved or charged.'),
  outcome: Joi.string().required().description('ok, or the error code that the caller got.'),
  status: REQUIRED_COUNT.description('Of the answer.'),
  message: NAME.description('What the caller was told; null if all went well.'),
  model: NAME,
  token_id: ID_OR_NULL,
  token_name: NAME,
  documents: REQUIRED_COUNT,
  input_tokens: REQUIRED_COUNT,
  search_units: REQUIRED_COUNT,
  quota: REQUIRED_COUNT,
  duration_ms: MS.required(),
  upstream_ms: MS.allow(null).required().description('Waiting for upstreams, all told.'),
  attempts: REQUIRED_COUNT,
  repeated: REQUIRED_COUNT.description('How many more of its kind this entry stands for.'),
};

const PLACE = {
  id: Joi.string().required().description('Of this entry in the list: what `before` takes.'),
};
const OPERATORS_MEMBERS = {
  user_id: ID_OR_NULL,
  channel_id: ID_OR_NULL,
  channel: NAME,
  provider: NAME,
  tag: NAME,
  address: NAME,
  node: NAME.description('The gateway that answered.'),
  source: Joi.string<RequestWire['source']>().valid('api', 'console').required(),
};

/** The members of a request in a list of both logs, in the order of a file's columns. */
export const OWN_LISTED_REQUEST = { ...PLACE, ...OWN_MEMBERS };
export const LISTED_REQUEST = { ...PLACE, ...OWN_MEMBERS, ...OPERATORS_MEMBERS };

export const OWN_REQUEST = Joi.object<OwnRequestWire>(OWN_MEMBERS);
export const REQUEST = Joi.object<RequestWire>({
  ...OWN_MEMBERS,
  ...OPERATORS_MEMBERS,
  username: NAME,
  tried: Joi.array()
    .items(
      Joi.object<AttemptWire>({
        channel_id: ID.required(),
        channel: NAME,
        provider: Joi.string().required(),
        tag: NAME,
        outcome: Joi.string().required(),
        status: Joi.number().integer().allow(null).required(),
        message: TEXT.required(),
        duration_ms: MS.required(),
      }),
    )
    .required()
    .description('Every attempt, where there was more than one or one that failed.'),
});

export function ownRequestWire({ kind, entry }: FoundOne): OwnRequestWire {
  const shared = {
    request_id: entry.requestId,
    created_at: Math.floor(entry.atMs / 1000),
    outcome: entry.outcome,
    documents: entry.documents,
    duration_ms: entry.durationMs,
  };
  if (kind === 'refused') {
    return {
      ...shared,
      kind,
      status: entry.status,
      message: entry.message,
      model: entry.model ?? null,
      token_id: entry.tokenId ?? null,
      token_name: entry.tokenName ?? null,
      input_tokens: 0,
      search_units: 0,
      quota: 0,
      upstream_ms: null,
      attempts: 0,
      repeated: entry.repeated,
    };
  }
  const { detail } = entry;
  return {
    ...shared,
    kind,
    status: detail?.status ?? (entry.outcome === 'ok' ? 200 : statusOf(entry.outcome)),
    message: detail?.message ?? null,
    model: entry.model,
    token_id: entry.tokenId === 0 ? null : entry.tokenId,
    token_name: entry.tokenName,
    input_tokens: entry.inputTokens,
    search_units: entry.searchUnits,
    quota: entry.quota,
    upstream_ms: detail?.upstreamMs ?? null,
    attempts: entry.attempts,
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
  const own = ownRequestWire(request);
  const nameOf = (id: number | undefined): string | null =>
    id === undefined ? null : (channelName(id) ?? null);
  const owner = { user_id: request.entry.userId ?? null, username: username ?? null };
  if (request.kind === 'refused') {
    const { address, node } = request.entry;
    return {
      ...own,
      ...owner,
      channel_id: null,
      channel: null,
      provider: null,
      tag: null,
      address: address ?? null,
      node,
      source: 'api',
      tried: [],
    };
  }
  const { channelId, provider, tag, detail } = request.entry;
  return {
    ...own,
    ...owner,
    channel_id: channelId ?? null,
    channel: nameOf(channelId),
    provider: provider ?? null,
    tag: tag ?? null,
    address: null,
    node: detail?.node ?? null,
    source: detail?.source ?? 'api',
    tried: (detail?.tried ?? []).map((attempt) => attemptWire(attempt, nameOf(attempt.channelId))),
  };
}

export function ownListedWire(request: LoggedRequest): OwnListedRequestWire {
  return { id: request.id, ...ownRequestWire(request) };
}

export function listedWire(
  request: LoggedRequest,
  channelName: (id: number) => string | undefined,
): ListedRequestWire {
  const { username: _, tried: __, ...row } = requestWire(request, undefined, channelName);
  return { id: request.id, ...row };
}

function attemptWire(attempt: AttemptRecord, channel: string | null): AttemptWire {
  return {
    channel_id: attempt.channelId,
    channel,
    provider: attempt.provider,
    tag: attempt.tag ?? null,
    outcome: attempt.outcome,
    status: attempt.status ?? null,
    message: attempt.message,
    duration_ms: attempt.durationMs,
  };
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
