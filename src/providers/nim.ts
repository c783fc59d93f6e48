import type { Json } from '../core/json.js';
import type { JsonBody } from '../bytes/index.js';
import type { UpstreamRanking } from '../core/rerank.js';
import { contentsOf, imageUrl, isEmptyText, objectsOf, readRows, readUsage } from './dialects.js';
import { defineProvider, onlyFor, OPTIONAL_API_KEY, type UpstreamCall } from './provider.js';
import { MAX_DOCUMENTS, pathSetting, SELF_HOSTED } from './self-hosted.js';

/** Models that take images, as base64 in a `data:` URL. */
export const NIM_IMAGE_MODELS = /-vl-/;

/** NVIDIA's request: objects for the query and the passages, no number of rows, and long input cut. */
export function nimBody({ model, query, documents, options }: UpstreamCall): JsonBody {
  return {
    model,
    query: { text: query },
    passages:
      documents.images !== 'none'
        ? contentsOf(documents, ({ text, image }) => ({
            // An empty text next to an image is refused, an absent one is not.
            text: image !== undefined && isEmptyText(text) ? undefined : text,
            image: image && imageUrl(image),
          }))
        : objectsOf(documents),
    truncate: options.truncation === false ? 'NONE' : 'END',
  };
}

/** NVIDIA's reply: logits under `rankings`, and tokens only from newer containers. */
export function decodeNim(reply: Json): UpstreamRanking {
  return { rows: readRows(reply.field('rankings'), 'index', 'logit'), usage: readUsage(reply) };
}

const route = pathSetting('/v1/ranking');

/** NVIDIA's reranking container, run by an operator. */
export const nim = defineProvider({
  ...route,
  id: 'nim',
  title: 'NVIDIA NIM (self-hosted)',
  credentials: OPTIONAL_API_KEY,
  settings: { ...route.settings, ...MAX_DOCUMENTS },
  body: nimBody,
  decode: decodeNim,
  profile: {
    ...SELF_HOSTED,
    limits: { documents: { default: 512 } },
    truncates: true,
    topN: 'unsupported',
    documents: { objects: false, images: onlyFor(NIM_IMAGE_MODELS) },
    blanks: 'as_space',
    scoreScale: { default: 'logit' },
    ranking: { default: 'pointwise' },
  },
  exampleModels: ['nvidia/llama-nemotron-rerank-1b-v2', 'nvidia/llama-nemotron-rerank-vl-1b-v2'],
  notes: ['Scores are logits of half precision, so equal ones are common.'],
});
