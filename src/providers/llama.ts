import { defineInProcessProvider, textSetting } from './provider.js';
import { USUAL } from './self-hosted.js';

const CONTEXT_TOKENS = 2048;

/** A cross-encoder that runs in the gateway on llama.cpp: a GGUF file that the operator names. */
export const llama = defineInProcessProvider({
  id: 'llama',
  title: 'llama.cpp in the gateway',
  exampleModels: ['bge-reranker-v2-m3'],
  settings: {
    modelPath: {
      type: 'string',
      required: true,
      describe:
        'path of a GGUF file with a reranking head, seen from where the gateway was started',
    },
    threads: {
      type: 'number',
      least: 1,
      describe:
        'threads that compute, at most the number of cores; one less than there are cores where it is not set',
    },
    contextTokens: {
      type: 'number',
      default: CONTEXT_TOKENS,
      least: 16,
      describe:
        'tokens of query and document that are looked at together, at most what the model was trained on; memory grows with it',
    },
  },
  mistakes: ({ settings }) => [
    textSetting(settings, 'modelPath') === '' && 'settings.model_path must name a GGUF file',
  ],
  rank: async ({ query, documents, settings }, signal, neural) => {
    const scores = await neural.rank(
      {
        modelPath: textSetting(settings, 'modelPath'),
        threads: typeof settings.threads === 'number' ? settings.threads : undefined,
        contextTokens: Number(settings.contextTokens),
        query,
        documents,
      },
      signal,
    );
    return { rows: scores.map((score, index) => ({ index, score })) };
  },
  profile: {
    ...USUAL,
    sorted: false,
    topN: 'ignored',
    documents: { objects: true, images: { default: false } },
    // The package applies the logistic function to a model's logits.
    billing: 'none',
  },
  notes: [
    'Needs the package node-llama-cpp (3.22 or newer), which is not installed by default: `npm install node-llama-cpp`.',
    'The file is loaded with the first request and shared by all channels that name it; each worker process has its own copy.',
    'Documents longer than the context are ranked by their best part; no text is cut off.',
    'Requests take turns. Set `max_concurrency` to send the excess to other channels.',
  ],
});
