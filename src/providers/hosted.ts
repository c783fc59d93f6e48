import type { ProviderProfile } from './provider.js';
import { COSINE_MODELS, LISTWISE_MODELS } from './self-hosted.js';

/** The profile of most hosted providers with the most common form; each states its differences. */
export const HOSTED: ProviderProfile = {
  limits: {},
  truncates: true,
  sorted: true,
  topN: 'honoured',
  echo: 'never',
  documents: { objects: false, images: { default: false } },
  blanks: 'accepted',
  scoreScale: { default: 'probability', models: [{ match: COSINE_MODELS, value: 'cosine' }] },
  ranking: { default: 'pointwise', models: [{ match: LISTWISE_MODELS, value: 'listwise' }] },
  billing: 'tokens',
};
