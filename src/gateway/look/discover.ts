import { CHANNEL_DEFAULTS } from '../../core/channel-members.js';
import { CHANNEL_ENABLED, type Channel } from '../../core/channel.js';
import type { Discover, UnknownServer } from '../../core/discovery.js';
import { Json } from '../../core/json.js';
import type { Probe } from '../../core/probe.js';
import { camelKeys } from '../../core/records.js';
import { Secret } from '../../core/secret.js';
import { allProviders } from '../../providers/index.js';
import type { Provider } from '../../providers/provider.js';
import type { RawReply } from '../../providers/reply.js';
import {
  conclude,
  concludeAnyModel,
  isEmbedding,
  isSettled,
  knownByAddress,
  knownOf,
  NOTHING,
  propose,
  withoutVariants,
  type Findings,
  type Tested,
} from './proposal.js';
import { createProbe, type ProbeDeps } from './probe.js';
import { joinPaths } from '../channels/route.js';
import type { Scope } from '../scope.js';
import { readSigns, rerankersOf, soundsEmbedding, type AskSign, type Signs } from './signs.js';
import { TransportError, type UpstreamRequest } from '../transport/transport.js';
import type { Upstream } from '../transport/upstream.js';

export type DiscoverDeps = Omit<ProbeDeps, 'declared' | 'attemptTimeoutMs'>;

/** Per request: a server that answers at all ranks two short documents in that time. */
const REQUEST_MS = 5_000;
/** For all of them: whatever has not been tried by then is skipped. */
const TOTAL_MS = 40_000;
const AT_ONCE = 4;
/** Of one reply: all are kept until the end, and there may be a hundred. Long lists of models have a megabyte. */
const MAX_REPLY_BYTES = 2 * 1_048_576;
/** Problems after which nothing else needs to be tried. */
const FINAL: ReadonlySet<string> = new Set(['wrong_key', 'no_credit']);

/**
 * Finds out what an unknown server speaks: asks what it says about itself, and then ranks two documents as each self-hosted
 * provider would, with that provider's own code, and then, if need be, as providers with a fixed address do: a proxy may
 * be in front of one. Identical requests are sent once.
 */
export function createDiscover(deps: DiscoverDeps): Discover {
  const findOut = async (server: UnknownServer): Promise<Findings> => {
    const hosted = providersAt(server.baseUrl);
    if (hosted.length > 0) return knownByAddress(hosted);
    const upstream = new Remembering(deps.upstream);
    const first = await reach(upstream, server);
    if (first !== undefined) return nothingAt(first, upstream.requests);
    const signs = await readSigns((path) => askJson(upstream, server, path));
    const test = createProbe({
      ...deps,
      upstream,
      declared: new Map(),
      attemptTimeoutMs: REQUEST_MS,
    });
    const inTime = (): (() => boolean) => {
      const untilMs = deps.now() + TOTAL_MS;
      return () => deps.now() < untilMs;
    };
    const isTime = inTime();
    const tested = await testAll(test, asReranker(server, signs, false), isTime);
    if (!isSettled(tested, signs)) {
      const hostedOnes = await testAll(test, asReranker(server, signs, true), isTime);
      tested.push(...withoutVariants(hostedOnes));
    }
    const findings = conclude(tested, signs, upstream.requests);
    if (findings.problem === undefined || FINAL.has(findings.problem.code)) return findings;
    const isTimeYet = inTime();
    const others = await testAll(test, asAnyModel(server, signs, false), isTimeYet);
    if (others.every(({ report }) => report.problem !== undefined)) {
      others.push(...(await testAll(test, asAnyModel(server, signs, true), isTimeYet)));
    }
    return concludeAnyModel(findings, others, signs, upstream.requests);
  };
  return async (server) => propose(await findOut(server), server);
}

/** Sends each request once, and repeats its reply to whoever sends the same again. */
class Remembering {
  readonly #upstream: DiscoverDeps['upstream'];
  readonly #replies = new Map<string, Promise<RawReply>>();

  constructor(upstream: DiscoverDeps['upstream']) {
    this.#upstream = upstream;
  }

  get requests(): number {
    return this.#replies.size;
  }

  send(request: UpstreamRequest, scope?: Scope): Promise<RawReply> {
    const { origin, path, method, headers, body } = request;
    const key = JSON.stringify([origin, path, method, headers, body?.toString()]);
    const known = this.#replies.get(key);
    if (known !== undefined) return known;
    const reply = this.#upstream.send({ ...request, maxReplyBytes: MAX_REPLY_BYTES }, scope);
    this.#replies.set(key, reply);
    return reply;
  }

  readonly fetchToken: Upstream['fetchToken'] = (request, signal) =>
    this.#upstream.fetchToken(request, signal);
}

/** Asks a server about itself, each question once. */
export function askServer(
  upstream: DiscoverDeps['upstream'],
  server: Asked,
): { readonly answers: () => Promise<boolean>; readonly ask: AskSign } {
  const remembering = new Remembering(upstream);
  return {
    answers: async () => (await reach(remembering, server)) === undefined,
    ask: (path) => askJson(remembering, server, path),
  };
}

type Asked = Pick<UnknownServer, 'baseUrl' | 'credentials'>;

/** Why nothing answers there at all; `undefined` if something does. */
async function reach(upstream: Remembering, server: Asked): Promise<TransportError | undefined> {
  try {
    await upstream.send(getRequest(server, '/v1/models'));
    return undefined;
  } catch (error) {
    if (error instanceof TransportError) return error;
    throw error;
  }
}

async function askJson(
  upstream: Remembering,
  server: Asked,
  path: string,
): Promise<Json | undefined> {
  try {
    const { status, text } = await upstream.send(getRequest(server, path));
    return status === 200 ? new Json(JSON.parse(text)) : undefined;
  } catch (error) {
    if (error instanceof TransportError || error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function getRequest({ baseUrl, credentials }: Asked, path: string): UpstreamRequest {
  const url = new URL(baseUrl);
  const key = camelKeys(credentials).apiKey;
  return {
    origin: url.origin,
    path: joinPaths(url.pathname.replace(/\/+$/, ''), path),
    method: 'GET',
    headers: [
      ...['accept', 'application/json', 'accept-encoding', 'identity'],
      ...['user-agent', 'rerank-gateway'],
      ...(key === undefined ? [] : ['authorization', `Bearer ${key}`]),
    ],
    body: undefined,
    timeoutMs: REQUEST_MS,
    stillWanted: () => true,
  };
}

/** One provider's way to ask one model. */
interface Trial {
  readonly provider: Provider;
  readonly channel: Channel;
  readonly model: string;
}

/** As each provider that ranks by one request. */
function asReranker(server: UnknownServer, signs: Signs, isHosted: boolean): Trial[] {
  const [likeliest = signs.models[0]] = rerankersOf(signs);
  return behindHttp(isHosted)
    .filter(({ rounds }) => rounds === undefined)
    .map((provider) => {
      const model = server.model ?? likeliest ?? provider.exampleModels[0] ?? 'default';
      return { provider, channel: channelFor(provider, server, model), model };
    });
}

/** As each provider that makes a ranker of an embedding or chat model, with those of its models that look like one. */
function asAnyModel(server: UnknownServer, signs: Signs, isHosted: boolean): Trial[] {
  return behindHttp(isHosted)
    .filter(({ rounds }) => rounds !== undefined)
    .flatMap((provider) => {
      const listed = signs.models.filter((name) => soundsEmbedding(name) === isEmbedding(provider));
      const named = server.model === undefined ? listed.slice(0, MOST_MODELS) : [server.model];
      const models = named.length === 0 ? [signs.models[0] ?? provider.exampleModels[0]] : named;
      return models.map((model = 'default') => ({
        provider,
        channel: channelFor(provider, server, model),
        model,
      }));
    });
}

/** Of each kind: a server may list hundreds. */
const MOST_MODELS = 2;

/** Those behind HTTP; without a fixed address, those that people run themselves. */
function behindHttp(hasAddress: boolean): Exclude<Provider, { transport: 'process' }>[] {
  return allProviders().flatMap((provider) =>
    provider.transport === 'http' && (provider.baseUrl !== undefined) === hasAddress
      ? [provider]
      : [],
  );
}

async function testAll(
  test: Probe,
  trials: readonly Trial[],
  isTime: () => boolean,
): Promise<Tested[]> {
  const waiting = [...trials];
  const tested: Tested[] = [];
  const work = async (): Promise<void> => {
    for (let trial = waiting.shift(); trial !== undefined; trial = waiting.shift()) {
      if (!isTime()) return;
      const { provider, channel, model } = trial;
      const report = await test(channel, model);
      if (report.problem?.code !== 'unusable') tested.push({ provider, report });
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return tested;
}

function channelFor(provider: Provider, server: UnknownServer, model: string): Channel {
  const credentials = knownOf(server.credentials, provider.credentials ?? {});
  return {
    ...CHANNEL_DEFAULTS,
    id: 0,
    name: 'unknown',
    provider: provider.id,
    baseUrl: server.baseUrl,
    credentials: Object.fromEntries(
      Object.entries(credentials).map(([name, value]) => [name, new Secret(value)]),
    ),
    models: { [model]: model },
    tag: undefined,
    status: CHANNEL_ENABLED,
    settings: knownOf(server.settings, provider.settings ?? {}),
    origin: 'store',
  };
}

function nothingAt({ fault, message }: TransportError, requests: number): Findings {
  const problem =
    fault === 'timeout'
      ? { code: 'timeout', message: `It did not answer within ${REQUEST_MS} ms.` }
      : { code: 'unreachable', message: `It cannot be reached: ${message}.` };
  return { ...NOTHING, requests, problem };
}

/** Providers whose public address this is: those that rerank, or else those that make do with another model. */
function providersAt(baseUrl: string): Provider[] {
  const { host } = new URL(baseUrl);
  const there = behindHttp(true).filter(({ baseUrl: own = '' }) => hostPattern(own).test(host));
  const rerankers = there.filter(({ rounds }) => rounds === undefined);
  return rerankers.length === 0 ? there : rerankers;
}

/** A public address may have placeholders for settings, such as a region. */
function hostPattern(baseUrl: string): RegExp {
  const host = /^https?:\/\/([^/]+)/.exec(baseUrl)?.[1] ?? '';
  const parts = host.split(/\{\w+\}/).map((part) => part.replaceAll('.', String.raw`\.`));
  return new RegExp(`^${parts.join('[\\w-]+')}$`, 'i');
}
