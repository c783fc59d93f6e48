import type { IncomingMessage, ServerResponse } from 'node:http';
import type { GatewayError } from '../core/errors.js';
import { JsonFragment, writeJson, type JsonBody } from '../bytes/index.js';
import { rateHeaders } from '../gateway/key-refusals.js';
import type { RerankReply } from '../gateway/rerank.js';
import type { IngressDialect, ReplyClock } from '../ingress/dialect.js';
import type { ExplainedWire } from '../shapes/explained.js';
import { mustBeTaken, readOnForAWhile } from './connections.js';
import { sendError } from './error-reply.js';
import { withExplanation } from './explained.js';
import type { Place } from './load.js';
import type { ReplyBatches } from './reply-batches.js';

const NO_STORE = 'no-store';

/** Answers with a ranking, or with what stands for one. */
export function sendRanking(
  replies: ReplyBatches,
  res: ServerResponse,
  place: Place | undefined,
  requestId: string,
  body: JsonFragment,
  extra: Readonly<Record<string, string>> | undefined,
): void {
  if (res.destroyed) return;
  const written = body.text ?? body.bytes;
  const length = body.size;
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
  // A string leaves in one piece with the headers; plain ASCII, which a ranking nearly always is, is copied as it is.
  replies.end(res, place, written, length === written.length ? 'latin1' : 'utf8');
}

/** For dialects whose replies do not say when they were written. */
export const NO_CLOCK: ReplyClock = { nowMs: 0, elapsedMs: 0 };

export function clockAt(startedMs: number, nowMs: number): ReplyClock {
  return { nowMs, elapsedMs: Math.max(0, nowMs - startedMs) };
}

/** What the headers of a ranking add to those that all replies have; absent for most. */
export function rankingHeaders(
  dialect: IngressDialect,
  requestId: string,
  { rate, model, isDegraded, isCached }: RerankReply,
): Readonly<Record<string, string>> | undefined {
  const ofRate = rate === undefined ? undefined : rateHeaders(rate);
  const isPlain = model === undefined && !isDegraded && !isCached;
  if (dialect.headers === undefined && isPlain) return ofRate;
  return {
    ...dialect.headers?.(requestId),
    ...ofRate,
    ...(model === undefined ? {} : { 'X-Rerank-Model': encodeURI(model) }),
    ...(isDegraded ? { 'X-Rerank-Degraded': 'true' } : {}),
    ...(isCached ? { 'X-Rerank-Cache': 'hit' } : {}),
  };
}

/** A ranking as its dialect writes it, with its explanation if it has one. */
export function rankingBody(
  body: JsonBody,
  explanation: ExplainedWire | undefined,
): JsonFragment | Promise<JsonFragment> {
  const written = writeJson(body);
  if (explanation === undefined) return written;
  return written instanceof Promise
    ? written.then((reply) => withExplanation(reply, explanation))
    : withExplanation(written, explanation);
}

/** Answers an error in the caller's dialect, and returns its status. */
export function sendRefusal(
  req: IncomingMessage,
  res: ServerResponse,
  requestId: string,
  dialect: IngressDialect,
  error: GatewayError,
  explanation: ExplainedWire | undefined,
): number {
  const written = dialect.error(error, requestId, req.headers);
  const { status = error.status } = written;
  const body =
    explanation === undefined
      ? written.body
      : withExplanation(new JsonFragment(written.body), explanation).toString();
  if (res.destroyed) return status;
  res.setHeader('X-Request-Id', requestId);
  res.setHeader('X-Oneapi-Request-Id', requestId);
  readOnForAWhile(req);
  const headers = { ...dialect.headers?.(requestId), ...written.headers };
  mustBeTaken(res);
  sendError(res, error, { ...written, body, status, headers });
  return status;
}
