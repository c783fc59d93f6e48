import { configurableWire } from './configurable.js';
import { defineProvider, OPTIONAL_API_KEY } from './provider.js';
import { SELF_HOSTED } from './self-hosted.js';

/** Any server: the form of Jina and Cohere by default, any other by settings. */
export const openaiCompatible = defineProvider({
  ...configurableWire({}),
  id: 'openai-compatible',
  title: 'Any Jina-like server',
  credentials: OPTIONAL_API_KEY,
  profile: {
    ...SELF_HOSTED,
    isRelay: true,
    sorted: false,
    echo: 'optional',
    mayCountOtherUnits: true,
  },
  exampleModels: ['bge-reranker-v2-m3'],
  notes: [
    'A token count that may count characters, as that of Infinity does, is checked against an estimate from the text, and left out if it cannot be checked.',
    'Without settings it posts model, query, documents, top_n and return_documents to /v1/rerank and reads results, data, rankings or a bare array.',
    'Rows that carry neither an index nor their place, only a text, cannot be used.',
    'LM Studio, Ollama, LMDeploy, TabbyAPI, text-generation-webui and FastChat have no rerank route: LM Studio answers 200 with an error inside.',
  ],
});
