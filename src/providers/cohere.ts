import type { JsonBody } from '../bytes/index.js';
import { decodeJinaLike, faultByWords, pickFields } from './dialects.js';
import {
  defineProvider,
  REQUIRED_API_KEY,
  type ProviderProfile,
  type SettingSpec,
  type UpstreamCall,
} from './provider.js';
import { USUAL } from './self-hosted.js';

const profile: ProviderProfile = {
  ...USUAL,
  limits: {
    documents: { default: 10_000 },
    pairTokens: { default: 4_096, models: [{ match: /^rerank-v4/, value: 32_768 }] },
    documentTokens: { default: 4_096 },
  },
  echo: 'optional',
  documents: { objects: true, images: { default: false } },
  blanks: 'as_space',
  billing: 'search_units',
};

const MONTHLY_QUOTA = /\/ ?month|per month|monthly/i;
const CHUNK_LIMIT = /chunks|too many documents|10[ ,]?000/i;

const fault = faultByWords(
  [400, CHUNK_LIMIT, 'limit'],
  [429, MONTHLY_QUOTA, 'misconfigured'],
  [499, /^/, 'timeout'],
);

/** Cohere's first rerank API: only this one takes objects and chunk limits. Unknown members are refused (422). */
export const cohereV1 = defineProvider({
  id: 'cohere-v1',
  title: 'Cohere (v1)',
  baseUrl: 'https://api.cohere.com',
  path: '/v1/rerank',
  credentials: REQUIRED_API_KEY,
  body: (call) => ({
    model: call.model,
    query: call.query,
    ...rankedDocuments(call),
    top_n: call.topN,
    return_documents: false,
    max_chunks_per_doc: call.options.maxChunksPerDoc,
  }),
  decode: decodeJinaLike,
  fault,
  profile,
  exampleModels: ['rerank-v3.5', 'rerank-multilingual-v3.0'],
});

/** Objects are sent as objects only if the caller names their fields; everything else is sent as text. */
function rankedDocuments(call: UpstreamCall): Record<string, JsonBody> {
  const objects = pickFields(call);
  return objects === undefined
    ? { documents: call.documents.texts() }
    : { documents: objects, rank_fields: call.options.rankFields };
}

/** The second API reads 4 096 tokens of a document unless a request asks for more. */
export const TOKENS_PER_DOCUMENT = {
  maxTokensPerDoc: {
    type: 'number',
    least: 1,
    describe:
      'max_tokens_per_doc where the caller names none; unset: the provider cuts documents at 4096 tokens',
  },
} as const satisfies Record<string, SettingSpec>;

/** The caller's value, or else the channel's. */
export function tokensPerDocument({
  options,
  settings,
}: Pick<UpstreamCall, 'options' | 'settings'>): number | undefined {
  const own = settings.maxTokensPerDoc;
  return options.maxTokensPerDoc ?? (typeof own === 'number' ? own : undefined);
}

export const LONG_DOCUMENTS_NOTE =
  'Documents are silently cut at 4,096 tokens, even by models that read more: raise max_tokens_per_doc in the request or in the settings of the channel.';

/** Cohere's second rerank API: strings only, no echo. Unknown members are refused (422). */
export const cohere = defineProvider({
  id: 'cohere',
  title: 'Cohere (v2)',
  baseUrl: 'https://api.cohere.com',
  path: '/v2/rerank',
  credentials: REQUIRED_API_KEY,
  settings: TOKENS_PER_DOCUMENT,
  body: (call) => ({
    model: call.model,
    query: call.query,
    documents: call.documents.texts(),
    top_n: call.topN,
    max_tokens_per_doc: tokensPerDocument(call),
    priority: call.options.priority,
  }),
  decode: decodeJinaLike,
  fault,
  profile: { ...profile, echo: 'never', documents: { objects: false, images: { default: false } } },
  exampleModels: ['rerank-v4.0-pro', 'rerank-v4.0-fast', 'rerank-v3.5'],
  notes: [
    LONG_DOCUMENTS_NOTE,
    'Gateways that pass this form on work with a base URL: Envoy AI Gateway (below /cohere), agentgateway, AISIX, aiproxy, TrueFoundry.',
  ],
});
