import { decodeJinaLike } from './dialects.js';
import { HOSTED } from './hosted.js';
import { defineProvider, optionalTextSetting, REQUIRED_API_KEY } from './provider.js';

/** Nebius Token Factory: takes no number of rows and no echo flag; all documents are returned. */
export const nebius = defineProvider({
  id: 'nebius',
  title: 'Nebius Token Factory',
  baseUrl: 'https://api.tokenfactory.nebius.com',
  path: ({ settings }) => {
    const project = optionalTextSetting(settings, 'projectId');
    return project === undefined
      ? '/v1/rerank'
      : `/v1/rerank?ai_project_id=${encodeURIComponent(project)}`;
  },
  credentials: REQUIRED_API_KEY,
  settings: {
    projectId: { type: 'string', default: '', describe: 'project, sent as ai_project_id' },
    serviceTier: {
      type: 'string',
      default: '',
      describe: 'auto, default, over-limit, flex or no-limit; empty sends none',
    },
  },
  body: ({ model, query, documents, settings }) => ({
    model,
    query,
    documents: documents.texts(),
    service_tier: optionalTextSetting(settings, 'serviceTier'),
  }),
  decode: decodeJinaLike,
  profile: { ...HOSTED, topN: 'unsupported', echo: 'always' },
  exampleModels: ['Qwen/Qwen3-Reranker-8B'],
});
