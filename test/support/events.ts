import { usageMembersOf, type UsageMembers } from '../../src/core/usage-members.js';
import type { AttemptEvent, RequestEvent } from '../../src/gateway/events.js';
import type { UsageEntry } from '../../src/store/store.js';

/** What a usage entry says of a request, but for `fields`; a member that nobody names here has its row's default. */
function usageMembers(fields: Partial<UsageMembers>): UsageMembers {
  return usageMembersOf({
    ...{ requestId: 'req-1', userId: 1, tokenId: 2, tokenName: 'token', model: 'moon' },
    ...{ channelId: 3, provider: 'cohere', attempts: 1, documents: 10, inputTokens: 12 },
    ...{ searchUnits: 1, quota: 5, durationMs: 21, outcome: 'ok' },
    ...fields,
  });
}

/** An entry of the usage log, but for `fields`. */
export function usageEntry(fields: Partial<UsageEntry> = {}): UsageEntry {
  const { atMs = 1_700_000_000_000, detail, ...members } = fields;
  return { atMs, ...usageMembers(members), ...(detail === undefined ? {} : { detail }) };
}

/** A request that was ranked, but for `fields`. */
export function requestEvent(fields: Partial<RequestEvent> = {}): RequestEvent {
  // In the order in which the gateway makes it, which the line in the log follows.
  const { requestId, outcome: _, durationMs, ...members } = usageMembers({});
  return {
    ...{ kind: 'request', requestId, atMs: 1_700_000_000_000, method: 'POST' },
    ...{ route: '/v1/rerank', status: 200, outcome: 'ok', ...members },
    ...{
      knownModel: true,
      cost: 0,
      admitted: true,
      degraded: false,
      durationMs,
      upstreamMs: 20,
      trace: undefined,
    },
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
    model: 'moon',
    provider: 'cohere',
    tag: undefined,
    outcome: 'ok',
    status: 200,
    message: '',
    durationMs: 20,
    span: undefined,
    ...fields,
  };
}
