import { bedrockAccess } from './bedrock-access.js';
import { LONG_DOCUMENTS_NOTE, TOKENS_PER_DOCUMENT, tokensPerDocument } from './cohere.js';
import { readRows } from './dialects.js';
import { defineProvider } from './provider.js';
import { USUAL } from './self-hosted.js';

/** A rerank model behind Bedrock's general call; Cohere's models need a version in the body, which Amazon's refuse. */
export const bedrockInvoke = defineProvider({
  id: 'bedrock-invoke',
  title: 'Amazon Bedrock InvokeModel',
  baseUrl: 'https://bedrock-runtime.{region}.amazonaws.com',
  // Colons and the slashes of ARNs are escaped on the wire, and again in the signature.
  path: ({ model }) => `/model/${encodeURIComponent(model)}/invoke`,
  ...bedrockAccess,
  settings: {
    ...bedrockAccess.settings,
    apiVersion: {
      type: 'number',
      default: 2,
      describe: "api_version in the body, for models that are not Amazon's",
    },
    ...TOKENS_PER_DOCUMENT,
  },
  body: (call) => {
    const { model, query, documents, topN, settings } = call;
    const body = { query, documents: documents.texts(), top_n: topN };
    if (model.includes('amazon.rerank')) return body;
    return {
      ...body,
      api_version: Number(settings.apiVersion),
      max_tokens_per_doc: tokensPerDocument(call),
    };
  },
  decode: (reply, _call, { headers }) => ({
    rows: readRows(reply.field('results'), 'index', 'relevance_score'),
    usage: { inputTokens: countOf(headers['x-amzn-bedrock-input-token-count']) },
  }),
  profile: {
    ...USUAL,
    limits: { documents: { default: 1_000 } },
    blanks: 'as_space',
    billing: 'search_units',
  },
  exampleModels: ['cohere.rerank-v3-5:0', 'amazon.rerank-v1:0'],
  notes: [
    'Takes access keys or a Bedrock API key, and ARNs and inference profiles as models.',
    "Whether a model is Amazon's is read from its name: an inference profile should keep that name.",
    `Cohere's: ${LONG_DOCUMENTS_NOTE}`,
  ],
});

function countOf(header: string | undefined): number | undefined {
  const count = Number(header);
  return Number.isFinite(count) ? count : undefined;
}
