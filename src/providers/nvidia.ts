import type { FaultKind } from '../core/retry.js';
import { decodeJinaLike, plainBody } from './dialects.js';
import { HOSTED } from './hosted.js';
import { decodeNim, NIM_IMAGE_MODELS, nimBody } from './nim.js';
import {
  defineProvider,
  onlyFor,
  optionalTextSetting,
  REQUIRED_API_KEY,
  type HttpProvider,
  type ProviderProfile,
  type UpstreamReply,
} from './provider.js';
import { pathSetting } from './self-hosted.js';

/** A slow call is answered with 202 and an id with which to ask for the result: another channel is faster. */
function fault({ status }: UpstreamReply): FaultKind | undefined {
  return status === 202 ? 'timeout' : undefined;
}

const profile: ProviderProfile = {
  ...HOSTED,
  limits: { documents: { default: 512, models: [{ match: NIM_IMAGE_MODELS, value: 1_000 }] } },
  topN: 'unsupported',
  documents: { objects: false, images: onlyFor(NIM_IMAGE_MODELS) },
  blanks: 'as_space',
  scoreScale: { default: 'logit' },
  ranking: { default: 'pointwise' },
  billing: 'requests',
};

const dialect = {
  credentials: REQUIRED_API_KEY,
  body: nimBody,
  decode: decodeNim,
  fault,
  profile,
  exampleModels: ['nvidia/llama-nemotron-rerank-1b-v2', 'nvidia/llama-nemotron-rerank-vl-1b-v2'],
} as const satisfies Partial<HttpProvider>;

const IMAGES = 'Images are sent only as base64 in data: URLs: the address of an image is refused.';

/** NVIDIA's hosted models, one route for all. */
export const nvidia = defineProvider({
  ...dialect,
  ...pathSetting('/v1/ranking'),
  id: 'nvidia',
  title: 'NVIDIA (build.nvidia.com)',
  baseUrl: 'https://integrate.api.nvidia.com',
  notes: [IMAGES, 'Not every model answers here: where one does not, use nvidia-retrieval.'],
});

/** The first model has a route without a name in it. */
const FIRST_MODEL = 'nv-rerank-qa-mistral-4b:1';

/** A model's own route: the name after its vendor, with underscores for dots. */
function retrievalPath(model: string): string {
  if (model.endsWith(FIRST_MODEL)) return '/v1/retrieval/nvidia/reranking';
  const at = model.indexOf('/');
  const vendor = at < 0 ? 'nvidia' : model.slice(0, at);
  const name = model.slice(at + 1).replaceAll('.', '_');
  return `/v1/retrieval/${encodeURIComponent(vendor)}/${encodeURIComponent(name)}/reranking`;
}

/** NVIDIA's hosted models, each on its own route. */
export const nvidiaRetrieval = defineProvider({
  ...dialect,
  id: 'nvidia-retrieval',
  title: "NVIDIA (a model's own route)",
  baseUrl: 'https://ai.api.nvidia.com',
  settings: {
    path: {
      type: 'string',
      default: '',
      describe: 'path of the route; empty makes it of the name of the model',
    },
  },
  path: ({ model, settings }) => optionalTextSetting(settings, 'path') ?? retrievalPath(model),
  notes: [IMAGES],
});

/** NVIDIA's inference hub, which uses Cohere's form. */
export const nvidiaHub = defineProvider({
  id: 'nvidia-hub',
  title: 'NVIDIA inference hub',
  baseUrl: 'https://inference-api.nvidia.com',
  path: '/v1/rerank',
  credentials: REQUIRED_API_KEY,
  body: plainBody,
  decode: decodeJinaLike,
  fault,
  profile: { ...HOSTED, scoreScale: { default: 'unbounded' }, billing: 'requests' },
  exampleModels: ['nvidia/llama-3.2-nv-rerankqa-1b-v2'],
  notes: ['Known from a single source: test a channel before relying on it.'],
});
