import { adopt, changesBetween, type ConfigChanges } from '../config/reload.js';
import type { Config } from '../config/values.js';
import type { Background } from '../gateway/background.js';
import type { ChannelCare } from '../gateway/channels/care.js';
import type { ChannelTable } from '../gateway/channels/table.js';
import type { Settlements } from '../gateway/settlements.js';
import type { PatientServer } from '../http/connections.js';
import type { Load } from '../http/load.js';
import type { Store } from '../store/store.js';
import type { EventBatches } from '../telemetry/event-batches.js';
import type { Logger } from '../telemetry/log.js';
import type { Alerts } from './alerts.js';
import type { AuditFollower } from './audit-stream.js';
import type { DataPlane } from './data-plane.js';
import type { EventReaders } from './event-readers.js';
import { announceConfig, type keepUp } from './store-upkeep.js';
import { credentialsIn, type Upstreams } from './upstreams.js';

interface Reloaded {
  /** The live one, which the parts read. */
  readonly config: Config;
  readonly store: Store;
  readonly logger: Logger;
  readonly channels: ChannelTable;
  readonly load: Load;
  readonly alerts: Alerts;
  readonly audit: AuditFollower;
  readonly upstreams: Upstreams;
  readonly now: () => number;
}

/** Puts in force what can change without a restart; rejects, and changes nothing, if the store does not take the channels. */
export async function reload(running: Reloaded, next: Config): Promise<ConfigChanges> {
  const { config, store, channels, load, alerts } = running;
  const { declared } = running.upstreams;
  const changes = changesBetween(config, next);
  const before = [...declared];
  const declareOnly = (credentials: typeof before | ReturnType<typeof credentialsIn>): void => {
    declared.clear();
    for (const [name, values] of credentials) declared.set(name, values);
  };
  // Until the channels of both have been exchanged, each must find its credentials.
  for (const [name, credentials] of credentialsIn(next)) declared.set(name, credentials);
  try {
    await announceConfig(next, store, running.now());
    await channels.refresh();
  } catch (error) {
    declareOnly(before);
    throw error;
  }
  adopt(config, next);
  declareOnly(credentialsIn(config));
  running.logger.level = config.log.level;
  const { maxInFlight, maxInFlightBytes, inFlightShare } = config.server;
  load.resize(maxInFlight, maxInFlightBytes, inFlightShare);
  if (changes.applied.some((name) => name.startsWith('alerts.'))) {
    alerts.reload(config);
    running.audit.update();
  }
  channels.remake();
  return changes;
}

interface Closed extends Reloaded {
  readonly server: PatientServer;
  readonly upkeep: ReturnType<typeof keepUp>;
  readonly settlements: Settlements;
  readonly events: EventBatches;
  readonly readers: EventReaders;
  readonly care: ChannelCare;
  readonly background: Background;
  readonly plane: DataPlane;
}

/** How long settling may still take after the last request has ended, even if the time to drain is over. */
const LAST_WORDS_MS = 1_000;

/** Lets what is in flight end within `drainMs`, writes what is left, and closes every part after those that use it. */
export async function close(running: Closed, drainMs: number): Promise<void> {
  const { store, now, server, upkeep, load, settlements, events, readers, plane } = running;
  const { upstream, neural } = running.upstreams;
  const untilMs = now() + drainMs;
  await server.drain(drainMs);
  upkeep.stopRecovering();
  // A connection that was cut off closes before its request has ended and been settled.
  await upTo(load.idle(), Math.max(untilMs - now(), LAST_WORDS_MS));
  upkeep.stopTrimming();
  const endMs = Math.max(untilMs, now() + LAST_WORDS_MS);
  const inTime = (work: Promise<unknown>): Promise<void> => upTo(work, endMs - now());
  await inTime(settlements.drained(untilMs));
  events.flush();
  await inTime(readers.writeRest(untilMs));
  running.care.stop();
  running.audit.stop();
  await inTime(running.alerts.close());
  await inTime(readers.closeOtlp());
  await inTime(running.background.drained());
  await inTime(plane.close());
  await inTime(readers.reports.stop());
  await inTime(running.channels.stop());
  await inTime(upstream.close());
  await inTime(neural.close());
  await store.close(endMs - now());
  events.flush();
}

/** Resolves with the work, or without it after `ms`. */
async function upTo(work: Promise<unknown>, ms: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, Math.max(0, ms));
  });
  await Promise.race([work, over]);
  clearTimeout(timer);
}
