import type { IncomingMessage, ServerResponse } from 'node:http';
import type { RequestEvent } from '../gateway/events.js';
import { GatewayError } from '../core/errors.js';
import type { RerankRequest } from '../core/rerank.js';
import { judgeFresh, rateHeaders, type Caller } from '../gateway/admission.js';
import { listModels, rerank, type GatewayDeps, type RerankTrace } from '../gateway/rerank.js';
import { RequestScope } from '../gateway/scope.js';
import type { Credential } from '../store/store.js';
import type { Authenticate, Identity } from './authentication.js';
import { readJsonBody } from './body.js';
import { AddressList, clientAddress } from './client-address.js';
import { asGatewayError, sendError } from './error-reply.js';
import type { Load, Place } from './load.js';
import { newId, requestIdOf } from './request-id.js';
import type { ReplyBatches } from './reply-batches.js';
import { rerankReplyBody } from './rerank-reply.js';
import { parseRerank } from './schemas.js';

export interface RerankRouteDeps {
  readonly gateway: GatewayDeps;
  readonly authenticate: Authenticate;
  readonly load: Load;
  readonly replies: ReplyBatches;
  readonly trustedProxies: AddressList | undefined;
  readonly bodyLimitBytes: number;
  readonly maxDocuments: number;
  readonly deadlineMs: number;
  readonly defaultModel: string | undefined;
}

/** With versions before the path, also twice: a client's base URL has one and its code adds another. */
const RERANK_PATH = /^(?:\/+v[12])*\/+rerank\/*$/i;
export const MODELS_PATH = /^(?:\/+v[12])*\/+models\/*$/i;
export const MODEL_PATH = /^(?:\/+v[12])*\/+models\/(?<model>.+)$/i;
const COMMON_PATHS = new Set(['/v1/rerank', '/rerank', '/v2/rerank']);
const NO_STORE = 'no-store';

/** Whether a request is for the rerank route, whatever its method. */
export function isRerankPath(pathname: string): boolean {
  return COMMON_PATHS.has(pathname) || RERANK_PATH.test(pathname);
}

/** `POST /v1/rerank` from the socket to the last byte; every failure is answered, and everything is observed once. */
export async function handleRerank(
  deps: RerankRouteDeps,
  req: IncomingMessage,
  res: ServerResponse,
): Promise<void> {
  const { gateway } = deps;
  const startedMs = gateway.now();
  const id = newId();
  const requestId = requestIdOf(req) ?? id;
  const trace = emptyTrace();
  const scope = new RequestScope(startedMs, deps.deadlineMs);
  const onClose = () => {
    if (!res.writableFinished) scope.cancel('client_gone');
  };
  res.on('close', onClose);
  // Behind another reply of its connection it is told nothing when the connection goes.
  const pipelinedOn = res.socket === null ? req.socket : undefined;
  pipelinedOn?.on('close', onClose);
  let identity: Identity | undefined;
  let request: RerankRequest | undefined;
  let place: Place | undefined;
  let failure: GatewayError | undefined;
  try {
    place = deps.load.enter(Number(req.headers['content-length'] ?? 0), deps.bodyLimitBytes);
    identity = await deps.authenticate(req);
    const body = await readJsonBody(req, deps.bodyLimitBytes, deps.load, place);
    const parsed = parseRerank(body, deps.maxDocuments);
    const caller = callerOf(deps, req, identity);
    // The key's default may have been changed since it was read, and nothing after this would notice.
    if (parsed.model === undefined) await judgeFresh(gateway, caller);
    request = withModel(parsed, caller.credential, deps.defaultModel);
    const reply = await rerank(gateway, {
      id,
      requestId,
      caller,
      request,
      tag: tagOf(req),
      scope,
      trace,
    });
    const headers = reply.rate === undefined ? undefined : rateHeaders(reply.rate);
    sendRanking(deps.replies, res, requestId, rerankReplyBody(id, request, reply), headers);
  } catch (error) {
    failure = asGatewayError(error);
    if (failure.code === 'internal_error') {
      gateway.observe({ kind: 'fault', what: 'request failed', error, requestId });
    }
    refuse(req, res, requestId, failure);
  } finally {
    scope.end();
    pipelinedOn?.off('close', onClose);
    if (place !== undefined) deps.load.leave(place);
  }
  const durationMs = gateway.now() - startedMs;
  // The reply is on its way; only what tells of it waits.
  const charged = trace.charged === undefined ? undefined : await trace.charged;
  const token = identity?.credential.token;
  const event: RequestEvent = {
    kind: 'request',
    requestId,
    atMs: startedMs,
    method: 'POST',
    route: '/v1/rerank',
    status: failure?.status ?? 200,
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
    durationMs,
    upstreamMs: trace.upstreamMs,
  };
  gateway.observe(event);
}

/**
 * `GET /v1/models` and `GET /v1/models/{id}`: what the key may use now, in OpenAI's shape. Slashes around an id are the path's,
 * unless a model is called so: some are named by a file.
 */
export async function handleModels(
  deps: RerankRouteDeps,
  req: IncomingMessage,
  model: string | undefined,
): Promise<unknown> {
  const identity = await deps.authenticate(req);
  const models = await listModels(deps.gateway, callerOf(deps, req, identity));
  if (model === undefined) return { object: 'list', data: models.map(modelObject) };
  const named = model.replace(/(?<!\/)\/+$/, '');
  const id = [named, named.replace(/^\/+/, '')].find((name) => models.includes(name));
  if (id === undefined) {
    throw new GatewayError('model_not_found', `Model "${named}" does not exist here.`, {
      param: 'model',
    });
  }
  return modelObject(id);
}

function modelObject(id: string): Record<string, unknown> {
  return { id, object: 'model', created: 0, owned_by: 'rerank-gateway', model_type: 'rerank' };
}

function withModel(
  parsed: ReturnType<typeof parseRerank>,
  { token }: Credential,
  defaultModel: string | undefined,
): RerankRequest {
  const model = parsed.model ?? token.policy.defaultModel ?? defaultModel;
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

function callerOf(deps: RerankRouteDeps, req: IncomingMessage, identity: Identity): Caller {
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

/** How long a caller that has been refused may go on sending. */
const LINGER_MS = 10_000;

/**
 * Answers an error. A body that is still coming is read and thrown away for a while: closing at once would reset the
 * connection, and the caller would see that and not the answer.
 */
function refuse(
  req: IncomingMessage,
  res: ServerResponse,
  requestId: string,
  error: GatewayError,
): void {
  if (res.destroyed) return;
  res.setHeader('X-Request-Id', requestId);
  res.setHeader('X-Oneapi-Request-Id', requestId);
  if (!req.complete) {
    const timer = setTimeout(() => req.socket.destroy(), LINGER_MS).unref();
    req.on('close', () => clearTimeout(timer)).resume();
  }
  sendError(res, error);
}

function emptyTrace(): RerankTrace {
  return {
    model: undefined,
    admitted: false,
    usage: undefined,
    quota: 0,
    charged: undefined,
    attempts: 0,
    upstreamMs: 0,
    channelId: undefined,
    provider: undefined,
    tag: undefined,
  };
}
