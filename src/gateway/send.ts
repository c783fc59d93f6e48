import {
  InvalidRankingError,
  normalizeRanking,
  withoutForeignUnits,
  type ReportedUsage,
} from '../core/rerank.js';
import type { UpstreamFailure } from '../core/retry.js';
import { withStandIn } from '../core/stand-in.js';
import {
  CredentialError,
  type InProcessProvider,
  type Provider,
  type UpstreamCall,
} from '../providers/provider.js';
import { cleanMessage, type RankingReading } from '../providers/reply.js';
import { secretTexts } from '../providers/settings.js';
import { RankingFault, type NeuralRanker } from '../rankers/ranker.js';
import { prepareCall } from './call.js';
import { WITHDRAWN, type Attempt, type AttemptOutcome } from './rank.js';
import { maySendTwice, type Route } from './channels/route.js';
import { endError, type Scope } from './scope.js';
import { pause } from './transport/pause.js';
import { sendHttp, type HttpSendDeps, type SentJob } from './transport/send-http.js';
import { TransportError } from './transport/transport.js';

/** What one call needs from the gateway. */
export interface SendDeps extends HttpSendDeps {
  readonly neural: NeuralRanker;
  readonly attemptTimeoutMs: number;
}

type Unranked = Exclude<AttemptOutcome, { kind: 'ranked' }>;

/** A ranking as it came, or why there is none. */
type RankReading = RankingReading | Unranked;

const EARLY = 'no complete reply before another channel had to be asked';

const NO_WARNINGS: readonly string[] = [];

/** One call from body to ranking: shape, sign, post or rank inside, read. Every fault of the upstream is a value. */
export function createSend(deps: SendDeps): Attempt {
  return async (offer, job) => {
    const { route } = offer;
    const { call, restore } = prepareCall(offer, job);
    const limitMs = route.channel.timeoutMs ?? deps.attemptTimeoutMs;
    const timeoutMs = Math.min(limitMs, job.mostMs ?? Infinity);
    const { scope, ignoresSwitches = false, onSent, span } = job;
    try {
      const reading = await rankBy(deps, route, {
        call,
        timeoutMs,
        scope,
        ignoresSwitches,
        onSent,
        span,
      });
      if (reading.kind === 'failed') {
        return { kind: 'failed', failure: withoutCredentials(reading.failure, route) };
      }
      if (reading.kind === 'withdrawn') return reading;
      const { ranking } = reading;
      const transform =
        route.channel.scores === 'normalized' && offer.scale === 'logit' ? 'logistic' : 'none';
      // Judged by what was asked of the upstream: documents that were withheld cannot replace rows that it
      // omitted.
      const rows = normalizeRanking(ranking, call.documents.count, call.topN, transform);
      return {
        kind: 'ranked',
        ranking: {
          rows: restore(rows),
          usage: usageOf(route.provider, call, ranking.usage),
          warnings: ranking.warning === undefined ? NO_WARNINGS : [ranking.warning],
          written: reading.written,
          servedBy: offer.servedBy,
        },
      };
    } catch (error) {
      if (error instanceof InvalidRankingError) return failed('invalid', error.message);
      if (error instanceof TransportError)
        return transportFailure(error, job.scope, route, timeoutMs < limitMs);
      if (error instanceof CredentialError) return failed('misconfigured', error.message);
      throw error;
    }
  };
}

/** What is known of the usage: the report, less what cannot be tokens, and what a ranking of several calls likely takes. */
function usageOf(
  provider: Provider,
  call: UpstreamCall,
  reported: ReportedUsage | undefined,
): ReportedUsage | undefined {
  if (provider.profile.mayCountOtherUnits === true) {
    return withoutForeignUnits(reported, call.query, call.documents);
  }
  if (provider.transport === 'process' || provider.rounds === undefined) return reported;
  return { ...reported, likelyTokens: provider.estimate(call) };
}

function rankBy(deps: SendDeps, route: Route, sent: SentJob): Promise<RankReading> {
  const { provider } = route;
  return provider.transport === 'process'
    ? rankInProcess(deps, provider, sent)
    : sendHttp(deps, route, provider, sent);
}

async function rankInProcess(
  deps: SendDeps,
  provider: InProcessProvider,
  { call, timeoutMs, scope }: SentJob,
): Promise<RankReading> {
  const stop = new AbortController();
  const timer = setTimeout(() => {
    stop.abort(new TransportError('timeout', 'no ranking in time'));
  }, timeoutMs);
  const unlisten = scope.onEnd(() => {
    stop.abort(new TransportError('cancelled', 'the request was cancelled'));
  });
  try {
    const ranking = await provider.rank(call, stop.signal, deps.neural, pause);
    return { kind: 'ranking', ranking };
  } catch (error) {
    if (error instanceof TransportError) throw error;
    if (error instanceof RankingFault) return failed(error.kind, error.message);
    return failed('transient', cleanMessage(error instanceof Error ? error.message : ''));
  } finally {
    clearTimeout(timer);
    unlisten();
  }
}

function transportFailure(
  error: TransportError,
  scope: Scope,
  route: Route,
  isEarly: boolean,
): Unranked {
  switch (error.fault) {
    case 'withdrawn':
      return WITHDRAWN;
    case 'cancelled':
      return ended(scope);
    case 'timeout':
      if (scope.ended !== undefined) return ended(scope);
      return isEarly
        ? {
            kind: 'failed',
            failure: { kind: 'timeout', status: undefined, message: EARLY, isEarly },
          }
        : failed('timeout', error.message);
    case 'unreadable':
      return failed('invalid', error.message);
    case 'forbidden':
      return failed('misconfigured', error.message);
    case 'connect':
      return {
        kind: 'failed',
        failure: { kind: 'transient', status: undefined, message: error.message, unsent: true },
      };
    case 'no_room':
      return failed('transient', error.message);
    case 'reset': {
      const repeatable = error.resend === 'safe' || maySendTwice(route);
      const { message } = error;
      return {
        kind: 'failed',
        failure: { kind: 'transient', status: undefined, message, repeatable },
      };
    }
  }
}

/** A call whose scope ended: withdrawn if another one was faster, otherwise the end of the request. */
function ended(scope: Scope): Unranked {
  if (scope.ended === 'lost') return WITHDRAWN;
  throw endError(scope.ended ?? 'client_gone');
}

function failed(kind: UpstreamFailure['kind'], message: string): Unranked {
  return { kind: 'failed', failure: { kind, status: undefined, message } };
}

/** Upstreams quote the key that they refuse. */
function withoutCredentials(failure: UpstreamFailure, route: Route): UpstreamFailure {
  let { message } = failure;
  for (const text of secretTexts(route.provider, route.endpoint)) {
    message = withStandIn(message, text, '[secret]');
  }
  return { ...failure, message };
}
