import type { ProviderProfile } from './provider.js';
import { COSINE_MODELS, LISTWISE_MODELS } from './self-hosted.js';

/** What holds for most hosted providers of the widest family; each names where it differs. */
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
