import { CHANNEL_DEFAULTS } from '../core/channel-members.js';
import { CHANNEL_ENABLED, type Channel } from '../core/channel.js';
import type {
  Certainty,
  Discover,
  DiscoveredProvider,
  Discovery,
  UnknownServer,
} from '../core/discovery.js';
import { Json } from '../core/json/json.js';
import type { Probe, ProbeReport } from '../core/probe.js';
import { camelKeys } from '../core/records.js';
import { Secret } from '../core/secret.js';
import { allProviders } from '../providers/index.js';
import type { Provider } from '../providers/provider.js';
import type { RawReply } from '../providers/reply.js';
import { createProbe, type ProbeDeps } from './probe.js';
import { joinPaths } from './route.js';
import type { Scope } from './scope.js';
import { readSigns, type Signs } from './signs.js';
import { TransportError, type UpstreamRequest } from './transport.js';
import type { Upstream } from './upstream.js';

export type DiscoverDeps = Omit<ProbeDeps, 'declared' | 'attemptTimeoutMs'>;

/** Per request: any server that answers at all answers two short documents in that time. */
const REQUEST_MS = 5_000;
/** For all of them: whatever has not been tried by then is skipped. */
const TOTAL_MS = 40_000;
const AT_ONCE = 4;
/** If more than this many rank alike, nobody can say which one it is. */
const FEW = 2;
/** General providers, proposed first if several fit. */
const GENERAL: readonly string[] = [
  'openai-compatible',
  'tei',
  'vllm',
  'embeddings',
  'chat-listwise',
];
/** Problems after which nothing else needs to be tried. */
const FINAL: ReadonlySet<string> = new Set(['wrong_key', 'no_credit']);

/**
 * Finds out what an unknown server speaks: asks what it says about itself, and then ranks two documents as each self-hosted
 * provider would, with that provider's own code. Identical requests are sent once.
 */
export function createDiscover(deps: DiscoverDeps): Discover {
  return async (server) => {
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
    const tested = await testAll(test, asReranker(server, signs), inTime());
    const discovery = conclude(tested, signs, upstream.requests);
    if (discovery.problem === undefined || FINAL.has(discovery.problem.code)) return discovery;
    const others = await testAll(test, asAnyModel(server, signs), inTime());
    return concludeAnyModel(discovery, others, signs, upstream.requests);
  };
}

interface Tested {
  readonly provider: Provider;
  readonly report: ProbeReport;
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
    const reply = this.#upstream.send(request, scope);
    this.#replies.set(key, reply);
    return reply;
  }

  readonly fetchToken: Upstream['fetchToken'] = (request, signal) =>
    this.#upstream.fetchToken(request, signal);
}

/** Why nothing answers there at all; `undefined` if something does. */
async function reach(
  upstream: Remembering,
  server: UnknownServer,
): Promise<TransportError | undefined> {
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
  server: UnknownServer,
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

function getRequest({ baseUrl, credentials }: UnknownServer, path: string): UpstreamRequest {
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

/** As each provider that people run themselves, and that ranks by one request. */
function asReranker(server: UnknownServer, signs: Signs): Trial[] {
  return behindHttp(false)
    .filter(({ rounds }) => rounds === undefined)
    .map((provider) => {
      const model = server.model ?? signs.models[0] ?? provider.exampleModels[0] ?? 'default';
      return { provider, channel: channelFor(provider, server, model), model };
    });
}

/** As each provider that makes a ranker of an embedding or chat model, with those of its models that look like one. */
function asAnyModel(server: UnknownServer, signs: Signs): Trial[] {
  return behindHttp(false)
    .filter(({ rounds }) => rounds !== undefined)
    .flatMap((provider) => {
      const listed = signs.models.filter((name) => EMBEDS.test(name) === isEmbedding(provider));
      const named = server.model === undefined ? listed.slice(0, MOST_MODELS) : [server.model];
      const models = named.length === 0 ? [signs.models[0] ?? provider.exampleModels[0]] : named;
      return models.map((model = 'default') => ({
        provider,
        channel: channelFor(provider, server, model),
        model,
      }));
    });
}

/** How embedding models are called. */
const EMBEDS = /embed|minilm|colbert|nomic|arctic|\b(?:e5|bge|gte|jina|mxbai)\b/i;
/** Of each kind: a server may list hundreds. */
const MOST_MODELS = 2;

function isEmbedding({ profile }: Provider): boolean {
  return profile.scoreScale.default === 'cosine';
}

/** Those behind HTTP; without an address of their own, those that people run themselves. */
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
  const known = (given: Readonly<Record<string, unknown>>, specs: object = {}) =>
    Object.entries(given).filter(([name]) => Object.hasOwn(specs, name));
  const credentials = known(camelKeys(server.credentials), provider.credentials);
  return {
    ...CHANNEL_DEFAULTS,
    id: 0,
    name: 'unknown',
    provider: provider.id,
    baseUrl: server.baseUrl,
    credentials: Object.fromEntries(
      credentials.map(([name, value]) => [name, new Secret(String(value))]),
    ),
    models: { [model]: model },
    tag: undefined,
    status: CHANNEL_ENABLED,
    settings: Object.fromEntries(known(camelKeys(server.settings), provider.settings)),
    origin: 'store',
  };
}

function conclude(tested: readonly Tested[], signs: Signs, requests: number): Discovery {
  const ranking = tested.filter(({ report }) => report.problem === undefined);
  const working = new Set(ranking.map(({ provider }) => provider.id));
  const says = new Set(signs.providers);
  const named = ranking.find(({ provider }) => says.has(provider.id))?.provider.id;
  const candidates = [
    ...ranking.map(({ provider: { id } }) => {
      if (says.has(id)) return found(id, 'certain', 'It says so itself, and ranks as that.');
      if (named !== undefined) {
        return found(id, 'possible', `It ranks as that, and says that it is ${named}.`);
      }
      return working.size <= FEW
        ? found(id, 'likely', 'It ranks as that, and as hardly anything else.')
        : found(id, 'possible', `It ranks as that, and as ${working.size - 1} others do.`);
    }),
    ...signs.providers
      .filter((id) => !working.has(id) && tested.some(({ provider }) => provider.id === id))
      .map((id) => found(id, 'possible', 'It says so itself, and does not rank as that.')),
  ].sort((one, other) => weightOf(one) - weightOf(other));
  const best = ranking.find(({ provider }) => provider.id === candidates[0]?.provider)?.report;
  return {
    candidates,
    models: signs.models,
    mostDocuments: signs.mostDocuments,
    scale: best?.ranking?.scale.observed,
    order: best?.ranking?.order,
    requests,
    problem: best === undefined ? problemOf(tested) : undefined,
  };
}

/** The same with what else its models can do, where no way to ask it for a ranking was found. */
function concludeAnyModel(
  discovery: Discovery,
  tested: readonly Tested[],
  signs: Signs,
  requests: number,
): Discovery {
  const ranking = tested.filter(({ report }) => report.problem === undefined);
  const candidates = ranking
    .map(({ provider, report: { model } }) => {
      const saysSo = signs.providers.some(
        (id) => provider.id === id || provider.id === `${id}-embeddings`,
      );
      const certainty = isEmbedding(provider) ? (saysSo ? 'certain' : 'likely') : 'possible';
      const because = isEmbedding(provider)
        ? 'It has no reranker; this model embeds texts, and they rank by their vectors.'
        : 'It has no reranker; this model chats, and ranks when it is asked to.';
      return found(provider.id, certainty, because, model);
    })
    .sort((one, other) => weightOf(one) - weightOf(other));
  const [first] = candidates;
  if (first === undefined) return { ...discovery, requests };
  const best = ranking.find(
    ({ provider, report }) => provider.id === first.provider && report.model === first.model,
  )?.report.ranking;
  return {
    ...discovery,
    candidates,
    requests,
    scale: best?.scale.observed,
    order: best?.order,
    problem: undefined,
  };
}

function found(
  provider: string,
  certainty: Certainty,
  because: string,
  model?: string,
): DiscoveredProvider {
  return { provider, certainty, because, model };
}

const WEIGHTS: Readonly<Record<Certainty, number>> = { certain: 0, likely: 2, possible: 4 };

function weightOf({ provider, certainty }: DiscoveredProvider): number {
  return WEIGHTS[certainty] + (GENERAL.includes(provider) ? 0 : 1);
}

/** Problems, the most telling first, with what to say where no reply may be quoted. */
const TELLING: readonly (readonly [string, string])[] = [
  [
    'wrong_order',
    'Something ranks there, and puts the document that does not answer the query first. Check that the model is a reranker.',
  ],
  ['wrong_key', 'Something answers there, and asks for a key, or refuses the one that was given.'],
  ['no_credit', 'Something answers there, and the account of the key has no credit left.'],
  [
    'unknown_model',
    'Something answers there, and does not know the model that was asked for. Name one that it serves.',
  ],
  ['busy', 'Something answers there, and is overloaded or limits this key. Try again later.'],
  [
    'timeout',
    'Something answers there, and not in time where it should rank. If it loads the model first, try again.',
  ],
  [
    'refused',
    'Something answers there, and refuses the request. Name a model that it serves, or choose the provider yourself.',
  ],
  ['upstream_fault', 'Something answers there, and fails. Look at its log.'],
  ['redirected', 'It redirects elsewhere, which is not followed. Give the address where it leads.'],
  ['web_page', 'A web page is there, or a login, and no API.'],
];

function problemOf(tested: readonly Tested[]): Discovery['problem'] {
  const seen = new Map(tested.map((one) => [one.report.problem?.code ?? '', one]));
  for (const [code, message] of TELLING) if (seen.has(code)) return { code, message };
  return {
    code: 'wrong_path',
    message:
      'Nothing that is known answers there. Check the path of the address, and that the server was started for reranking.',
  };
}

function nothingAt({ fault, message }: TransportError, requests: number): Discovery {
  const problem =
    fault === 'timeout'
      ? { code: 'timeout', message: `It did not answer within ${REQUEST_MS} ms.` }
      : { code: 'unreachable', message: `It cannot be reached: ${message}.` };
  return { ...NOTHING, requests, problem };
}

const NOTHING: Discovery = {
  candidates: [],
  models: [],
  mostDocuments: undefined,
  scale: undefined,
  order: undefined,
  requests: 0,
  problem: undefined,
};

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

function knownByAddress(providers: readonly Provider[]): Discovery {
  const certainty = providers.length === 1 ? 'certain' : 'likely';
  const candidates = providers.map(({ id, title }) =>
    found(id, certainty, `It is the address of ${title}; nothing was sent.`),
  );
  return { ...NOTHING, candidates };
}
