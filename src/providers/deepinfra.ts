import { readPositional } from './dialects.js';
import { HOSTED } from './hosted.js';
import {
  defineProvider,
  REQUIRED_API_KEY,
  textSetting,
  type UpstreamCall,
  type UpstreamReply,
} from './provider.js';
import { readErrorMessage } from './reply.js';

type QueryKey = 'query' | 'queries';

/** No source says which models take which key: cross-encoders are documented with `query`, Qwen3 with `queries`. */
function queryKey({ model, settings }: Pick<UpstreamCall, 'model' | 'settings'>): QueryKey {
  const own = textSetting(settings, 'queryKey');
  if (own === 'query' || own === 'queries') return own;
  return model.startsWith('cross-encoder/') ? 'query' : 'queries';
}

/** A refusal that names the key that was not sent asks for it. */
function otherForm(
  reply: UpstreamReply,
  call: Pick<UpstreamCall, 'model' | 'settings'>,
): { readonly queryKey: QueryKey } | undefined {
  if (reply.status !== 422 || textSetting(call.settings, 'queryKey') !== 'auto') return undefined;
  const other = queryKey(call) === 'query' ? 'queries' : 'query';
  const named = new RegExp(String.raw`\b${other}\b`).test(readErrorMessage(reply));
  return named ? { queryKey: other } : undefined;
}

/** DeepInfra: the model in the path, scores by position, no number of rows. */
export const deepinfra = defineProvider({
  id: 'deepinfra',
  title: 'DeepInfra',
  baseUrl: 'https://api.deepinfra.com',
  chatPath: '/v1/openai',
  // The model's slash is not escaped.
  path: ({ model }) => `/v1/inference/${model.split('/').map(encodeURIComponent).join('/')}`,
  credentials: REQUIRED_API_KEY,
  settings: {
    queryKey: {
      type: 'string',
      default: 'auto',
      describe: 'member that carries the query: query, queries, or auto to choose by the model',
    },
    serviceTier: {
      type: 'string',
      default: '',
      describe: 'default or priority; empty sends none',
    },
  },
  body: (call) => {
    const tier = textSetting(call.settings, 'serviceTier');
    return {
      // One query stands for all documents.
      ...(queryKey(call) === 'query' ? { query: call.query } : { queries: [call.query] }),
      documents: call.documents.texts(),
      instruction: call.options.instruction,
      service_tier: tier === '' ? undefined : tier,
    };
  },
  decode: (reply, { documents }) => ({
    rows: readPositional(reply.field('scores'), documents.count),
    usage: {
      inputTokens:
        reply.maybe('input_tokens').optionalNumber() ??
        reply.maybe('inference_status').maybe('tokens_input').optionalNumber(),
    },
  }),
  otherForm,
  mistakes: ({ settings }) => [
    !['auto', 'query', 'queries'].includes(textSetting(settings, 'queryKey')) &&
      'settings.query_key must be query, queries or auto',
  ],
  profile: {
    ...HOSTED,
    sorted: false,
    topN: 'unsupported',
    scoreScale: { default: 'probability', models: [{ match: /nvidia\//i, value: 'unbounded' }] },
  },
  exampleModels: [
    'Qwen/Qwen3-Reranker-8B',
    'cross-encoder/ms-marco-MiniLM-L-12-v2',
    'nvidia/Nemotron-3.5-Rerank-8B-BF16',
  ],
  notes: [
    'Scores of one text differ by up to 0.02 from call to call.',
    "The scale of NVIDIA's models is not documented; they are treated as unbounded.",
  ],
});
