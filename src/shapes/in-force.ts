import Joi from 'joi';
import type { InForce, InForceState } from '../management/in-force.js';
import { REQUIRED_COUNT } from './counts.js';

interface ConfirmedWire {
  confirmed: number;
  total: number;
  late: string[];
}

/** The version of channels and tags that a write created, and how it came into force. */
export interface InForceWire {
  version: number;
  in_force: InForceState;
  nodes: ConfirmedWire;
  waited_ms: number;
}

/** The members of `InForceWire` for the schema of a reply. */
export const IN_FORCE = {
  version: REQUIRED_COUNT.description('Of all channels and tags.'),
  in_force: Joi.string<InForceState>()
    .valid('confirmed', 'bound_passed', 'no_gateway')
    .required()
    .description(
      'confirmed: by every running gateway; bound_passed: not by all, but the time has passed after which none acts on the previous state; no_gateway: none is running.',
    ),
  nodes: Joi.object<ConfirmedWire, true>({
    confirmed: REQUIRED_COUNT.description('Gateways that have it in force.'),
    total: REQUIRED_COUNT.description('Gateways that are running.'),
    late: Joi.array().items(Joi.string()).required().description('The names of the others.'),
  })
    .required()
    .description('On how many gateways it is in force.'),
  waited_ms: Joi.number().min(0).required().description('From the write to that.'),
};

export function inForceWire(
  version: number,
  { state, nodes: { confirmed, total, late }, waitedMs }: InForce,
): InForceWire {
  return {
    version,
    in_force: state,
    nodes: { confirmed, total, late: [...late] },
    waited_ms: waitedMs,
  };
}
