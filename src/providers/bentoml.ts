import { configurableWire } from './configurable.js';
import { defineProvider, OPTIONAL_API_KEY } from './provider.js';
import { SELF_HOSTED } from './self-hosted.js';

/** BentoML, a framework: the path is the method's name, and the keys are its parameters. */
export const bentoml = defineProvider({
  ...configurableWire({
    path: '/rerank',
    modelKey: '',
    topNKey: '',
    echoKey: '',
    positional: true,
  }),
  id: 'bentoml',
  title: 'BentoML',
  credentials: OPTIONAL_API_KEY,
  profile: {
    ...SELF_HOSTED,
    sorted: false,
    topN: 'unsupported',
    scoreScale: { default: 'unbounded' },
  },
  exampleModels: ['bge-reranker-v2-m3'],
  notes: ['Paths and keys are whatever the service was written with: set them.'],
});
