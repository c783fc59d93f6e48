import { textDocuments } from '../../src/core/text-documents.js';
import type { Channel } from '../../src/core/channel.js';
import { CHANNEL_DEFAULTS } from '../../src/core/channel-members.js';
import type { UpstreamFailure } from '../../src/core/retry.js';
import { offerOf, tiersOf } from '../../src/gateway/offer.js';
import type { AttemptOutcome, Job, Offer, Plan, Rank, Ranking } from '../../src/gateway/rank.js';
import { makeRoute } from '../../src/gateway/channels/route.js';
import { createScope, type Scope } from '../../src/gateway/scope.js';
import { Trace } from '../../src/gateway/trace.js';

export const MODEL = 'm';

/** A channel of a server that is never asked, as it serves `MODEL`. */
export function offer(id: number, given: Partial<Channel> = {}): Offer {
  const channel: Channel = {
    ...CHANNEL_DEFAULTS,
    id,
    name: `channel ${id}`,
    provider: 'tei',
    baseUrl: `http://127.0.0.1:${9_000 + id}`,
    credentials: {},
    models: { [MODEL]: MODEL },
    tag: undefined,
    status: 1,
    settings: {},
    origin: 'store',
    ...given,
  };
  const made = makeRoute(channel, new Map(), new Map());
  if (made.kind === 'unusable') throw new Error(made.why);
  return offerOf(made.route, MODEL);
}

/** The plan of `MODEL`, which ranks as the test says; not at all where it does not say. */
export function plan(offers: readonly Offer[], given: Partial<Plan> = {}): Plan {
  const rank: Rank = given.rank ?? (() => Promise.reject(new Error('nothing is ranked here')));
  return {
    rank,
    rankAlone: rank,
    rankWith: () => rank,
    refusal: undefined,
    ask: () => Promise.reject(new Error('no channel is asked here')),
    shaped: (send) => send,
    offers,
    tiers: tiersOf(offers),
    select: 'weighted',
    answers: [MODEL],
    isLastResort: false,
    ...given,
  };
}

/** What is to be ranked; its scope ends by the test's hand alone. */
export function job(given: Partial<Job> = {}): Job {
  const documents = given.documents ?? textDocuments(['a', 'b', 'c']);
  return {
    requestId: 'request',
    owner: 'owner',
    keyId: 1,
    model: MODEL,
    query: 'q',
    documents,
    topN: documents.count,
    options: {},
    admits: () => true,
    mayAnswer: () => true,
    scope: openScope(),
    trace: new Trace(),
    ...given,
  };
}

function openScope(): Scope {
  const scope = createScope(Date.now(), 60_000);
  // Its timer would hold the process: these scopes end by hand.
  scope.release();
  return scope;
}

/** A ranking of `count` documents, best first in the order given. */
export function ranking(from: Offer, count = 3): Ranking {
  return {
    rows: Array.from({ length: count }, (_, index) => ({ index, score: 1 - index / count })),
    usage: undefined,
    warnings: [],
    written: undefined,
    servedBy: from.servedBy,
  };
}

export function ranked(from: Offer, count = 3): AttemptOutcome {
  return { kind: 'ranked', ranking: ranking(from, count) };
}

export function failed(
  kind: UpstreamFailure['kind'],
  more: Partial<UpstreamFailure> = {},
): AttemptOutcome {
  return { kind: 'failed', failure: { kind, status: undefined, message: '', ...more } };
}
