import type { Json } from '../core/json.js';
import { readRows } from './dialects.js';
import { HOSTED } from './hosted.js';
import {
  defineProvider,
  headerMistake,
  keyInHeader,
  textSetting,
  type Endpoint,
  type HttpProvider,
  type UpstreamCall,
} from './provider.js';
import { ENTRA_SECRET, ENTRA_SETTINGS, tokenWithoutKey } from './signing/entra.js';

const PATH = '/inference/semanticReranking';

function mistakes({
  credentials,
  settings,
}: Pick<Endpoint, 'credentials' | 'settings'>): (string | false)[] {
  const named = ['tenant', 'clientId'].every((name) => textSetting(settings, name) !== '');
  return [
    credentials.apiKey === undefined &&
      (credentials.clientSecret === undefined || !named) &&
      'credentials.api_key is missing, or credentials.client_secret with settings.tenant and settings.client_id',
    headerMistake(settings, 'apiKeyHeader'),
  ];
}

/** The documented type makes all members of a row optional; an entry without an index is not a row. */
function decode(reply: Json) {
  return {
    rows: readRows(reply.field('scores'), 'index', 'score'),
    usage: {
      inputTokens: reply.maybe('meta').maybe('tokenUsage').maybe('totalTokens').optionalNumber(),
    },
  };
}

const settings = {
  apiKeyHeader: {
    type: 'string',
    default: 'api-key',
    describe: 'header for the key: api-key, or authorization (as a bearer token)',
  },
  ...ENTRA_SETTINGS,
} as const;

const common = {
  credentials: {
    apiKey: { required: false, describe: 'key of the resource' },
    ...ENTRA_SECRET,
  },
  mistakes,
  headers: keyInHeader,
  token: tokenWithoutKey,
  body: ({ model, query, documents, topN }: UpstreamCall) => ({
    model: model === DEFAULT_MODEL ? undefined : model,
    query,
    documents: documents.texts(),
    top_k: topN,
    return_documents: false,
    sort: true,
    document_type: 'string',
  }),
  decode,
  profile: {
    ...HOSTED,
    echo: 'optional',
    scoreScale: { default: 'unbounded' },
    blanks: 'as_space',
  },
} satisfies Partial<HttpProvider>;

/** The model name that leaves the choice to the service: no model is sent then. */
const DEFAULT_MODEL = 'default';

/** Microsoft's semantic ranker as a separate service. */
export const azureDataAi = defineProvider({
  ...common,
  id: 'azure-data-ai',
  title: 'Azure Data AI (semantic reranking)',
  path: ({ settings: own }) =>
    `${PATH}?api-version=${encodeURIComponent(textSetting(own, 'apiVersion'))}`,
  settings: {
    ...settings,
    apiVersion: {
      type: 'string',
      default: '2026-10-30',
      describe: 'value of api-version in the address',
    },
  },
  exampleModels: [DEFAULT_MODEL],
  notes: [
    'The base URL is https://<resource>.inference.azure.com. The upstream name "default" sends no model and leaves the choice to the service.',
  ],
});

/** The same next to a Cosmos DB account, in preview. */
export const azureCosmosRerank = defineProvider({
  ...common,
  id: 'azure-cosmos-rerank',
  title: 'Azure Cosmos DB (semantic reranker, preview)',
  path: PATH,
  settings: {
    ...settings,
    scope: { ...ENTRA_SETTINGS.scope, default: 'https://dbinference.azure.com/.default' },
  },
  exampleModels: [DEFAULT_MODEL],
  notes: [
    'The base URL is https://<account>.<region>.dbinference.azure.com; the host takes Entra tokens.',
    'The upstream name "default" sends no model.',
  ],
});
