import { decodeJinaLike, plainBody } from './dialects.js';
import { HOSTED } from './hosted.js';
import { defineProvider, optionalTextSetting, REQUIRED_API_KEY } from './provider.js';

/** Scaleway: refuses a request without `top_n`. */
export const scaleway = defineProvider({
  id: 'scaleway',
  title: 'Scaleway Generative APIs',
  baseUrl: 'https://api.scaleway.ai',
  path: ({ settings }) => {
    const project = optionalTextSetting(settings, 'projectId');
    return project === undefined ? '/v1/rerank' : `/${encodeURIComponent(project)}/v1/rerank`;
  },
  credentials: REQUIRED_API_KEY,
  settings: {
    projectId: {
      type: 'string',
      default: '',
      describe: 'project that is billed; empty: the default',
    },
  },
  body: plainBody,
  decode: decodeJinaLike,
  profile: { ...HOSTED, topN: 'required' },
  exampleModels: ['qwen3-embedding-8b'],
  notes: ['Ranks with an embedding model; limits and usage are not documented.'],
});
