import { awaitInForce } from '../management/in-force.js';
import { inForceWire, type InForceWire } from '../shapes/in-force.js';
import type { OperationDeps } from './operation.js';

/**
 * Resolves once no gateway acts any more on what was in force before `version`: this one at once, the others within the
 * bound.
 */
export async function inForce(deps: OperationDeps, version: number): Promise<InForceWire> {
  // The write is done. If it cannot be read back, this node stops at the bound like any other.
  await deps.known.refresh().catch(() => undefined);
  return inForceWire(version, await awaitInForce(deps, version, deps.stalenessMs));
}
