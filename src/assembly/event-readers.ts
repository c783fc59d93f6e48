import type { Config } from '../config/values.js';
import type { DataPlane } from './data-plane.js';
import type { OpenedOtlp } from './otlp.js';
import type { Observe, ReadEvents } from '../gateway/events.js';
import type { Settlements } from '../gateway/settlements.js';
import type { StoreHealth } from '../gateway/store-health.js';
import type { Load } from '../http/load.js';
import type { NodeReloading } from '../store/nodes.js';
import type { BusyChannel, NodeChannel, Store } from '../store/store.js';
import { eventAlerts } from '../telemetry/event-alerts.js';
import { createMetrics, type Metrics } from '../telemetry/metrics.js';
import { NodeReports } from '../telemetry/node-reports.js';
import { createOtlp } from '../telemetry/otlp.js';
import { RefusedLog } from '../telemetry/refused-log.js';
import { Rollups } from '../telemetry/rollups.js';
import type { Sender } from '../telemetry/sender.js';
import { UsageLog } from '../telemetry/usage-log.js';
import type { ThisNode } from '../process/this-node.js';

export interface EventReaderParts {
  readonly store: Store;
  readonly node: ThisNode;
  /** Of the console, if it is served. */
  readonly build: string | undefined;
  readonly observe: Observe;
  /** Hands the readers what they have not been given yet. */
  readonly flush: () => void;
  readonly now: () => number;
  readonly sender: Sender;
  readonly load: Load;
  readonly settlements: Settlements;
  readonly storeHealth: StoreHealth;
  readonly plane: DataPlane;
  readonly otlp: OpenedOtlp | undefined;
  readonly reloading: (() => NodeReloading | undefined) | undefined;
}

/** The readers of events besides the log: metrics, statistics, usage, reports and alerts. */
export interface EventReaders {
  readonly reads: readonly ReadEvents[];
  /** Absent if they are switched off. */
  readonly metrics: Metrics | undefined;
  readonly reports: NodeReports;
  /** Writes what is still to be written to the store, for as long as it is there. */
  readonly writeRest: (untilMs: number) => Promise<unknown>;
  /** Exports the last spans and log lines. */
  readonly closeOtlp: () => Promise<unknown>;
}

/** Builds the readers that are switched on. */
export function createEventReaders(config: Config, parts: EventReaderParts): EventReaders {
  const { store, node, build, observe, flush, now, sender, load, settlements, storeHealth, plane } =
    parts;
  const { usageEntries, refusedEntries, statsDays } = config.log;
  const inFlight = (): number => load.requests;
  const pendingSettlements = (): number => settlements.size;
  const metrics = config.metrics.enabled
    ? createMetrics({
        ...{ inFlight, pendingSettlements, store, now },
        maxInFlight: () => config.server.maxInFlight,
        bytesInFlight: () => load.bytes,
        maxBytesInFlight: () => config.server.maxInFlightBytes,
        waiting: () => plane.queue.waiting,
        maxWaiting: () => config.traffic.queueMax,
        storeUp: () => (plane.channels.isFresh() && !storeHealth.isEmptied ? 1 : 0),
        clockOffsetSeconds: () => storeHealth.clockOffsetMs / 1_000,
        release: node.release,
        catchUp: flush,
      })
    : undefined;
  if (metrics !== undefined) storeHealth.timeAnswers((ms) => metrics.storeAnswered(ms));
  const writing = { store, observe, now };
  const batches = { ...writing, writer: node.id };
  const usage = new UsageLog({ ...batches, maxEntries: usageEntries, node: node.name });
  const refused = new RefusedLog({ ...batches, maxEntries: refusedEntries, node: node.name });
  const rollups = new Rollups({ ...batches, keepDays: statsDays });
  const reports = new NodeReports({
    ...writing,
    node: {
      ...{ nodeId: node.id, name: node.name, release: node.release, pid: process.pid },
      ...(build === undefined ? {} : { build }),
      get maxInFlight() {
        return config.server.maxInFlight;
      },
      get reloading() {
        return parts.reloading?.();
      },
      keyMarks: store.keyMarks(),
    },
    ...{ inFlight, pendingSettlements },
    resting: (nowMs) => resting(plane, nowMs),
    busy: () => busy(plane),
  });
  const otlp =
    parts.otlp &&
    createOtlp(parts.otlp.packages, parts.otlp.settings, node, observe, (signal, dropped) =>
      metrics?.exportDropped(signal, dropped),
    );
  return {
    reads: [
      ...(metrics === undefined ? [] : [metrics.read]),
      ...(refusedEntries > 0 ? [refused.read] : []),
      ...(usageEntries > 0 ? [usage.read] : []),
      ...(statsDays > 0 ? [rollups.read] : []),
      reports.read,
      eventAlerts(sender, now),
      ...(otlp?.reads ?? []),
    ],
    metrics,
    reports,
    writeRest: (untilMs) =>
      Promise.all([usage.close(untilMs), refused.close(untilMs), rollups.close(untilMs)]),
    closeOtlp: async () => otlp?.close(),
  };
}

/** The channels that are paused now, with times of day, for people. */
function resting({ channels, health, steady }: DataPlane, nowMs: number): NodeChannel[] {
  const atMs = steady();
  return health.pauses(atMs).map(({ channelId, key, state, reason, sinceMs, untilMs }) => ({
    name: channels.live(channelId)?.channel.name ?? String(channelId),
    ...{ id: channelId, key, state, why: reason },
    ...{ sinceMs: sinceMs + nowMs - atMs, untilMs: untilMs + nowMs - atMs },
  }));
}

/** The channels that attempts are under way with now, the busiest first. */
function busy({ channels, health }: DataPlane): BusyChannel[] {
  return Array.from(channels.current.byId.values(), ({ id, channel: { name } }) => ({
    ...{ id, name, inFlight: health.report(id).inFlight },
  }))
    .filter(({ inFlight }) => inFlight > 0)
    .sort((one, other) => other.inFlight - one.inFlight);
}
