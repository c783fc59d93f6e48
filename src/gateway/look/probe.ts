import { own } from '../../core/records.js';
import type { Channel } from '../../core/channel.js';
import { textDocuments } from '../../core/text-documents.js';
import {
  judgeRanking,
  PROBE_DOCUMENTS,
  PROBE_QUERY,
  type Probe,
  type ProbeProblem,
  type ProbeRanking,
  type ProbeReport,
} from '../../core/probe.js';
import type { UpstreamFailure } from '../../core/retry.js';
import { forModel, type RankerTools, type TokenRequest } from '../../providers/provider.js';
import type { RawReply } from '../../providers/reply.js';
import type { NeuralRanker } from '../../rankers/ranker.js';
import { diagnose, MAX_PROBE_MS, type Sighting } from './diagnosis.js';
import { offerOf } from '../offer.js';
import type { AttemptOutcome } from '../rank.js';
import {
  makeRoute,
  type DeclaredCredentials,
  type Route,
  type RouteKey,
} from '../channels/route.js';
import { createScope, type Scope } from '../scope.js';
import { AccessTokens } from '../transport/access-tokens.js';
import { createSend } from '../send.js';
import { Trace } from '../trace.js';
import { TransportError, type UpstreamRequest } from '../transport/transport.js';
import type { Upstream } from '../transport/upstream.js';

export interface ProbeDeps {
  readonly upstream: Pick<Upstream, 'send' | 'fetchToken'>;
  readonly neural: NeuralRanker;
  readonly tools: RankerTools;
  /** Credentials of the channels that the configuration declares, by channel name. */
  readonly declared: DeclaredCredentials;
  readonly now: () => number;
  readonly attemptTimeoutMs: number;
}

type AskDeps = ProbeDeps & { readonly mayBegin: () => boolean };

/** Even if it is switched off: that is when people want to know. */
function always(): boolean {
  return true;
}

/** Extra time for fetching a token before the request itself. */
const TOKEN_GRACE_MS = 15_000;

/** Of the ranking of two short documents, or of vectors for them. */
const MAX_REPLY_BYTES = 2 * 1_048_576;

/** A probe sends one request just as traffic would be sent, and watches the wire to find out what went wrong. */
export function createProbe(deps: ProbeDeps): Probe {
  return async (channel, model, turn = 0, mayBegin = always) => {
    const made = makeRoute(asProbed(channel, deps), new Map(), deps.declared);
    if (made.kind === 'unusable') {
      const problem = { code: 'unusable', message: `The channel cannot be used: ${made.why}.` };
      return report(channel, model, { problem: problem as ProbeProblem });
    }
    const { route } = made;
    const asking = { ...deps, mayBegin };
    if (route.keys === undefined) return probeRoute(asking, channel, route, model);
    return probeKeys(asking, channel, route.keys, model, turn);
  };
}

/** Keys that one probe tries at most, where those before them are refused. */
const KEYS_TRIED = 10;

async function probeKeys(
  deps: AskDeps,
  channel: Channel,
  keys: readonly RouteKey[],
  model: string,
  turn: number,
): Promise<ProbeReport> {
  const untilMs = deps.now() + MAX_PROBE_MS;
  const refused: string[] = [];
  for (let tried = 0; ; tried += 1) {
    const key = keys[(turn * KEYS_TRIED + tried) % keys.length];
    if (key === undefined) throw new Error('a channel with keys has none');
    const found = await probeRoute(deps, channel, key.route, model);
    const isRefused = isRefusal(found);
    if (isRefused) refused.push(key.hint);
    const isLast = tried + 1 >= Math.min(KEYS_TRIED, keys.length) || deps.now() >= untilMs;
    if (isRefused && !isLast) continue;
    const warning = `Keys that the server refuses: ${refused.join(', ')}.`;
    return refused.length === 0 ? found : { ...found, warnings: [...found.warnings, warning] };
  }
}

/** Whether the key, or the account behind it, is at fault. */
function isRefusal({ problem }: ProbeReport): boolean {
  return problem?.code === 'wrong_key' || problem?.code === 'no_credit';
}

async function probeRoute(
  deps: AskDeps,
  channel: Channel,
  route: Route,
  model: string,
): Promise<ProbeReport> {
  const startedMs = deps.now();
  const witness = new Witness(deps.upstream);
  const attempt = await ask(deps, witness, route, model);
  const seen = {
    url: witness.url,
    status: witness.reply?.status,
    durationMs: deps.now() - startedMs,
  };
  if (attempt.kind === 'ranked') {
    const { rows, usage, warnings } = attempt.ranking;
    const upstreamModel = own(channel.models, model) ?? model;
    const { scoreScale } = route.provider.profile;
    const ranking = judgeRanking(rows, forModel(scoreScale, upstreamModel));
    return report(channel, model, {
      ...seen,
      ranking,
      usage: usage ?? {},
      problem: orderProblem(ranking),
      warnings: [...warnings, ...scaleWarnings(channel, ranking)],
    });
  }
  const failure = attempt.kind === 'failed' ? attempt.failure : NEVER_SENT;
  return report(channel, model, { ...seen, problem: diagnose(failure, witness, route, model) });
}

const NEVER_SENT: UpstreamFailure = { kind: 'transient', status: undefined, message: 'not sent' };

/** Scores are wanted as they come, and a test has its own time limit. */
function asProbed(channel: Channel, { attemptTimeoutMs }: ProbeDeps): Channel {
  const timeoutMs = Math.min(channel.timeoutMs ?? attemptTimeoutMs, MAX_PROBE_MS);
  return { ...channel, scores: 'raw', timeoutMs };
}

async function ask(
  { neural, tools, now, attemptTimeoutMs, mayBegin }: AskDeps,
  witness: Witness,
  route: Route,
  model: string,
): Promise<AttemptOutcome> {
  const scope = createScope(now(), MAX_PROBE_MS + TOKEN_GRACE_MS);
  try {
    const send = createSend({
      mayBegin,
      upstream: witness,
      // A token that is already at hand says nothing about the credentials that fetch the next one.
      tokens: new AccessTokens({ now, fetchToken: witness.fetchToken }),
      neural,
      tools,
      now,
      attemptTimeoutMs,
    });
    return await send(offerOf(route, model), {
      requestId: 'probe',
      owner: 'probe',
      keyId: 0,
      model,
      query: PROBE_QUERY,
      documents: textDocuments(PROBE_DOCUMENTS),
      topN: PROBE_DOCUMENTS.length,
      options: {},
      admits: () => true,
      mayAnswer: () => false,
      scope,
      trace: new Trace(),
    });
  } finally {
    scope.release();
  }
}

/** Passes requests on and remembers the outcome of the last one. */
class Witness implements Sighting {
  readonly #upstream: ProbeDeps['upstream'];
  askedForToken = false;
  url: string | undefined;
  reply: RawReply | undefined;
  error: TransportError | undefined;

  constructor(upstream: ProbeDeps['upstream']) {
    this.#upstream = upstream;
  }

  send(request: UpstreamRequest, scope?: Scope): Promise<RawReply> {
    this.url = request.origin + request.path;
    const bounded = { ...request, maxReplyBytes: MAX_REPLY_BYTES };
    return this.#watch(() => this.#upstream.send(bounded, scope));
  }

  readonly fetchToken = (request: TokenRequest, signal: AbortSignal): Promise<RawReply> => {
    this.askedForToken = true;
    return this.#watch(() => this.#upstream.fetchToken(request, signal));
  };

  async #watch(send: () => Promise<RawReply>): Promise<RawReply> {
    this.reply = undefined;
    this.error = undefined;
    try {
      this.reply = await send();
      return this.reply;
    } catch (error) {
      if (error instanceof TransportError) this.error = error;
      throw error;
    }
  }
}

function report(
  channel: Channel,
  model: string,
  found: Partial<ProbeReport> & Pick<ProbeReport, 'problem'>,
): ProbeReport {
  return {
    model,
    upstreamModel: own(channel.models, model) ?? model,
    url: undefined,
    status: undefined,
    durationMs: 0,
    ranking: undefined,
    usage: {},
    warnings: [],
    ...found,
  };
}

function orderProblem({ order }: ProbeRanking): ProbeProblem | undefined {
  switch (order) {
    case 'right':
      return undefined;
    case 'undecided':
      return {
        code: 'wrong_order',
        message:
          'Both documents got the same score. Check that the model is a reranker, and that it was loaded with its classification head.',
      };
    case 'wrong':
      return {
        code: 'wrong_order',
        message:
          'The document that answers the query came last. Check that the model is a reranker (an embedding or chat model is not), and that the server gives it its prompt template.',
      };
  }
}

function scaleWarnings({ scores }: Channel, { scale }: ProbeRanking): string[] {
  if (scale.fits) return [];
  if (scale.expected === 'logit') {
    return [
      scores === 'normalized'
        ? 'Scores look like probabilities already, and "normalized" squeezes them once more: set scores to "raw".'
        : 'Scores look like probabilities where logits were expected.',
    ];
  }
  return [
    `Scores are outside the range known for this provider (${scale.expected}): thresholds that clients use will not fit.`,
  ];
}
