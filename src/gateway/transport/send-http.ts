import { withoutLongTexts, writeJson, type JsonBody } from '../../bytes/index.js';
import { readPages } from '../../providers/pages.js';
import type {
  ComposedProvider,
  HttpProvider,
  RankerTools,
  SignableRequest,
  UpstreamCall,
} from '../../providers/provider.js';
import {
  MESSAGE_BYTES,
  type RawReply,
  type RankingReading,
  type ReplyReading,
} from '../../providers/reply.js';
import { readRounds } from '../../providers/rounds.js';
import type { AccessTokens } from './access-tokens.js';
import { sha256Of } from './body-hash.js';
import { pause } from './pause.js';
import { Reply } from './reply.js';
import type { AttemptOutcome } from '../rank.js';
import { maySendTwice, type Route } from '../channels/route.js';
import type { Scope } from '../scope.js';
import { traceparentOf, type AttemptSpan } from '../trace-context.js';
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
  readonly timeoutMs: number;
  readonly scope: Scope;
  readonly ignoresSwitches: boolean;
  readonly onSent: (() => void) | undefined;
  readonly span?: AttemptSpan | undefined;
}

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
  const writing = writeJson(json);
  const body = writing instanceof Promise ? await writing : writing;
  let headers = headersOf(posting);
  if (provider.sign !== undefined && route.endpoint.credentials.apiKey === undefined) {
    const hash = sha256Of(body.bytes);
    const signed = { bytes: body.size, sha256: Buffer.isBuffer(hash) ? hash : await hash };
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
  } catch (error) {
    if (!maySendAgain(error, route)) throw error;
    reply = await deps.upstream.send({ ...request, timeoutMs: timeLeft() }, within);
  }
  if (job.span !== undefined) job.span.repliedMs = deps.now();
  return provider.rounds === undefined ? shortened(reply) : reply;
}

function headersOf({ route, token, job: { span } }: Posting): string[] {
  let headers = route.headers as string[];
  if (token !== undefined) headers = [...headers, 'authorization', `Bearer ${token}`];
  return span === undefined ? headers : [...headers, 'traceparent', traceparentOf(span)];
}

/** A large reply without the documents in it, which no ranking needs; of those that an error repeats, their beginnings. */
function shortened(reply: RawReply): RawReply | Promise<RawReply> {
  if (reply.bytes === undefined) return reply;
  const isError = reply.status < 200 || reply.status > 299;
  const short = withoutLongTexts(reply.bytes, isError ? MESSAGE_BYTES : 0);
  if (!(short instanceof Promise)) return reply;
  return short.then((bytes) => new Reply(reply.status, reply.headers, bytes));
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
    return await readRounds(provider, call, { ...deps.tools, vectors }, send, {
      now: deps.now,
      pause,
    });
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
