import type { JsonBody } from '../bytes/index.js';
import { contentsOf, imageUrl, readRows } from './dialects.js';
import { defineProvider, onlyFor, OPTIONAL_API_KEY, type UpstreamCall } from './provider.js';
import { pathSetting, SELF_HOSTED } from './self-hosted.js';

const IMAGE_MODELS = /-vl\b|-vl-|reranker-m0|multimodal/i;

/** Strings, or single parts in the form of OpenAI's chat: a document has a text or an image. */
function items({ documents }: UpstreamCall): JsonBody {
  if (documents.images === 'none') return documents.texts();
  return contentsOf(documents, ({ text, image }) =>
    image === undefined ? text : { type: 'image_url', image_url: { url: imageUrl(image) } },
  );
}

/** OGX, formerly Llama Stack: `items` for the documents, `max_num_results` for the number of rows. */
export const ogx = defineProvider({
  ...pathSetting('/v1alpha/inference/rerank'),
  id: 'ogx',
  title: 'OGX (Llama Stack)',
  credentials: OPTIONAL_API_KEY,
  body: (call) => ({
    model: call.model,
    query: call.query,
    items: items(call),
    max_num_results: call.topN,
  }),
  decode: (reply) => ({ rows: readRows(reply.field('data'), 'index', 'relevance_score') }),
  profile: {
    ...SELF_HOSTED,
    isRelay: true,
    documents: { objects: false, images: onlyFor(IMAGE_MODELS) },
    scoreScale: { default: 'unbounded' },
  },
  exampleModels: ['nvidia/llama-3.2-nv-rerankqa-1b-v2', 'Qwen/Qwen3-Reranker-0.6B'],
  notes: [
    'Scores and limits are those of the engine behind it (vLLM, NVIDIA); it reports no usage.',
    'A document with a text and an image travels as its image.',
  ],
});
