import type { AttemptEvent, RequestEvent } from '../../src/gateway/events.js';

/** A request that was ranked, but for `fields`. */
export function requestEvent(fields: Partial<RequestEvent> = {}): RequestEvent {
  return {
    kind: 'request',
    requestId: 'req-1',
    atMs: 1_700_000_000_000,
    method: 'POST',
    route: '/v1/rerank',
    status: 200,
    outcome: 'ok',
    userId: 1,
    tokenId: 2,
    tokenName: 'token',
    model: 'moon',
    knownModel: true,
    channelId: 3,
    provider: 'cohere',
    tag: undefined,
    attempts: 1,
    documents: 10,
    inputTokens: 12,
    searchUnits: 1,
    quota: 5,
    admitted: true,
    degraded: false,
    durationMs: 21,
    upstreamMs: 20,
    ...fields,
  };
}

/** The attempt of such a request that went well, but for `fields`. */
export function attemptEvent(fields: Partial<AttemptEvent> = {}): AttemptEvent {
  return {
    kind: 'attempt',
    atMs: 1_700_000_000_000,
    requestId: 'req-1',
    channelId: 3,
    provider: 'cohere',
    tag: undefined,
    outcome: 'ok',
    status: 200,
    message: '',
    durationMs: 20,
    ...fields,
  };
}
