import { CHANNEL_AUTO_DISABLED } from '../core/channel.js';
import { returnDuty } from '../core/outage.js';
import type { ChannelSnapshot, NodeChannel, NodeState, Store } from '../store/store.js';
import { nameOfNode } from './in-force.js';

/** A gateway that leaves a channel alone for a while, although others may not. */
export interface ChannelPause {
  /** The gateway's name for people. */
  readonly node: string;
  /** The end of a key, if one of several is paused and not the channel. */
  readonly key?: string | undefined;
  /** `half_open`: a single request is in flight, which decides; `cooling`: the channel asked for a pause. */
  readonly state: NonNullable<NodeChannel['state']>;
  /** The kind of the last failure. */
  readonly reason: string;
  readonly sinceMs: number;
  readonly untilMs: number;
}

/** What the gateways have found out about a channel. */
export interface Sighting {
  readonly pauses: readonly ChannelPause[];
  /** Since when it has been disabled automatically. */
  readonly sinceMs?: number | undefined;
  /** When a channel that was disabled automatically is tried again. */
  readonly nextTryMs?: number | undefined;
}

export const UNSEEN: Sighting = { pauses: [] };

interface SightingsDeps {
  readonly store: Pick<Store, 'listNodes' | 'readDuty'>;
  readonly now: () => number;
}

/** The pauses that gateways report, by channel. */
function pausesIn(nodes: readonly NodeState[], nowMs: number): ReadonlyMap<number, ChannelPause[]> {
  const pauses = new Map<number, ChannelPause[]>();
  for (const node of nodes) {
    if (node.version === undefined) continue;
    for (const { id, key, state, why, sinceMs, untilMs } of node.about?.channels ?? []) {
      if (id === undefined || state === undefined || (untilMs <= nowMs && state === 'cooling')) {
        continue;
      }
      const about = { node: nameOfNode(node), key, state, reason: why };
      const pause = { ...about, sinceMs: sinceMs ?? 0, untilMs };
      pauses.set(id, [...(pauses.get(id) ?? []), pause]);
    }
  }
  return pauses;
}

/** The state of the unhealthy channels of a snapshot, by id. */
export async function sightingsOf(
  { store, now }: SightingsDeps,
  { channels }: Pick<ChannelSnapshot, 'channels'>,
): Promise<ReadonlyMap<number, Sighting>> {
  const nowMs = now();
  const pauses = pausesIn(await store.listNodes(nowMs), nowMs);
  const sightings = new Map<number, Sighting>();
  for (const [id, found] of pauses) sightings.set(id, { pauses: found });
  for (const { id, status, outage } of channels) {
    if (status !== CHANNEL_AUTO_DISABLED || outage === undefined) continue;
    const duty = await store.readDuty(returnDuty(id, outage));
    sightings.set(id, {
      pauses: pauses.get(id) ?? [],
      sinceMs: outage.sinceMs,
      nextTryMs: duty?.dueAtMs,
    });
  }
  return sightings;
}
