import Joi from 'joi';
import { awaitInForce, type InForce } from '../management/in-force.js';
import type { OperationDeps } from './operation.js';

/** The version of channels and tags that a write made, and how it came into force. */
export interface InForceView {
  version: number;
  in_force: InForce;
}

/** The members of `InForceView` for the schema of a reply. */
export const IN_FORCE = {
  version: Joi.number().integer().min(0).required().description('Of all channels and tags.'),
  in_force: Joi.string<InForce>()
    .valid('confirmed', 'bound_passed', 'no_gateway')
    .required()
    .description(
      'confirmed: by every running gateway; bound_passed: not by all, but the time has passed after which none acts on what was before; no_gateway: none is running.',
    ),
};

/** Resolves when no gateway acts any more on what was before `version`: this one at once, the others within the bound. */
export async function inForce(deps: OperationDeps, version: number): Promise<InForceView> {
  // The write is made. Where it cannot be read back, this node stops at the bound like any other.
  await deps.gateway.channels.refresh().catch(() => undefined);
  return { version, in_force: await awaitInForce(deps, version, deps.stalenessMs) };
}
