import { cohere, cohereV1 } from './cohere.js';
import type { Provider } from './provider.js';
import { voyage } from './voyage.js';

/** Every provider, by the id that channels name. Adding one is one line here. */
const PROVIDERS: readonly Provider[] = [cohere, cohereV1, voyage];

const BY_ID: ReadonlyMap<string, Provider> = new Map(
  PROVIDERS.map((provider) => [provider.id, provider]),
);

export function allProviders(): readonly Provider[] {
  return PROVIDERS;
}

export function findProvider(id: string): Provider | undefined {
  return BY_ID.get(id);
}
