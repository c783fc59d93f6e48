import Joi from 'joi';
import { COUNT } from './counts.js';
import { ID } from './lists.js';
import { secondsOf } from './seconds.js';
import type { NodesView, NodeView } from '../management/nodes.js';
import { arrayOf, choice, nullable, shape, wireOf, type Of } from './shape.js';

const TOLD = nullable(COUNT);

const NODE_CHANNEL = shape({
  id: nullable(ID).description('Null for one that it cannot use at all.'),
  state: choice('open', 'half_open', 'cooling', 'unusable').description(
    'open: it fails; half_open: one request tries it; cooling: it asked for a pause; unusable: the gateway cannot use it.',
  ),
  name: Joi.string(),
  until: TOLD.description('Unix seconds; null where that has no end.'),
  why: Joi.string(),
});
const BUSY = shape({ id: ID, name: Joi.string(), in_flight: COUNT.description('Attempts.') });

/** A gateway on the wire. What it has not reported is null. */
const NODE = shape({
  id: Joi.string(),
  name: Joi.string(),
  standing: choice('current', 'behind', 'silent').description(
    'current: has the newest version in force; behind: an older one; silent: has stopped reporting without signing off, and no longer acts on what it knew.',
  ),
  version: TOLD.description('What it has in force.'),
  release: nullable(Joi.string()),
  build: nullable(Joi.string()).description(
    'Of the console that it serves, which tells builds of one release apart.',
  ),
  pid: TOLD,
  started_time: TOLD.description('Unix seconds.'),
  reported_time: TOLD.description('When it last reported, in unix seconds.'),
  in_flight: TOLD.description('Requests to rank that are under way.'),
  max_in_flight: TOLD,
  pending_settlements: TOLD.description('What the store has not heard of yet.'),
  faults: TOLD.description('Since its start.'),
  channels: arrayOf(NODE_CHANNEL).description(
    'Those that it leaves alone for a while, or cannot use.',
  ),
  busy: arrayOf(BUSY).description(
    'The channels that it has attempts under way with, the busiest first.',
  ),
});

export const NODES = shape({
  version: COUNT.description('The newest of channels and tags.'),
  store_ms: Joi.number().min(0).description('How long the store took to answer.'),
  nodes: arrayOf(NODE),
});
export type NodesWire = Of<typeof NODES>;

export function nodesWire(view: NodesView): NodesWire {
  return wireOf(NODES, { ...view, nodes: view.nodes.map(nodeWire) });
}

function nodeWire({ id, name, standing, version, about }: NodeView): Of<typeof NODE> {
  const told: Partial<NonNullable<NodeView['about']>> = about ?? {};
  return wireOf(NODE, {
    ...told,
    ...{ id, name, standing, version },
    startedTime: secondsOf(told.startedMs),
    reportedTime: secondsOf(told.atMs),
    channels: (told.channels ?? []).map((channel) =>
      wireOf(NODE_CHANNEL, {
        ...channel,
        state: channel.state ?? 'unusable',
        until: channel.untilMs === 0 ? null : Math.ceil(channel.untilMs / 1_000),
      }),
    ),
    busy: (told.busy ?? []).map((channel) => wireOf(BUSY, channel)),
  });
}
