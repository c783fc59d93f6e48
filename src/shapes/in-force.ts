import Joi from 'joi';
import type { InForce } from '../management/in-force.js';
import { COUNT } from './counts.js';
import { arrayOf, choice, shape, type ObjectOf } from './shape.js';

/** The version of channels and tags that a write created, and how it came into force. */
export const IN_FORCE = {
  version: COUNT.description('Of all channels and tags.'),
  in_force: choice('confirmed', 'bound_passed', 'no_gateway').description(
    'confirmed: by every running gateway; bound_passed: not by all, but the time has passed after which none acts on the previous state; no_gateway: none is running.',
  ),
  nodes: shape({
    confirmed: COUNT.description('Gateways that have it in force.'),
    total: COUNT.description('Gateways that are running.'),
    late: arrayOf(Joi.string()).description('The names of the others.'),
  }).description('On how many gateways it is in force.'),
  waited_ms: Joi.number().min(0).description('From the write to that.'),
};
export type InForceWire = ObjectOf<typeof IN_FORCE>;

export function inForceWire(version: number, { state, nodes, waitedMs }: InForce): InForceWire {
  return { version, in_force: state, nodes: { ...nodes }, waited_ms: waitedMs };
}
