import { configurableWire } from './configurable.js';
import { defineProvider, OPTIONAL_API_KEY } from './provider.js';
import { SELF_HOSTED } from './self-hosted.js';

/** Mosec, a framework: by default the form of its public reranker example, in JSON. */
export const mosec = defineProvider({
  ...configurableWire({
    path: '/inference',
    modelKey: '',
    documentsKey: 'docs',
    topNKey: '',
    echoKey: '',
    positional: true,
  }),
  id: 'mosec',
  title: 'Mosec',
  credentials: OPTIONAL_API_KEY,
  profile: {
    ...SELF_HOSTED,
    sorted: false,
    topN: 'unsupported',
    scoreScale: { default: 'unbounded' },
  },
  exampleModels: ['bge-reranker-v2-m3'],
  notes: [
    'The service must read JSON (its JSON mixin), not MessagePack as its example does.',
    'Paths and keys are whatever the service was written with: set them.',
  ],
});
