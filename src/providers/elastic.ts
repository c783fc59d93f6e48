import type { JsonBody } from '../bytes/index.js';
import { readRows } from './dialects.js';
import { HOSTED } from './hosted.js';
import {
  defineProvider,
  optionalTextSetting,
  requiredCredential,
  textSetting,
  type UpstreamCall,
} from './provider.js';
import { COSINE_MODELS } from './self-hosted.js';

const SCHEMES = ['ApiKey', 'Basic', 'Bearer'];

/** Older clusters take the number of rows and the echo flag as task settings. */
function options({ topN, settings }: UpstreamCall): Record<string, JsonBody> {
  const members = { top_n: topN, return_documents: false };
  return settings.legacyOptions === true ? { task_settings: members } : members;
}

/** Elasticsearch's inference API: the model is the id of an inference endpoint, in the path. */
export const elastic = defineProvider({
  id: 'elastic',
  title: 'Elasticsearch inference',
  path: ({ model, settings }) => {
    const timeout = optionalTextSetting(settings, 'timeout');
    const query = timeout === undefined ? '' : `?timeout=${encodeURIComponent(timeout)}`;
    return `/_inference/rerank/${encodeURIComponent(model)}${query}`;
  },
  credentials: {
    apiKey: {
      required: true,
      describe: 'encoded API key, or whatever the scheme of the setting auth_scheme takes',
    },
  },
  settings: {
    authScheme: {
      type: 'string',
      default: 'ApiKey',
      describe: 'word before the credential: ApiKey, Basic or Bearer',
    },
    timeout: {
      type: 'string',
      default: '',
      describe: 'how long the cluster waits, such as 30s; empty leaves it to the cluster',
    },
    legacyOptions: {
      type: 'boolean',
      default: false,
      describe: 'for clusters before 9.1: sends top_n and return_documents in task_settings',
    },
  },
  headers: (endpoint) => ({
    authorization: `${textSetting(endpoint.settings, 'authScheme')} ${requiredCredential(endpoint, 'apiKey')}`,
  }),
  body: (call) => ({ query: call.query, input: call.documents.texts(), ...options(call) }),
  decode: (reply) => ({ rows: readRows(reply.field('rerank'), 'index', 'relevance_score') }),
  mistakes: ({ settings }) => [
    !SCHEMES.includes(textSetting(settings, 'authScheme')) &&
      `settings.auth_scheme must be one of ${SCHEMES.join(', ')}`,
  ],
  profile: {
    ...HOSTED,
    limits: { pairTokens: { default: 512, models: [{ match: /jina|cohere/i, value: 8_192 }] } },
    echo: 'optional',
    scoreScale: {
      default: 'unbounded',
      models: [
        { match: COSINE_MODELS, value: 'cosine' },
        { match: /jina|cohere/i, value: 'probability' },
      ],
    },
    billing: 'compute',
  },
  exampleModels: ['.rerank-v1-elasticsearch'],
  notes: [
    'The upstream name of the model is the inference id.',
    'A cluster ends a rerank after 30 s, whatever the timeout of the channel, unless the setting timeout says more.',
    "Elastic's own inference service also ranks images, in a different form, which is not sent: images are ranked elsewhere.",
    'Scores, their scale and the limits are those of the service behind the inference id; the profile is that of the built-in one.',
  ],
});
