import { defineProvider } from './provider.js';
import { pathSetting } from './self-hosted.js';
import { vllm } from './vllm.js';

/** KServe's Hugging Face runtime: vLLM's form below a prefix. */
export const kserve = defineProvider({
  ...vllm,
  ...pathSetting('/openai/v1/rerank'),
  id: 'kserve',
  title: 'KServe (Hugging Face runtime)',
  notes: [
    'An option of the server can change the prefix /openai: set the path.',
    'The model is the name that the inference service was given.',
  ],
});
