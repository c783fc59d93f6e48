import { contentsOf, decodeJinaLike, imageUrl, jinaLikeBody } from './dialects.js';
import { defineProvider, onlyFor, OPTIONAL_API_KEY } from './provider.js';
import { SELF_HOSTED } from './self-hosted.js';

const IMAGE_MODELS = /vl\b|vl-|reranker-m0/i;

/** mlx-vlm on a Mac: strings, or objects if there are images. */
export const mlxVlm = defineProvider({
  id: 'mlx-vlm',
  title: 'mlx-vlm',
  path: '/v1/rerank',
  credentials: OPTIONAL_API_KEY,
  body: (call) => ({
    ...jinaLikeBody(call),
    ...(call.documents.images !== 'none'
      ? {
          documents: contentsOf(call.documents, ({ text, image }) => ({
            text,
            image: image && imageUrl(image),
          })),
        }
      : {}),
    instruction: call.options.instruction,
  }),
  decode: decodeJinaLike,
  profile: {
    ...SELF_HOSTED,
    echo: 'optional',
    documents: { objects: true, images: onlyFor(IMAGE_MODELS) },
    blanks: 'refused',
  },
  exampleModels: ['mlx-community/Qwen3-Reranker-0.6B'],
});

/** vllm-mlx: answers 404 if it was started without a reranker. */
export const vllmMlx = defineProvider({
  id: 'vllm-mlx',
  title: 'vllm-mlx',
  path: '/v1/rerank',
  credentials: OPTIONAL_API_KEY,
  body: jinaLikeBody,
  decode: decodeJinaLike,
  profile: {
    ...SELF_HOSTED,
    echo: 'optional',
    documents: { objects: true, images: { default: false } },
  },
  exampleModels: ['mlx-community/Qwen3-Reranker-0.6B'],
});
