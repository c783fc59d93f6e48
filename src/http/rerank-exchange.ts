import type { IncomingMessage, ServerResponse } from 'node:http';
import { promisify } from 'node:util';
import type { RequestEvent } from '../gateway/events.js';
import { GatewayError } from '../core/errors.js';
import { encodeJsonInSteps, JsonFragment } from '../core/json/json.js';
import type { RerankRequest } from '../core/rerank.js';
import type { TokenPolicy } from '../core/token.js';
import { judgeFresh, type Caller } from '../gateway/admission.js';
import { rateHeaders } from '../gateway/key-refusals.js';
import type { Door } from '../gateway/door.js';
import {
  DefaultModelChanged,
  rerank,
  type GatewayDeps,
  type RerankReply,
} from '../gateway/rerank.js';
import { beforeEnd, createScope, type Scope } from '../gateway/scope.js';
import { Trace } from '../gateway/trace.js';
import type { IngressDialect, ParsedRerank, ReplyClock } from '../ingress/dialect.js';
import { ALL_LISTS, dialectByHeaders, dialectOf, type IngressRoute } from '../ingress/index.js';
import { IngressRequest } from '../ingress/read.js';
import type { Authenticate, Identity, ReadSigned } from './authentication.js';
import { readJsonBody } from './body.js';
import { addressBlock, AddressList, clientAddress } from './client-address.js';
import { asGatewayError, sendError } from './error-reply.js';
import {
  checkRoom,
  explainFor,
  explainingOf,
  withExplanation,
  type ExplainRouteDeps,
} from './explained.js';
import type { Load, Place } from './load.js';
import { newId, requestIdOf } from './request-id.js';
import type { ReplyBatches } from './reply-batches.js';
import type { ExplainedWire } from '../wire/explained.js';

export interface RerankRouteDeps extends ExplainRouteDeps {
  readonly gateway: GatewayDeps;
  readonly authenticate: Authenticate;
  /** Reads signed requests; absent if no key may sign. */
  readonly readSigned: ReadSigned | undefined;
  readonly load: Load;
  readonly door: Door;
  readonly replies: ReplyBatches;
  readonly trustedProxies: AddressList | undefined;
  readonly bodyLimitBytes: number;
  readonly maxDocuments: number;
  readonly deadlineMs: number;
  readonly defaultModel: string | undefined;
}

const NO_STORE = 'no-store';
const nextTurn = promisify(setImmediate);

/**
 * A rerank request in any dialect, from the socket to the last byte; every failure is answered, and everything is observed
 * once.
 */
export async function handleRerank(
  deps: RerankRouteDeps,
  req: IncomingMessage,
  res: ServerResponse,
  route: IngressRoute,
): Promise<void> {
  const { gateway } = deps;
  const startedMs = gateway.now();
  const id = newId();
  const requestId = requestIdOf(req) ?? id;
  const trace = new Trace();
  const patience = patienceOf(req.headers);
  const scope = createScope(startedMs, Math.min(deps.deadlineMs, patience.timeoutMs ?? Infinity));
  const onClose = () => {
    if (!res.writableFinished) scope.end('client_gone');
  };
  res.on('close', onClose);
  // A reply behind another of its connection is not told when the connection goes.
  const pipelinedOn = res.socket === null ? req.socket : undefined;
  pipelinedOn?.on('close', onClose);
  let identity: Identity | undefined;
  let request: RerankRequest | undefined;
  let place: Place | undefined;
  let failure: GatewayError | undefined;
  let explanation: ExplainedWire | undefined;
  let status = 200;
  let dialect = dialectByHeaders(route, req.headers);
  try {
    if (patience.mistake !== undefined) throw new GatewayError('invalid_request', patience.mistake);
    const explaining = explainingOf(req);
    const declaredBytes = Number(req.headers['content-length'] ?? 0);
    place = deps.load.enter(declaredBytes, deps.bodyLimitBytes);
    const address = addressBlock(clientAddress(req, deps.trustedProxies));
    deps.load.own(place, address, declaredBytes, deps.bodyLimitBytes);
    const signed = deps.readSigned?.(req);
    const found = signed === undefined ? deps.authenticate(req) : signed.identity();
    identity = 'keyHash' in found ? found : await beforeEnd(scope, found);
    const caller = callerOf(deps, req, identity);
    const judged = signed === undefined ? letIn(deps, place, caller, declaredBytes) : undefined;
    if (judged !== undefined) await beforeEnd(scope, judged);
    const body = await readJsonBody(req, deps.bodyLimitBytes, deps.load, place);
    if (signed !== undefined) {
      signed.prove(body);
      // Whoever names a key without having signed with it takes none of its places: the bytes have already arrived.
      await beforeEnd(scope, Promise.resolve(letIn(deps, place, caller, 0)));
    }
    const asked = new IngressRequest(body, req.headers, route.params, deps.maxDocuments);
    const marked = dialect;
    const read = (): ParsedRerank => {
      dialect = dialectOf(route, marked, asked, caller.credential.token.policy.dialect);
      return dialect.parse(asked);
    };
    const readAll = () => (asked.isLarge ? readInSteps(asked, read, scope) : read());
    let parsed: ParsedRerank;
    try {
      const reading = readAll();
      parsed = 'then' in reading ? await reading : reading;
    } catch (error) {
      await unlessFormChanged(gateway, caller, scope, error);
      parsed = await readAll();
    }
    const modelBy = (policy: TokenPolicy): string | undefined =>
      parsed.model ?? policy.defaultModel ?? deps.defaultModel;
    const model = (): string | undefined => modelBy(caller.credential.token.policy);
    // The key may have been given a default since it was read.
    if (model() === undefined) await beforeEnd(scope, judgeFresh(gateway, caller));
    if (explaining !== undefined) {
      checkRoom(explaining, dialect);
      // The key may have been allowed to since it was read.
      await beforeEnd(scope, judgeFresh(gateway, caller));
      const asked = { dialect: dialect.id, request: withModel(parsed, model()), tag: tagOf(req) };
      request = asked.request;
      explanation = await beforeEnd(scope, explainFor(deps, caller, asked));
    }
    let isSent = explaining === 'only';
    if (isSent) sendRanking(deps.replies, res, requestId, JSON.stringify(explanation), undefined);
    while (!isSent) {
      const current = withModel(parsed, model());
      request = current;
      const call = {
        id,
        requestId,
        caller,
        request: current,
        modelBy,
        tag: tagOf(req),
        mayBeOldMs: patience.mayBeOldMs,
        scope,
        trace,
      };
      try {
        const reply = await rerank(gateway, call);
        const clock = dialect.timed === true ? clockAt(startedMs, gateway.now()) : NO_CLOCK;
        const answered = reply.model === undefined ? current : { ...current, model: reply.model };
        const written = dialect.reply(id, answered, reply, parsed.kept, clock);
        const text =
          written instanceof JsonFragment ? await encodeJsonInSteps(written, nextTurn) : written;
        const body = explanation === undefined ? text : withExplanation(String(text), explanation);
        sendRanking(deps.replies, res, requestId, body, rankingHeaders(dialect, requestId, reply));
        isSent = true;
      } catch (error) {
        if (!(error instanceof DefaultModelChanged)) throw error;
      }
    }
  } catch (error) {
    failure = asGatewayError(error);
    if (identity !== undefined) deps.door.remember(identity, failure);
    if (failure.code === 'internal_error') {
      gateway.observe({ kind: 'fault', what: 'request failed', error, requestId });
    }
    status = refuse(req, res, requestId, dialect, failure, explanation);
  } finally {
    scope.release();
    pipelinedOn?.off('close', onClose);
    if (place !== undefined) deps.load.leave(place);
  }
  const durationMs = gateway.now() - startedMs;
  // The reply is on its way; only its observers wait.
  const charged = trace.charged === undefined ? undefined : await trace.charged;
  const token = identity?.credential.token;
  const event: RequestEvent = {
    kind: 'request',
    requestId,
    atMs: startedMs,
    method: 'POST',
    route: dialect.paths[0] ?? '/v1/rerank',
    status,
    outcome: failure?.code ?? 'ok',
    userId: token?.userId,
    tokenId: token?.id,
    tokenName: token?.name,
    model: trace.model ?? request?.model,
    knownModel: trace.model !== undefined,
    channelId: trace.channelId,
    provider: trace.provider,
    tag: trace.tag,
    attempts: trace.attempts,
    documents: request?.documents.count ?? 0,
    inputTokens: trace.usage?.inputTokens ?? 0,
    searchUnits: trace.usage?.searchUnits ?? 0,
    quota: charged ?? trace.quota,
    admitted: trace.admitted,
    degraded: trace.degraded,
    durationMs,
    upstreamMs: trace.upstreamMs,
    ...(failure === undefined ? undefined : whatFailed(deps, req, trace, failure)),
  };
  gateway.observe(event);
}

/**
 * Returns if the key has been given another form since this node read it, which may be why a request was refused.
 * @throws `error` otherwise.
 */
async function unlessFormChanged(
  gateway: GatewayDeps,
  caller: Caller,
  scope: Scope,
  error: unknown,
): Promise<void> {
  const form = caller.credential.token.policy.dialect;
  if (error instanceof GatewayError) await beforeEnd(scope, judgeFresh(gateway, caller));
  if (caller.credential.token.policy.dialect === form) throw error;
}

/** Reads a large request so that others get their turn in between, and abandons it when its scope ends. */
async function readInSteps(
  asked: IngressRequest,
  read: () => ParsedRerank,
  scope: Scope,
): Promise<ParsedRerank> {
  const pause = async (): Promise<void> => {
    await nextTurn();
    scope.throwIfEnded();
  };
  const parsed = await asked.inSteps(ALL_LISTS, read, pause);
  await parsed.documents.prepare(pause, parsed.returnDocuments);
  return parsed;
}

/**
 * Counts a request as one of its key, and judges it by what is known about that key. In the usual case there is nothing to
 * wait for.
 */
function letIn(
  { load, door, bodyLimitBytes }: RerankRouteDeps,
  place: Place,
  caller: Caller,
  declaredBytes: number,
): Promise<void> | undefined {
  return door.judge(caller, load.own(place, caller.keyHash, declaredBytes, bodyLimitBytes));
}

/** What the log of refused requests adds to what is known about every request. */
function whatFailed(
  deps: RerankRouteDeps,
  req: IncomingMessage,
  { admitted }: Trace,
  { message }: GatewayError,
): Pick<RequestEvent, 'message' | 'address'> {
  return admitted ? { message } : { message, address: clientAddress(req, deps.trustedProxies) };
}

function withModel(parsed: ParsedRerank, model: string | undefined): RerankRequest {
  if (model === undefined) {
    throw new GatewayError(
      'invalid_request',
      'model is required: neither the key nor the gateway has a default.',
      {
        param: 'model',
      },
    );
  }
  const { query, documents, topN, returnDocuments, options } = parsed;
  return { model, query, documents, topN, returnDocuments, options };
}

export function callerOf(deps: RerankRouteDeps, req: IncomingMessage, identity: Identity): Caller {
  return {
    keyHash: identity.keyHash,
    credential: identity.credential,
    addressAllowed: (allowIps) =>
      new AddressList(allowIps).includes(clientAddress(req, deps.trustedProxies)),
  };
}

function tagOf(req: IncomingMessage): string | undefined {
  const header = req.headers['x-rerank-tag'];
  const tag = (Array.isArray(header) ? header[0] : header)?.trim();
  return tag === '' ? undefined : tag;
}

function sendRanking(
  replies: ReplyBatches,
  res: ServerResponse,
  requestId: string,
  body: string | Buffer,
  extra: Readonly<Record<string, string>> | undefined,
): void {
  if (res.destroyed) return;
  const length = typeof body === 'string' ? Buffer.byteLength(body) : body.length;
  const headers: (string | number)[] = [
    'Content-Type',
    'application/json; charset=utf-8',
    'Content-Length',
    length,
    'X-Request-Id',
    requestId,
    'X-Oneapi-Request-Id',
    requestId,
    'Cache-Control',
    NO_STORE,
    'X-Content-Type-Options',
    'nosniff',
  ];
  if (extra !== undefined) headers.push(...Object.entries(extra).flat());
  res.writeHead(200, headers as unknown as string[]);
  // A string leaves in one piece with the headers; plain ASCII, which a ranking nearly always is, is copied as it stands.
  replies.end(res, body, length === body.length ? 'latin1' : 'utf8');
}

const NO_CLOCK: ReplyClock = { nowMs: 0, elapsedMs: 0 };

function clockAt(startedMs: number, nowMs: number): ReplyClock {
  return { nowMs, elapsedMs: Math.max(0, nowMs - startedMs) };
}

function rankingHeaders(
  dialect: IngressDialect,
  requestId: string,
  { rate, model, isDegraded, isCached }: RerankReply,
): Readonly<Record<string, string>> | undefined {
  const ofRate = rate === undefined ? undefined : rateHeaders(rate);
  if (dialect.headers === undefined && model === undefined && !isCached) return ofRate;
  return {
    ...dialect.headers?.(requestId),
    ...ofRate,
    ...(model === undefined ? {} : { 'X-Rerank-Model': encodeURI(model) }),
    ...(isDegraded ? { 'X-Rerank-Degraded': 'true' } : {}),
    ...(isCached ? { 'X-Rerank-Cache': 'hit' } : {}),
  };
}

interface Patience {
  /** How long the caller waits at most. */
  readonly timeoutMs: number | undefined;
  /** How old a cached ranking may be; `undefined`: as old as the model's rule says. */
  readonly mayBeOldMs: number | undefined;
  readonly mistake: string | undefined;
}

const PATIENT: Patience = { timeoutMs: undefined, mayBeOldMs: undefined, mistake: undefined };

/** What the headers say about the caller's patience: `X-Request-Timeout-Ms`, and `Cache-Control` as in RFC 9111. */
function patienceOf(headers: IncomingMessage['headers']): Patience {
  const timeout = headers['x-request-timeout-ms'];
  const cache = headers['cache-control'];
  if (timeout === undefined && cache === undefined) return PATIENT;
  const timeoutMs = timeout === undefined ? undefined : Number(timeout);
  const isWrong = timeoutMs !== undefined && !(Number.isInteger(timeoutMs) && timeoutMs >= 1);
  return {
    timeoutMs: isWrong ? undefined : timeoutMs,
    mayBeOldMs: cache === undefined ? undefined : maxAgeMs(cache),
    mistake: isWrong
      ? 'X-Request-Timeout-Ms must be a whole number of milliseconds, at least 1.'
      : undefined,
  };
}

function maxAgeMs(cacheControl: string): number | undefined {
  if (/(?:^|[\s,])no-(?:cache|store)(?:$|[\s,;=])/i.test(cacheControl)) return 0;
  const age = /(?:^|[\s,])max-age="?(\d+)/i.exec(cacheControl)?.[1];
  return age === undefined ? undefined : Number(age) * 1000;
}

/** How long a refused caller may go on sending. */
const LINGER_MS = 10_000;

/**
 * Answers an error in the caller's dialect, and returns its status. A body that is still arriving is read and discarded for
 * a while: closing at once would reset the connection, and the caller would see that instead of the answer.
 */
function refuse(
  req: IncomingMessage,
  res: ServerResponse,
  requestId: string,
  dialect: IngressDialect,
  error: GatewayError,
  explanation: ExplainedWire | undefined,
): number {
  const written = dialect.error(error, requestId);
  const { status = error.status } = written;
  const body =
    explanation === undefined ? written.body : withExplanation(written.body, explanation);
  if (res.destroyed) return status;
  res.setHeader('X-Request-Id', requestId);
  res.setHeader('X-Oneapi-Request-Id', requestId);
  if (!req.complete) {
    const timer = setTimeout(() => req.socket.destroy(), LINGER_MS).unref();
    req.on('close', () => clearTimeout(timer)).resume();
  }
  const headers = { ...dialect.headers?.(requestId), ...written.headers };
  sendError(res, error, { ...written, body, status, headers });
  return status;
}
