import * as chat from './chat/apis.js';
import * as embedders from './embeddings/index.js';
import type { Provider } from './provider.js';
import { RELAYS } from './relays.js';
import * as rerankers from './rerankers.js';

/** Those with a rerank API come first. */
const PROVIDERS: readonly Provider[] = [
  ...byId([...Object.values(rerankers), ...RELAYS]),
  ...byId(Object.values(embedders)),
  ...byId(Object.values(chat)),
];

function byId(providers: Provider[]): Provider[] {
  return providers.sort((one, other) => (one.id < other.id ? -1 : 1));
}

const BY_ID: ReadonlyMap<string, Provider> = new Map(
  PROVIDERS.map((provider) => [provider.id, provider]),
);

export function allProviders(): readonly Provider[] {
  return PROVIDERS;
}

export function findProvider(id: string): Provider | undefined {
  return BY_ID.get(id);
}
