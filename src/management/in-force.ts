import { StoreUnavailableError, type ChannelStore } from '../store/store.js';

/**
 * How a change of channels or tags has come into force: every live gateway has confirmed it; the staleness bound has passed,
 * beyond which no gateway acts on what it knew before; or there is no gateway that could act on it.
 */
export type InForce = 'confirmed' | 'bound_passed' | 'no_gateway';

export interface InForceDeps {
  readonly store: Pick<ChannelStore, 'oldestNodeVersion'>;
  readonly now: () => number;
  readonly pause?: (ms: number) => Promise<void>;
}

const POLL_MS = 5;

/** Resolves when no gateway begins an attempt any more on what it knew before `version`. */
export async function awaitInForce(
  { store, now, pause = delay }: InForceDeps,
  version: number,
  stalenessMs: number,
): Promise<InForce> {
  const bound = now() + stalenessMs;
  for (;;) {
    const confirmed = await lookAtNodes(store, version, now());
    if (confirmed !== undefined) return confirmed;
    if (now() > bound) return 'bound_passed';
    await pause(POLL_MS);
  }
}

async function lookAtNodes(
  store: InForceDeps['store'],
  version: number,
  nowMs: number,
): Promise<InForce | undefined> {
  try {
    const oldest = await store.oldestNodeVersion(nowMs);
    if (oldest === undefined) return 'no_gateway';
    return oldest >= version ? 'confirmed' : undefined;
  } catch (error) {
    if (!(error instanceof StoreUnavailableError)) throw error;
    // The change is made; gateways that cannot ask for it either stop at the bound.
    return undefined;
  }
}

function delay(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}
