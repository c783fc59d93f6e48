import { encodeJson, encodeJsonInSteps, type JsonBody } from '../core/json/json.js';
import {
  InvalidRankingError,
  normalizeRanking,
  withoutForeignUnits,
  type ReportedUsage,
} from '../core/rerank.js';
import type { UpstreamFailure } from '../core/retry.js';
import { withStandIn } from '../core/stand-in.js';
import { readPages } from '../providers/pages.js';
import {
  CredentialError,
  type ComposedProvider,
  type HttpProvider,
  type InProcessProvider,
  type Provider,
  type RankerTools,
  type UpstreamCall,
} from '../providers/provider.js';
import {
  cleanMessage,
  isLargeReply,
  parsedInSteps,
  type RankingReading,
  type RawReply,
  type ReplyReading,
} from '../providers/reply.js';
import { readRounds } from '../providers/rounds.js';
import { secretTexts } from '../providers/settings.js';
import { RankingFault, type NeuralRanker } from '../rankers/ranker.js';
import type { AccessTokens } from './access-tokens.js';
import { prepareCall } from './call.js';
import type { Attempt, AttemptOutcome } from './rank.js';
import type { Route } from './route.js';
import { endError, nextTurn, type Scope } from './scope.js';
import { TransportError, type UpstreamRequest } from './transport.js';
import type { Upstream } from './upstream.js';
import { memoryOf } from './vector-memory.js';

/** What one call needs from the gateway. */
export interface SendDeps {
  readonly upstream: Pick<Upstream, 'send'>;
  readonly tokens: Pick<AccessTokens, 'get' | 'drop'>;
  readonly neural: NeuralRanker;
  readonly tools: RankerTools;
  readonly now: () => number;
  readonly attemptTimeoutMs: number;
  /** Asked right before anything is sent: whether the channel is known to take traffic at this very moment. */
  readonly mayBegin: (route: Route) => boolean;
}

/**
 * One call as the upstream gets it. Its time limit is not cut to the rest of the deadline, which ends the request and not
 * just the call.
 */
interface SentJob {
  readonly call: UpstreamCall;
  readonly timeoutMs: number;
  readonly scope: Scope;
  readonly ignoresSwitches: boolean;
}

type Unranked = Exclude<AttemptOutcome, { kind: 'ranked' }>;
/** A ranking as it came, or why there is none. */
type RankReading = RankingReading | Unranked;

const NO_WARNINGS: readonly string[] = [];

/** One call from body to ranking: shape, sign, post or rank inside, read. Every fault of the upstream is a value. */
export function createSend(deps: SendDeps): Attempt {
  return async (offer, job) => {
    const { route } = offer;
    const { call, restore } = prepareCall(offer, job);
    const timeoutMs = Math.min(
      route.channel.timeoutMs ?? deps.attemptTimeoutMs,
      job.mostMs ?? Infinity,
    );
    const { scope, ignoresSwitches = false } = job;
    try {
      const reading = await rankBy(deps, route, { call, timeoutMs, scope, ignoresSwitches });
      if (reading.kind === 'failed') {
        return { kind: 'failed', failure: withoutCredentials(reading.failure, route) };
      }
      if (reading.kind === 'withdrawn') return reading;
      const { ranking } = reading;
      const transform =
        route.channel.scores === 'normalized' && offer.scale === 'logit' ? 'logistic' : 'none';
      // Judged by what was asked of the upstream: documents that were withheld cannot stand in for rows that it
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
      if (error instanceof TransportError) return transportFailure(error, job.scope);
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
    const ranking = await provider.rank(call, stop.signal, deps.neural);
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

/** Bodies that are written in steps, since others would have to wait. */
const LARGE_BYTES = 1_048_576;

async function sendHttp(
  deps: SendDeps,
  route: Route,
  provider: HttpProvider | ComposedProvider,
  { call, timeoutMs, scope, ignoresSwitches }: SentJob,
): Promise<RankReading> {
  const untilMs = deps.now() + timeoutMs;
  const source = provider.token?.(route.endpoint);
  const bearer =
    source === undefined ? undefined : await deps.tokens.get(route, source, { scope, timeoutMs });
  if (bearer?.kind === 'failed') return { kind: 'failed', failure: bearer.failure };
  const isLarge = call.documents.sizeBytes + call.query.length > LARGE_BYTES;
  const post: Post = async (target, json, within) => {
    const path = route.pathOf(target);
    const body = isLarge ? await encodeJsonInSteps(json, nextTurn) : encodeJson(json);
    let headers = route.headers as string[];
    if (bearer !== undefined) headers = [...headers, 'authorization', `Bearer ${bearer.token}`];
    if (provider.sign !== undefined) {
      headers = signedHeaders(provider.sign, route, path, headers, body, deps.now());
    }
    const request: UpstreamRequest = {
      origin: route.origin,
      path,
      method: 'POST',
      headers,
      body,
      timeoutMs: Math.max(1, untilMs - deps.now()),
      stillWanted: () => ignoresSwitches || deps.mayBegin(route),
    };
    let reply: RawReply;
    try {
      reply = await deps.upstream.send(request, within);
    } catch (error) {
      if (!maySendAgain(error, route)) throw error;
      const left = { ...request, timeoutMs: Math.max(1, untilMs - deps.now()) };
      reply = await deps.upstream.send(left, within);
    }
    if (!isLargeReply(reply)) return reply;
    return parsedInSteps(reply, call.documents.count, async () => {
      await nextTurn();
      if (within.ended !== undefined) throw new TransportError('cancelled', 'nobody waits for it');
    });
  };
  let reading: ReplyReading;
  if (provider.rounds === undefined) {
    const send = (page: UpstreamCall): Promise<RawReply> => post(page, provider.body(page), scope);
    const read = readPages(provider, call, await send(call), send, deps.now);
    reading = 'then' in read ? await read : read;
  } else {
    reading = await sendRounds(deps, route, provider, { call, scope }, post);
  }
  if (reading.kind === 'ranking') return reading;
  if (bearer !== undefined && reading.failure.status === 401) {
    deps.tokens.drop(route, bearer.token);
  }
  return { kind: 'failed', failure: reading.failure };
}

/** Posts one body to the call's address. */
type Post = (target: UpstreamCall, body: JsonBody, scope: Scope) => Promise<RawReply>;

/** All calls of a ranking that takes several: when it fails, those in flight are not waited for. */
async function sendRounds(
  deps: SendDeps,
  route: Route,
  provider: ComposedProvider,
  { call, scope }: Pick<SentJob, 'call' | 'scope'>,
  post: Post,
): Promise<ReplyReading> {
  const calls = scope.child();
  const vectors = memoryOf(
    deps.tools.vectors,
    `${provider.id} ${route.origin}${route.pathOf(call)}`,
  );
  try {
    const send = (body: JsonBody): Promise<RawReply> => post(call, body, calls);
    return await readRounds(provider, call, { ...deps.tools, vectors }, send, deps.now);
  } finally {
    calls.end('lost');
    calls.release();
  }
}

/**
 * A kept-alive connection broke: the call is sent once more on a fresh one, if the request cannot have had any effect or its
 * channel allows it.
 */
function maySendAgain(error: unknown, { channel }: Route): boolean {
  if (!(error instanceof TransportError)) return false;
  return error.resend === 'safe' || (error.resend === 'unsafe' && channel.retryUnsafe);
}

function signedHeaders(
  sign: NonNullable<HttpProvider['sign']>,
  route: Route,
  path: string,
  headers: readonly string[],
  body: Buffer,
  nowMs: number,
): string[] {
  const named: Record<string, string> = {};
  for (let at = 0; at < headers.length; at += 2) named[headers[at] ?? ''] = headers[at + 1] ?? '';
  const url = new URL(route.origin + path);
  const signature = sign({ method: 'POST', url, headers: named, body }, route.endpoint, nowMs);
  return Object.entries({ ...named, ...signature }).flat();
}

function transportFailure(error: TransportError, scope: Scope): Unranked {
  switch (error.fault) {
    case 'withdrawn':
      return WITHDRAWN;
    case 'cancelled':
      return ended(scope);
    case 'timeout':
      return scope.ended === undefined ? failed('timeout', error.message) : ended(scope);
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
    case 'reset':
      return failed('transient', error.message);
  }
}

const WITHDRAWN: Unranked = { kind: 'withdrawn' };

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
