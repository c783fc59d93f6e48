import { nextChannel } from '../core/channel.js';
import { textDocuments } from '../core/documents.js';
import { ERRORS, GatewayError } from '../core/errors.js';
import { encodeJson } from '../core/json.js';
import {
  InvalidRankingError,
  normalizeRanking,
  type RankedRow,
  type ReportedUsage,
  type RerankRequest,
  type WrittenRows,
} from '../core/rerank.js';
import { errorCodeOf, mayFailOver, type UpstreamFailure } from '../core/retry.js';
import {
  CredentialError,
  documentLimit,
  forModel,
  RankingFault,
  type HttpProvider,
  type NeuralRanker,
  type InProcessProvider,
  type Provider,
  type ProviderProfile,
  type UpstreamCall,
} from '../providers/provider.js';
import { readPages } from '../providers/pages.js';
import { cleanMessage, type RankingReading, type RawReply } from '../providers/reply.js';
import type { ChannelTable } from './channel-table.js';
import type { Observe } from './events.js';
import type { Route } from './route.js';
import { cancellationError, type RequestScope } from './scope.js';
import type { TokenCache } from './token-cache.js';
import { TransportError, type Upstream, type UpstreamRequest } from './upstream.js';

export interface DispatchDeps {
  readonly channels: ChannelTable;
  readonly upstream: Upstream;
  readonly tokens: TokenCache;
  readonly neural: NeuralRanker;
  readonly observe: Observe;
  readonly now: () => number;
  readonly random: () => number;
  readonly maxAttempts: number;
  readonly attemptTimeoutMs: number;
  /** The longest that an upstream's `Retry-After` keeps a channel out. */
  readonly maxCooldownMs: number;
}

/** What one request brings to its attempts. */
export interface DispatchCall {
  readonly requestId: string;
  readonly request: RerankRequest;
  /** The model without a tag. */
  readonly model: string;
  /** The request's own choice of channels: key and request may each name tags. */
  readonly admits: (route: Route) => boolean;
  readonly scope: RequestScope;
  /** Counts up while attempts are made, also when the request fails. */
  readonly trace: DispatchTrace;
}

export interface DispatchTrace {
  attempts: number;
  upstreamMs: number;
  channelId: number | undefined;
  provider: string | undefined;
  tag: string | undefined;
}

export interface DispatchResult {
  readonly rows: readonly RankedRow[];
  readonly reported: ReportedUsage | undefined;
  readonly warning: string | undefined;
  readonly written: WrittenRows | undefined;
}

/** What one attempt needs of the gateway. */
export interface AttemptDeps {
  readonly channels: Pick<ChannelTable, 'live' | 'isFresh'>;
  readonly upstream: Pick<Upstream, 'send'>;
  readonly tokens: Pick<TokenCache, 'get' | 'drop'>;
  readonly neural: NeuralRanker;
  readonly now: () => number;
  readonly attemptTimeoutMs: number;
}

export type AttemptCall = Pick<DispatchCall, 'request' | 'model' | 'scope'>;

export type AttemptResult =
  | { readonly kind: 'ranked'; readonly result: DispatchResult }
  | { readonly kind: 'failed'; readonly failure: UpstreamFailure }
  /** Switched off before anything was sent: as if it had not been chosen. */
  | { readonly kind: 'withdrawn' };

const DEFAULT_COOLDOWN_MS = 1_000;

/**
 * Asks channel after channel until one answers with a ranking: the highest priority first, each at most once, none that
 * is switched off at the moment of the attempt.
 * @throws GatewayError when no channel is left, the deadline passes, the caller leaves, or the input is at fault.
 */
export async function dispatch(deps: DispatchDeps, call: DispatchCall): Promise<DispatchResult> {
  const tried = new Set<number>();
  const failures: UpstreamFailure[] = [];
  /** Providers whose own limit the request broke: their other channels have the same one. */
  const unfit = new Set<string>();
  while (call.trace.attempts < deps.maxAttempts) {
    call.scope.throwIfCancelled();
    if (!deps.channels.isFresh()) await deps.channels.ensureFresh();
    const route = choose(deps, call, tried, unfit);
    if (route === undefined) break;
    tried.add(route.id);
    const attempt = await tryRoute(deps, call, route);
    if (attempt.kind === 'withdrawn') {
      // Still live: it was only not known any more whether it is, which the next round asks before it goes on.
      if (deps.channels.live(route.id) !== undefined) tried.delete(route.id);
      continue;
    }
    if (attempt.kind === 'ranked') return attempt.result;
    const { failure } = attempt;
    if (!mayFailOver(failure.kind)) throw refusalOf(failure);
    if (failure.kind === 'limit' && isOneService(route.provider)) unfit.add(route.provider.id);
    failures.push(failure);
  }
  call.scope.throwIfCancelled();
  throw failures.length > 0 ? failedError(deps, failures) : unavailableError(deps, call);
}

/** Whether all channels of a provider reach the same service, with the same limits; self-hosted servers have their own. */
function isOneService(provider: Provider): boolean {
  return provider.transport === 'http' && provider.baseUrl !== undefined;
}

/** The next channel to try, without those that cannot serve this request now. */
function choose(
  deps: DispatchDeps,
  call: DispatchCall,
  tried: ReadonlySet<number>,
  unfit: ReadonlySet<string>,
): Route | undefined {
  const routes = deps.channels.current.byModel.get(call.model) ?? [];
  const nowMs = deps.now();
  const usable = routes.filter(
    (route) =>
      route.live &&
      call.admits(route) &&
      !unfit.has(route.provider.id) &&
      isReady(deps, route, nowMs) &&
      misfit(route, call) === undefined,
  );
  return nextChannel(usable, tried, deps.random);
}

function isReady(deps: DispatchDeps, route: Route, nowMs: number): boolean {
  const state = deps.channels.state(route.id);
  const { maxConcurrency } = route.channel;
  return state.coolUntilMs <= nowMs && (maxConcurrency === 0 || state.inFlight < maxConcurrency);
}

/** Why a channel can never serve this request, whatever its load; `undefined` when it can. */
function misfit(
  route: Route,
  call: DispatchCall,
): 'documents' | 'characters' | 'images' | undefined {
  const { profile } = route.provider;
  const { documents } = call.request;
  const model = upstreamModel(route, call.model);
  const limit = documentLimit(profile, model, route.endpoint.settings);
  if (limit !== undefined && documents.count > limit) return 'documents';
  if (documents.hasLoneImages && !takesImages(route, model)) return 'images';
  return isTooLong(profile.limits, call.request) ? 'characters' : undefined;
}

/** Whether a provider that refuses long texts would refuse this one; counted only where the bytes do not rule it out. */
function isTooLong(
  { queryCharacters, documentCharacters, requestCharacters }: ProviderProfile['limits'],
  { query, documents }: RerankRequest,
): boolean {
  if (queryCharacters !== undefined && query.length > queryCharacters) return true;
  const least = Math.min(documentCharacters ?? Infinity, requestCharacters ?? Infinity);
  if (documents.sizeBytes + query.length <= least) return false;
  let total = query.length;
  for (let index = 0; index < documents.count; index += 1) {
    const { length } = documents.text(index);
    if (length > (documentCharacters ?? Infinity)) return true;
    total += length;
  }
  return total > (requestCharacters ?? Infinity);
}

function takesImages({ provider }: Route, upstreamModel: string): boolean {
  return forModel(provider.profile.documents.images, upstreamModel);
}

function upstreamModel(route: Route, model: string): string {
  return route.channel.models[model] ?? model;
}

async function tryRoute(
  deps: DispatchDeps,
  call: DispatchCall,
  route: Route,
): Promise<AttemptResult> {
  const { trace } = call;
  trace.attempts += 1;
  trace.channelId = route.id;
  trace.provider = route.provider.id;
  trace.tag = route.channel.tag;
  const state = deps.channels.state(route.id);
  const startedMs = deps.now();
  state.inFlight += 1;
  let attempt: AttemptResult;
  try {
    attempt = await runAttempt(deps, call, route);
  } finally {
    state.inFlight -= 1;
    trace.upstreamMs += deps.now() - startedMs;
  }
  const failure = attempt.kind === 'failed' ? attempt.failure : undefined;
  if (attempt.kind === 'withdrawn') trace.attempts -= 1;
  if (failure?.kind === 'busy') {
    state.coolUntilMs =
      deps.now() + Math.min(failure.retryAfterMs ?? DEFAULT_COOLDOWN_MS, deps.maxCooldownMs);
  }
  deps.observe({
    kind: 'attempt',
    requestId: call.requestId,
    channelId: route.id,
    provider: route.provider.id,
    tag: route.channel.tag,
    outcome:
      attempt.kind === 'ranked'
        ? 'ok'
        : attempt.kind === 'withdrawn'
          ? 'cancelled'
          : attempt.failure.kind,
    status: attempt.kind === 'ranked' ? 200 : failure?.status,
    message: failure === undefined ? '' : loggable(failure.message, call.request),
    durationMs: deps.now() - startedMs,
  });
  return attempt;
}

/** So much of a text in a message is a quotation; shorter ones are words that any message may have. */
const QUOTED_CHARACTERS = 12;
/** Documents that are looked for in a message. */
const MAX_LOOKED_FOR = 1_000;

/** Providers quote what they refuse. The caller may see its own words again; the log must not have them. */
function loggable(message: string, { query, documents }: RerankRequest): string {
  if (message.length < QUOTED_CHARACTERS) return message;
  const isQuoted = (text: string): boolean => {
    const words = text.replace(/\s+/g, ' ').trim().slice(0, QUOTED_CHARACTERS);
    return words.length === QUOTED_CHARACTERS && message.includes(words);
  };
  let quotes = isQuoted(query);
  const count = Math.min(documents.count, MAX_LOOKED_FOR);
  for (let index = 0; index < count && !quotes; index += 1)
    quotes = isQuoted(documents.text(index));
  return quotes ? '[the message quotes the request]' : message;
}

/** One attempt from body to ranking. A cancelled request throws; every fault of the upstream is a value. */
export async function runAttempt(
  deps: AttemptDeps,
  call: AttemptCall,
  route: Route,
): Promise<AttemptResult> {
  // Not cut to what is left of the deadline: that ends the request as a whole, and not this attempt alone.
  const timeoutMs = route.channel.timeoutMs ?? deps.attemptTimeoutMs;
  const prepared = prepareCall(route, call);
  try {
    const reading = await rankBy(deps, call, route, prepared.call, timeoutMs);
    if (reading.kind !== 'ranking') return reading;
    const { ranking } = reading;
    const transform =
      route.channel.scores === 'normalized' &&
      forModel(route.provider.profile.scoreScale, prepared.call.model) === 'logit'
        ? 'logistic'
        : 'none';
    // Judged by what was asked of the upstream: what was kept from it cannot stand in for rows that it left out.
    const { documents, topN } = prepared.call;
    const rows = normalizeRanking(ranking, documents.count, topN, transform);
    return {
      kind: 'ranked',
      result: {
        rows: prepared.restore(rows),
        reported: ranking.usage,
        warning: ranking.warning,
        written: reading.written,
      },
    };
  } catch (error) {
    if (error instanceof InvalidRankingError) return failed('invalid', error.message);
    if (error instanceof TransportError) return transportFailure(error, call.scope);
    if (error instanceof CredentialError) return failed('misconfigured', error.message);
    throw error;
  }
}

type Unranked = Exclude<AttemptResult, { kind: 'ranked' }>;
/** A ranking as it came, or why there is none. */
type RankReading = RankingReading | Unranked;

function rankBy(
  deps: AttemptDeps,
  call: AttemptCall,
  route: Route,
  upstreamCall: UpstreamCall,
  timeoutMs: number,
): Promise<RankReading> {
  const { provider } = route;
  return provider.transport === 'process'
    ? rankInProcess(deps, call, provider, upstreamCall, timeoutMs)
    : sendHttp(deps, call, route, provider, upstreamCall, timeoutMs);
}

async function rankInProcess(
  deps: AttemptDeps,
  call: AttemptCall,
  provider: InProcessProvider,
  upstreamCall: UpstreamCall,
  timeoutMs: number,
): Promise<RankReading> {
  const stop = new AbortController();
  const timer = setTimeout(() => {
    stop.abort(new TransportError('timeout', 'no ranking in time'));
  }, timeoutMs);
  call.scope.whenCancelled(() => {
    stop.abort(new TransportError('cancelled', 'the request was cancelled'));
  });
  try {
    const ranking = await provider.rank(upstreamCall, stop.signal, deps.neural);
    return { kind: 'ranking', ranking };
  } catch (error) {
    if (error instanceof TransportError) throw error;
    if (error instanceof RankingFault) return failed(error.kind, error.message);
    return failed('transient', cleanMessage(error instanceof Error ? error.message : ''));
  } finally {
    clearTimeout(timer);
    call.scope.whenCancelled(undefined);
  }
}

async function sendHttp(
  deps: AttemptDeps,
  call: AttemptCall,
  route: Route,
  provider: HttpProvider,
  upstreamCall: UpstreamCall,
  timeoutMs: number,
): Promise<RankReading> {
  const untilMs = deps.now() + timeoutMs;
  const source = provider.token?.(route.endpoint);
  const bearer =
    source === undefined
      ? undefined
      : await deps.tokens.get(route, source, { scope: call.scope, timeoutMs });
  if (bearer?.kind === 'failed') return { kind: 'failed', failure: bearer.failure };
  const send = (page: UpstreamCall): Promise<RawReply> => {
    const path = route.pathOf(page);
    const body = encodeJson(provider.body(page));
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
      stillWanted: () => deps.channels.isFresh() && deps.channels.live(route.id) !== undefined,
    };
    return deps.upstream.send(request, call.scope).catch((error: unknown) => {
      // An idle connection that the server has closed: nothing was answered, so once more on a fresh one.
      if (!(error instanceof TransportError) || !error.stale) throw error;
      const left = { ...request, timeoutMs: Math.max(1, untilMs - deps.now()) };
      return deps.upstream.send(left, call.scope);
    });
  };
  const reading = await readPages(provider, upstreamCall, send, deps.now);
  if (reading.kind === 'ranking') return reading;
  if (bearer !== undefined && reading.failure.status === 401) {
    deps.tokens.drop(route, bearer.token);
  }
  return { kind: 'failed', failure: withoutCredentials(reading.failure, route) };
}

/**
 * The request in the channel's terms: its model name, no images where it takes none, and its way with blank documents.
 * Where they must not be sent they are left out, and `restore` puts them behind the others, with the lowest score of these.
 */
function prepareCall(
  route: Route,
  call: AttemptCall,
): { call: UpstreamCall; restore: (rows: RankedRow[]) => RankedRow[] } {
  const { request } = call;
  const { blanks } = route.provider.profile;
  const all = takesImages(route, upstreamModel(route, call.model))
    ? request.documents
    : request.documents.withoutImages();
  const whole = (documents: RerankRequest['documents']) => ({
    call: upstreamCall(route, call, documents, request.topN),
    restore: unchanged,
  });
  if (blanks === 'accepted') return whole(all);
  if (blanks === 'as_space') return whole(all.fillBlanks(' '));
  const blank = all.blanks();
  if (blank.length === 0) return whole(all);
  const left = new Set(blank);
  const kept = Array.from({ length: all.count }, (_, index) => index).filter(
    (index) => !left.has(index),
  );
  if (kept.length === 0) {
    // Nothing but blanks: a placeholder keeps the request valid, and all come back in the order they came.
    return whole(textDocuments(Array.from({ length: blank.length }, () => '-')));
  }
  return {
    call: upstreamCall(route, call, all.pick(kept), Math.min(request.topN, kept.length)),
    restore: (rows) => {
      const lowest = rows.at(-1)?.score ?? 0;
      return [
        ...rows.map(({ index, score }) => ({ index: kept[index] ?? index, score })),
        ...blank.map((index) => ({ index, score: lowest })),
      ].slice(0, request.topN);
    },
  };
}

function unchanged(rows: RankedRow[]): RankedRow[] {
  return rows;
}

function upstreamCall(
  route: Route,
  { request, model }: AttemptCall,
  documents: RerankRequest['documents'],
  topN: number,
): UpstreamCall {
  return {
    model: upstreamModel(route, model),
    query: request.query,
    documents,
    topN,
    options: request.options,
    settings: route.endpoint.settings,
  };
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

function transportFailure(error: TransportError, scope: RequestScope): Unranked {
  switch (error.fault) {
    case 'withdrawn':
      return { kind: 'withdrawn' };
    case 'cancelled':
      throw cancellationError(scope.reason ?? 'client_gone');
    case 'timeout':
      if (scope.reason !== undefined) throw cancellationError(scope.reason);
      return failed('timeout', error.message);
    case 'unreadable':
      return failed('invalid', error.message);
    case 'connect':
    case 'reset':
      return failed('transient', error.message);
  }
}

function failed(kind: UpstreamFailure['kind'], message: string): Unranked {
  return { kind: 'failed', failure: { kind, status: undefined, message } };
}

/** Upstreams quote the key they refuse. */
function withoutCredentials(failure: UpstreamFailure, route: Route): UpstreamFailure {
  let { message } = failure;
  for (const secret of Object.values(route.endpoint.credentials)) {
    const value = secret.reveal();
    if (value.length > 0) message = message.replaceAll(value, '[secret]');
  }
  return { ...failure, message };
}

/** The caller's input is at fault: 400, 413 or 422 as the upstream said, with its words. */
function refusalOf(failure: UpstreamFailure): GatewayError {
  const code = errorCodeOf(failure);
  const { status } = failure;
  const kept = status === 400 || status === 413 || status === 422 ? status : ERRORS[code].status;
  return new GatewayError(
    code,
    failure.message === ''
      ? 'The provider refused the request as invalid.'
      : `The provider refused the request: ${failure.message}`,
    { status: kept },
  );
}

/** All candidates failed: what the caller is told, and whether trying again later makes sense. */
function failedError(
  { maxCooldownMs }: DispatchDeps,
  failures: readonly UpstreamFailure[],
): GatewayError {
  const last = failures.findLast(({ kind }) => kind !== 'limit') ?? failures.at(-1);
  if (last === undefined || last.kind === 'limit') {
    return refusalOf(last ?? { kind: 'limit', status: undefined, message: '' });
  }
  if (failures.every(({ kind }) => kind === 'busy')) {
    const waits = failures.map(({ retryAfterMs }) => retryAfterMs ?? DEFAULT_COOLDOWN_MS);
    return new GatewayError('overloaded', 'Every provider for this model is overloaded.', {
      // No longer than the channels are kept out.
      retryAfterMs: Math.min(...waits, maxCooldownMs),
    });
  }
  const code = errorCodeOf(last.kind === 'busy' ? { ...last, kind: 'transient' } : last);
  const message = {
    upstream_timeout: 'The provider did not answer in time.',
    upstream_invalid_response: 'The provider answered with something that is not a ranking.',
  } as const;
  return new GatewayError(
    code,
    code === 'upstream_timeout' || code === 'upstream_invalid_response'
      ? message[code]
      : 'The provider failed to answer.',
  );
}

/** No channel could even be tried: why, without naming any. */
function unavailableError(deps: DispatchDeps, call: DispatchCall): GatewayError {
  const routes = (deps.channels.current.byModel.get(call.model) ?? []).filter(
    (route) => route.live && call.admits(route),
  );
  const fitting = routes.filter((route) => misfit(route, call) === undefined);
  if (routes.length > 0 && fitting.length === 0) {
    if (routes.every((route) => misfit(route, call) === 'images')) {
      return new GatewayError(
        'invalid_documents',
        `No provider behind model "${call.model}" takes images. Send text, or use a multimodal model.`,
        { param: 'documents' },
      );
    }
    const limits = routes.flatMap((route) => {
      const { profile } = route.provider;
      return (
        documentLimit(profile, upstreamModel(route, call.model), route.endpoint.settings) ?? []
      );
    });
    if (Math.max(...limits) >= call.request.documents.count || limits.length === 0) {
      return new GatewayError(
        'payload_too_large',
        `The texts are longer than any provider behind model "${call.model}" takes. Send shorter ones.`,
        { param: 'documents' },
      );
    }
    return new GatewayError(
      'too_many_documents',
      `Model "${call.model}" takes at most ${Math.max(...limits)} documents in one request; this one has ${call.request.documents.count}.`,
      { param: 'documents' },
    );
  }
  if (fitting.length > 0) {
    const nowMs = deps.now();
    const waits = fitting.map((route) => deps.channels.state(route.id).coolUntilMs - nowMs);
    return new GatewayError('overloaded', `Every provider for model "${call.model}" is busy.`, {
      retryAfterMs: Math.max(DEFAULT_COOLDOWN_MS, Math.min(...waits)),
    });
  }
  return noChannelError(call.model);
}

/** Everything that serves a model is switched off. */
export function noChannelError(model: string): GatewayError {
  return new GatewayError(
    'no_channel_available',
    `No channel is available for model "${model}" at the moment.`,
    { retryAfterMs: DEFAULT_COOLDOWN_MS },
  );
}
