import type { ProviderProfile } from './provider.js';
import { SELF_HOSTED } from './self-hosted.js';

/** The profile of most hosted providers with the most common form; each states its differences. */
export const HOSTED: ProviderProfile = { ...SELF_HOSTED, truncates: true, billing: 'tokens' };
