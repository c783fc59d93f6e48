import Joi from 'joi';
import type { NodeChannel } from '../store/store.js';
import { COUNT, REQUIRED_COUNT } from './counts.js';
import { ID } from './lists.js';
import { secondsOf } from './seconds.js';
import type { NodeStanding, NodesView, NodeView } from '../management/nodes.js';

interface NodeChannelWire {
  id: number | null;
  state: NonNullable<NodeChannel['state']> | 'unusable';
  name: string;
  until: number | null;
  why: string;
}

/** A gateway on the wire. What it has not reported is null. */
interface NodeWire {
  id: string;
  name: string;
  standing: NodeStanding;
  version: number | null;
  release: string | null;
  build: string | null;
  pid: number | null;
  started_time: number | null;
  reported_time: number | null;
  in_flight: number | null;
  max_in_flight: number | null;
  pending_settlements: number | null;
  faults: number | null;
  channels: NodeChannelWire[];
  busy: BusyChannelWire[];
}

interface BusyChannelWire {
  id: number;
  name: string;
  in_flight: number;
}

export interface NodesWire {
  version: number;
  store_ms: number;
  nodes: NodeWire[];
}

const TOLD = COUNT.allow(null).required();

/** The members of `NodesWire` for the schema of a reply. */
export const NODES_REPLY = {
  version: REQUIRED_COUNT.description('The newest of channels and tags.'),
  store_ms: Joi.number().min(0).required().description('How long the store took to answer.'),
  nodes: Joi.array()
    .items(
      Joi.object<NodeWire, true>({
        id: Joi.string().required(),
        name: Joi.string().required(),
        standing: Joi.string<NodeStanding>()
          .valid('current', 'behind', 'silent')
          .required()
          .description(
            'current: has the newest version in force; behind: an older one; silent: has stopped reporting without signing off, and no longer acts on what it knew.',
          ),
        version: TOLD.description('What it has in force.'),
        release: Joi.string().allow(null).required(),
        build: Joi.string()
          .allow(null)
          .required()
          .description('Of the console that it serves, which tells builds of one release apart.'),
        pid: TOLD,
        started_time: TOLD.description('Unix seconds.'),
        reported_time: TOLD.description('When it last reported, in unix seconds.'),
        in_flight: TOLD.description('Requests to rank that are under way.'),
        max_in_flight: TOLD,
        pending_settlements: TOLD.description('What the store has not heard of yet.'),
        faults: TOLD.description('Since its start.'),
        channels: Joi.array()
          .items(
            Joi.object<NodeChannelWire, true>({
              id: ID.allow(null).required().description('Null for one that it cannot use at all.'),
              state: Joi.string<NodeChannelWire['state']>()
                .valid('open', 'half_open', 'cooling', 'unusable')
                .required()
                .description(
                  'open: it fails; half_open: one request tries it; cooling: it asked for a pause; unusable: the gateway cannot use it.',
                ),
              name: Joi.string().required(),
              until: TOLD.description('Unix seconds; null where that has no end.'),
              why: Joi.string().required(),
            }),
          )
          .required()
          .description('Those that it leaves alone for a while, or cannot use.'),
        busy: Joi.array()
          .items(
            Joi.object<BusyChannelWire, true>({
              id: ID.required(),
              name: Joi.string().required(),
              in_flight: REQUIRED_COUNT.description('Attempts.'),
            }),
          )
          .required()
          .description('The channels that it has attempts under way with, the busiest first.'),
      }),
    )
    .required(),
};

export function nodesWire({ version, storeMs, nodes }: NodesView): NodesWire {
  return { version, store_ms: storeMs, nodes: nodes.map(nodeWire) };
}

function nodeWire({ id, name, standing, version, about }: NodeView): NodeWire {
  return {
    id,
    name,
    standing,
    version: version ?? null,
    release: about?.release ?? null,
    build: about?.build ?? null,
    pid: about?.pid ?? null,
    started_time: secondsOf(about?.startedMs),
    reported_time: secondsOf(about?.atMs),
    in_flight: about?.inFlight ?? null,
    max_in_flight: about?.maxInFlight ?? null,
    pending_settlements: about?.pendingSettlements ?? null,
    faults: about?.faults ?? null,
    channels: (about?.channels ?? []).map(
      ({ id: channelId, state, name: channel, untilMs, why }) => ({
        id: channelId ?? null,
        state: state ?? 'unusable',
        name: channel,
        until: untilMs === 0 ? null : Math.ceil(untilMs / 1_000),
        why,
      }),
    ),
    busy: (about?.busy ?? []).map(({ inFlight, ...channel }) => ({
      ...{ ...channel, in_flight: inFlight },
    })),
  };
}
