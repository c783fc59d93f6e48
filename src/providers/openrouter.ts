import { Json } from '../core/json.js';
import { JsonFragment, type JsonBody } from '../bytes/index.js';
import { faultOfStatus, type FaultKind } from '../core/retry.js';
import { contentsOf, decodeJinaLike, imageUrl, isEmptyText } from './dialects.js';
import { HOSTED } from './hosted.js';
import {
  bearerWith,
  defineProvider,
  onlyFor,
  optionalTextSetting,
  REQUIRED_API_KEY,
  type Endpoint,
  type UpstreamCall,
  type UpstreamReply,
} from './provider.js';

const IMAGE_MODELS = /-vl-|-m0\b/i;

/** An error's code is the HTTP status, even if the reply's own status is 200. */
function fault({ status, json }: UpstreamReply): FaultKind | undefined {
  const code = json?.maybe('error').maybe('code').optionalNumber();
  if (code === undefined || code < 400 || code > 599) return undefined;
  return status < 300 ? faultOfStatus(code) : undefined;
}

function contents({ documents }: UpstreamCall): JsonBody {
  if (documents.images === 'none') return documents.texts();
  return contentsOf(documents, ({ text, image }) => ({
    text: isEmptyText(text) ? undefined : text,
    image: image && imageUrl(image),
  }));
}

/** The routing preferences, as valid JSON; `undefined` if the setting is not an object. */
function routing(settings: Endpoint['settings']): JsonFragment | undefined {
  const json = optionalTextSetting(settings, 'provider');
  if (json === undefined) return undefined;
  try {
    return new Json(JSON.parse(json)).isObject() ? new JsonFragment(Buffer.from(json)) : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** OpenRouter, a relay: documents are returned unasked, and scores are those of the provider behind it. */
export const openrouter = defineProvider({
  id: 'openrouter',
  title: 'OpenRouter',
  baseUrl: 'https://openrouter.ai',
  path: '/api/v1/rerank',
  credentials: REQUIRED_API_KEY,
  settings: {
    provider: {
      type: 'string',
      default: '',
      describe: 'routing preferences as a JSON object, such as {"only": ["cohere"]}',
    },
    referer: { type: 'string', default: '', describe: 'value of the header HTTP-Referer' },
    title: { type: 'string', default: '', describe: 'value of the header X-OpenRouter-Title' },
  },
  headers: bearerWith({ referer: 'http-referer', title: 'x-openrouter-title' }),
  body: (call) => ({
    model: call.model,
    query: call.query,
    documents: contents(call),
    top_n: call.topN,
    provider: routing(call.settings),
  }),
  decode: (reply) => {
    const { rows, usage } = decodeJinaLike(reply);
    const searchUnits = reply.maybe('usage').maybe('search_units').optionalNumber();
    return { rows, usage: { ...usage, searchUnits } };
  },
  fault,
  mistakes: ({ settings }) => [
    optionalTextSetting(settings, 'provider') !== undefined &&
      routing(settings) === undefined &&
      'settings.provider must be a JSON object, such as {"only": ["cohere"]}',
  ],
  profile: {
    ...HOSTED,
    echo: 'always',
    documents: { objects: true, images: onlyFor(IMAGE_MODELS) },
    scoreScale: { default: 'probability', models: [{ match: /^nvidia\//, value: 'unbounded' }] },
    billing: 'search_units',
  },
  exampleModels: [
    'cohere/rerank-v3.5',
    'cohere/rerank-4-pro',
    'cohere/rerank-4-fast',
    'qwen/qwen3-reranker-8b',
    'voyageai/rerank-2.5',
  ],
  notes: [
    'Rerank models are not in the plain list of models.',
    'The price that it reports in usage.cost is not read: set a price for the model.',
  ],
});
