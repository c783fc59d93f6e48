import { EnclosedJson } from '../../bytes/enclosed.js';
import type { JsonBody } from '../../bytes/fragment.js';
import { encodeEnclosed, encodeJsonInSteps } from '../../bytes/encode.js';
import { Owned } from '../../bytes/memory.js';
import { MANY_DOCUMENTS } from '../../bytes/steps.js';
import { nextTurn } from '../../bytes/turns.js';
import { readPages } from '../../providers/pages.js';
import type {
  ComposedProvider,
  HttpProvider,
  RankerTools,
  SignableRequest,
  UpstreamCall,
} from '../../providers/provider.js';
import {
  isLargeReply,
  parsedInSteps,
  type RawReply,
  type RankingReading,
  type ReplyReading,
} from '../../providers/reply.js';
import { readRounds } from '../../providers/rounds.js';
import type { AccessTokens } from './access-tokens.js';
import { sha256Of } from './body-hash.js';
import type { AttemptOutcome, Job } from '../rank.js';
import { maySendTwice, type Route } from '../channels/route.js';
import type { Scope } from '../scope.js';
import { TransportError, type UpstreamRequest } from './transport.js';
import type { Upstream } from './upstream.js';
import { memoryOf } from './vector-memory.js';

/** What a call over HTTP needs from the gateway. */
export interface HttpSendDeps {
  readonly upstream: Pick<Upstream, 'send'>;
  readonly tokens: Pick<AccessTokens, 'get' | 'drop'>;
  readonly tools: RankerTools;
  readonly now: () => number;
  /** Asked right before anything is sent: whether the channel is known to take traffic at this very moment. */
  readonly mayBegin: (route: Route) => boolean;
}

/**
 * One call as the upstream gets it. Its time limit is not cut to the rest of the deadline, which ends the request and not
 * just the call.
 */
export interface SentJob {
  readonly call: UpstreamCall;
  /** Held while the documents may be read. */
  readonly body: Job['body'];
  readonly timeoutMs: number;
  readonly scope: Scope;
  readonly ignoresSwitches: boolean;
  readonly onSent: (() => void) | undefined;
}

/** Bodies that are written in steps, since others would have to wait. */
const LARGE_BYTES = 1_048_576;

/** One call over HTTP, of as many requests as its provider needs: sign, post, read. */
export async function sendHttp(
  deps: HttpSendDeps,
  route: Route,
  provider: HttpProvider | ComposedProvider,
  job: SentJob,
): Promise<Extract<AttemptOutcome, { kind: 'failed' }> | RankingReading> {
  const { call, timeoutMs, scope } = job;
  const untilMs = deps.now() + timeoutMs;
  const source = provider.token?.(route.endpoint);
  const bearer =
    source === undefined ? undefined : await deps.tokens.get(route, source, { scope, timeoutMs });
  if (bearer?.kind === 'failed') return { kind: 'failed', failure: bearer.failure };
  const posting: Posting = {
    deps,
    route,
    provider,
    job,
    untilMs,
    isLarge: isLarge(job),
    token: bearer?.token,
  };
  const post: Post = (target, json, within) => postOne(posting, target, json, within);
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

/** What all requests of a call have in common. */
interface Posting {
  readonly deps: HttpSendDeps;
  readonly route: Route;
  readonly provider: HttpProvider | ComposedProvider;
  readonly job: SentJob;
  readonly untilMs: number;
  readonly isLarge: boolean;
  /** A short-lived one, if the provider wants it. */
  readonly token: string | undefined;
}

async function postOne(
  posting: Posting,
  target: UpstreamCall,
  json: JsonBody,
  within: Scope,
): Promise<RawReply> {
  const { deps, route, provider, job, untilMs } = posting;
  const path = route.pathOf(target);
  job.body?.hold();
  const encoded = posting.isLarge ? await encodeJsonInSteps(json, nextTurn) : encodeEnclosed(json);
  let body = encoded instanceof Owned ? encoded.bytes : encoded;
  let headers = headersOf(posting);
  if (provider.sign !== undefined && route.endpoint.credentials.apiKey === undefined) {
    // What is signed is hashed in one piece.
    if (body instanceof EnclosedJson) body = body.joined();
    const hash = sha256Of(body);
    const signed = { bytes: body.length, sha256: Buffer.isBuffer(hash) ? hash : await hash };
    headers = signedHeaders(provider.sign, route, path, headers, signed, deps.now());
  }
  const timeLeft = (): number => Math.max(1, untilMs - deps.now());
  const request: UpstreamRequest = {
    origin: route.origin,
    path,
    method: 'POST',
    headers,
    body,
    timeoutMs: timeLeft(),
    stillWanted: () => job.ignoresSwitches || deps.mayBegin(route),
    onSent: job.onSent,
  };
  let reply: RawReply;
  try {
    reply = await deps.upstream.send(request, within);
    // It was written once: what is written again on another connection may still be on its way on the first.
    if (reply.hasAll === true) {
      job.body?.release();
      if (encoded instanceof Owned) encoded.giveBack();
    }
  } catch (error) {
    if (!maySendAgain(error, route)) throw error;
    reply = await deps.upstream.send({ ...request, timeoutMs: timeLeft() }, within);
  }
  return parsedIfLarge(reply, posting, within);
}

function isLarge({ call: { documents, query }, body }: SentJob): boolean {
  const textBytes = documents.sizeBytes + query.length;
  // Some are sent more of the documents than their texts.
  const bytes = body === undefined ? textBytes : Math.max(textBytes, body.bytes.length);
  return bytes > LARGE_BYTES || documents.count > MANY_DOCUMENTS;
}

function headersOf({ route, token }: Posting): string[] {
  const headers = route.headers as string[];
  return token === undefined ? headers : [...headers, 'authorization', `Bearer ${token}`];
}

/** What would hold up others is parsed here, in steps; the rest by who reads it. */
function parsedIfLarge(
  reply: RawReply,
  { provider, job }: Posting,
  within: Scope,
): RawReply | Promise<RawReply> {
  const isRanking = provider.rounds === undefined;
  const hasVectors = !isRanking && provider.answersVectors === true;
  if (!isLargeReply(reply, hasVectors)) return reply;
  const pause = async (): Promise<void> => {
    await nextTurn();
    if (within.ended !== undefined)
      throw new TransportError('cancelled', 'nobody is waiting for it');
  };
  // What answers a part of the call is not a list of rows: an embedding has thousands of numbers.
  const mostRows = isRanking ? job.call.documents.count : Infinity;
  return parsedInSteps(reply, { mostRows, isRanking, hasVectors, pause });
}

/** All calls of a ranking that takes several: when it fails, those in flight are not waited for. */
async function sendRounds(
  deps: HttpSendDeps,
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
    let target = call;
    const send = async (body: JsonBody): Promise<RawReply> => {
      const asked = target;
      const reply = await post(asked, body, calls);
      const other = asked === call ? provider.otherPlace?.(reply, call) : undefined;
      if (other === undefined) return reply;
      target = { ...call, settings: { ...call.settings, ...other } };
      return post(target, body, calls);
    };
    return await readRounds(provider, call, { ...deps.tools, vectors }, send, deps.now);
  } finally {
    calls.end('lost');
    calls.release();
  }
}

/**
 * A kept-alive connection broke: the call is sent once more, on another one, if the request cannot have had any effect or its
 * channel allows it.
 */
function maySendAgain(error: unknown, route: Route): boolean {
  if (!(error instanceof TransportError)) return false;
  return error.resend === 'safe' || (error.resend === 'unsafe' && maySendTwice(route));
}

function signedHeaders(
  sign: NonNullable<HttpProvider['sign']>,
  route: Route,
  path: string,
  headers: readonly string[],
  body: Pick<SignableRequest, 'bytes' | 'sha256'>,
  nowMs: number,
): string[] {
  const named: Record<string, string> = {};
  for (let at = 0; at < headers.length; at += 2) named[headers[at] ?? ''] = headers[at + 1] ?? '';
  const url = new URL(route.origin + path);
  const signature = sign({ method: 'POST', url, headers: named, ...body }, route.endpoint, nowMs);
  return Object.entries({ ...named, ...signature }).flat();
}
