import { StoreUnavailableError, type NodeState, type NodeStore } from '../store/store.js';

/**
 * How a change of channels or tags has come into force: every live gateway has confirmed it; the staleness bound has passed,
 * beyond which no gateway acts on what it knew before; or there is no gateway that could act on it.
 */
export type InForceState = 'confirmed' | 'bound_passed' | 'no_gateway';

/** How a change came into force, on which of the gateways, and how long that took. */
export interface InForce {
  readonly state: InForceState;
  /** How many reporting gateways have it in force; `late` names the others. */
  readonly nodes: {
    readonly confirmed: number;
    readonly total: number;
    readonly late: readonly string[];
  };
  readonly waitedMs: number;
}

export interface InForceDeps {
  readonly store: Pick<NodeStore, 'listNodes'>;
  readonly now: () => number;
  /** Milliseconds by a clock that cannot be set: the bound passes whatever happens to the time of day. */
  readonly elapsed?: () => number;
  readonly pause?: (ms: number) => Promise<void>;
}

const POLL_MS = 5;
const NOBODY: InForce['nodes'] = { confirmed: 0, total: 0, late: [] };

/** Resolves when no gateway begins another attempt on what it knew before `version`. */
export async function awaitInForce(
  { store, now, elapsed = () => performance.now(), pause = delay }: InForceDeps,
  version: number,
  stalenessMs: number,
): Promise<InForce> {
  const begunMs = elapsed();
  let nodes = NOBODY;
  for (;;) {
    nodes = (await lookAtNodes(store, version, now())) ?? nodes;
    const ended = (state: InForceState): InForce => ({
      state,
      nodes,
      waitedMs: Math.round(elapsed() - begunMs),
    });
    if (nodes.total > 0 && nodes.confirmed === nodes.total) return ended('confirmed');
    if (nodes !== NOBODY && nodes.total === 0) return ended('no_gateway');
    if (elapsed() > begunMs + stalenessMs) return ended('bound_passed');
    await pause(POLL_MS);
  }
}

/** `undefined` if the store cannot tell. */
async function lookAtNodes(
  store: InForceDeps['store'],
  version: number,
  nowMs: number,
): Promise<InForce['nodes'] | undefined> {
  try {
    const states = await store.listNodes(nowMs);
    const live = states.filter((node) => node.version !== undefined);
    const late = live.filter((node) => (node.version ?? 0) < version);
    return {
      confirmed: live.length - late.length,
      total: live.length,
      late: late.map(nameOfNode),
    };
  } catch (error) {
    if (!(error instanceof StoreUnavailableError)) throw error;
    // The change is made; gateways that cannot ask for it stop at the bound too.
    return undefined;
  }
}

/** What people call a gateway; the beginning of its id if it has not said. */
export function nameOfNode({ nodeId, about }: NodeState): string {
  return about?.name ?? nodeId.slice(0, 8);
}

function delay(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}
