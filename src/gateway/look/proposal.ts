import type {
  Certainty,
  DiscoveredProvider,
  Discovery,
  UnknownServer,
} from '../../core/discovery.js';
import type { ProbeReport } from '../../core/probe.js';
import { camelKeys } from '../../core/records.js';
import { findProvider } from '../../providers/index.js';
import type { Provider } from '../../providers/provider.js';
import { rerankersOf, type Signs } from './signs.js';

/** If more than this many rank alike, the provider cannot be identified. */
const FEW = 2;
/** General providers, proposed first if several fit. */
const GENERAL: readonly string[] = [
  'openai-compatible',
  'cohere',
  'tei',
  'vllm',
  'embeddings',
  'chat-listwise',
];

/** A provider, and what came of ranking with it. */
export interface Tested {
  readonly provider: Provider;
  readonly report: ProbeReport;
}

/** Findings that a proposal is based on. */
export interface Findings extends Omit<Discovery, 'channel'> {
  /** The model that the first candidate ranked with. */
  readonly ranked: string | undefined;
}

/** What the signs of a server and the trials on it say together. */
export function conclude(tested: readonly Tested[], signs: Signs, requests: number): Findings {
  const ranking = tested.filter(({ report }) => report.problem === undefined);
  const working = new Set(ranking.map(({ provider }) => provider.id));
  const says = new Set(signs.providers);
  const named = ranking.find(({ provider }) => says.has(provider.id))?.provider.id;
  const candidates = [
    ...ranking
      .filter(({ provider: { id } }) => named === undefined || says.has(id) || GENERAL.includes(id))
      .map(({ provider: { id } }) => {
        if (says.has(id)) return found(id, 'certain', 'It says so itself, and ranks accordingly.');
        if (named !== undefined) {
          return found(id, 'possible', `It ranks this way, but says that it is ${named}.`);
        }
        return working.size <= FEW
          ? found(id, 'likely', 'It ranks this way, and few other providers fit.')
          : found(id, 'possible', `It ranks this way, but so do ${working.size - 1} others.`);
      }),
    ...signs.providers
      .filter((id) => !working.has(id) && tested.some(({ provider }) => provider.id === id))
      .map((id) => found(id, 'possible', 'It says so itself, but does not rank this way.')),
  ].sort((one, other) => weightOf(one) - weightOf(other));
  const best = ranking.find(({ provider }) => provider.id === candidates[0]?.provider)?.report;
  return {
    candidates,
    ranked: best?.model,
    models: best === undefined ? signs.models : rerankersOf(signs),
    mostDocuments: signs.mostDocuments,
    scale: best?.ranking?.scale.observed,
    order: best?.ranking?.order,
    requests,
    problem: best === undefined ? problemOf(tested) : undefined,
  };
}

/** The same with what else its models can do, where no way to ask it for a ranking was found. */
export function concludeAnyModel(
  findings: Findings,
  tested: readonly Tested[],
  signs: Signs,
  requests: number,
): Findings {
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
  if (first === undefined) return { ...findings, requests };
  const best = ranking.find(
    ({ provider, report }) => provider.id === first.provider && report.model === first.model,
  )?.report.ranking;
  return {
    ...findings,
    candidates,
    ranked: first.model,
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
    'Something ranks there, but puts the document that does not answer the query first. Check that the model is a reranker.',
  ],
  ['wrong_key', 'Something answers there, but asks for a key, or refuses the one that was given.'],
  ['no_credit', 'Something answers there, but the account of the key has no credit left.'],
  [
    'unknown_model',
    'Something answers there, but does not know the requested model. Name one that it serves.',
  ],
  ['busy', 'Something answers there, but is overloaded or limits this key. Try again later.'],
  [
    'timeout',
    'Something answers there, but does not rank in time. If it loads the model first, try again.',
  ],
  [
    'refused',
    'Something answers there, but refuses the request. Name a model that it serves, or choose the provider yourself.',
  ],
  ['upstream_fault', 'Something answers there, but fails. Check its log.'],
  [
    'redirected',
    'It redirects elsewhere, and redirects are not followed. Give the address it leads to.',
  ],
  ['web_page', 'There is a web page or a login there, not an API.'],
];

function problemOf(tested: readonly Tested[]): Discovery['problem'] {
  const seen = new Map(tested.map((one) => [one.report.problem?.code ?? '', one]));
  for (const [code, message] of TELLING) if (seen.has(code)) return { code, message };
  return {
    code: 'wrong_path',
    message:
      'No known server answers there. Check the path of the address, and that the server was started for reranking.',
  };
}

/** A discovery that found nothing. */
export const NOTHING: Findings = {
  candidates: [],
  ranked: undefined,
  models: [],
  mostDocuments: undefined,
  scale: undefined,
  order: undefined,
  requests: 0,
  problem: undefined,
};

/** A discovery by the address alone. */
export function knownByAddress(providers: readonly Provider[]): Findings {
  const certainty = providers.length === 1 ? 'certain' : 'likely';
  const candidates = providers.map(({ id, title }) =>
    found(id, certainty, `It is the address of ${title}; nothing was sent.`),
  );
  return { ...NOTHING, candidates, ranked: providers[0]?.exampleModels[0] };
}

/** Whether the forms of providers with a fixed address need not be tried: the answer is known, or the most common form. */
export function isSettled(tested: readonly Tested[], signs: Signs): boolean {
  return tested.some(
    ({ provider: { id }, report: { problem } }) =>
      problem === undefined && (GENERAL.includes(id) || signs.providers.includes(id)),
  );
}

/** Providers that differ from another one only by their address, such as those of further regions, rank as that one does. */
export function withoutVariants(tested: readonly Tested[]): Tested[] {
  const working = tested.filter(({ report }) => report.problem === undefined);
  return tested.filter(
    ({ provider }) => !working.some(({ provider: { id } }) => provider.id.startsWith(`${id}-`)),
  );
}

/** The findings with a channel to use; of what was given, it has only what its provider knows. */
export function propose({ ranked, ...found }: Findings, server: UnknownServer): Discovery {
  const [best] = found.candidates;
  const provider = best === undefined ? undefined : findProvider(best.provider);
  if (best === undefined || provider === undefined) return { ...found, channel: undefined };
  const { credentials = {}, settings = {} } = provider;
  const limit = found.mostDocuments;
  const only = server.model ?? best.model;
  const listed = found.models.length === 0 && ranked !== undefined ? [ranked] : found.models;
  return {
    ...found,
    channel: {
      provider: provider.id,
      baseUrl: server.baseUrl,
      models: only === undefined ? listed : [only],
      credentials: Object.keys(knownOf(server.credentials, credentials)),
      settings: {
        ...knownOf(server.settings, settings),
        ...(limit !== undefined && Object.hasOwn(settings, 'maxDocuments')
          ? { maxDocuments: limit }
          : {}),
      },
    },
  };
}

/** Of what was given, whatever is among `specs`. */
export function knownOf<T>(given: Readonly<Record<string, T>>, specs: object): Record<string, T> {
  return Object.fromEntries(
    Object.entries(camelKeys(given)).filter(([name]) => Object.hasOwn(specs, name)),
  );
}

/** Whether a provider ranks by the vectors of an embedding model. */
export function isEmbedding({ profile }: Provider): boolean {
  return profile.scoreScale.default === 'cosine';
}
