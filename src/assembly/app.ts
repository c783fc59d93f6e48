import type { RequestListener } from 'node:http';
import { join } from 'node:path';
import { createAlerts } from './alerts.js';
import { followAudit } from './audit-stream.js';
import { createCallers } from './callers.js';
import { proxyHeadersFrom } from './logins.js';
import { inPackage } from '../config/package-files.js';
import { liveConfig, type ConfigChanges } from '../config/reload.js';
import type { Config } from '../config/values.js';
import { GatewayError } from '../core/errors.js';
import { rarelyChecked } from '../core/health-check.js';
import { createDataPlane, type DataPlane } from './data-plane.js';
import { createEventReaders } from './event-readers.js';
import { Background } from '../gateway/background.js';
import { ChannelCare, type ChannelCareDeps } from '../gateway/channels/care.js';
import { Door } from '../gateway/door.js';
import { createExplain } from '../gateway/look/explain.js';
import type { GatewayDeps } from '../gateway/rerank.js';
import { startTraces } from '../gateway/trace-context.js';
import { createHttpApp } from '../http/app.js';
import { AddressList } from '../http/client-address.js';
import type { PatientServer } from '../http/connections.js';
import { readConsole, type ConsoleFiles } from '../http/console-routes.js';
import { Load } from '../http/load.js';
import { OPERATIONS } from '../operations/index.js';
import { ReplyBatches } from '../http/reply-batches.js';
import { createHttpServer } from '../http/server.js';
import { createSendMail } from '../mail/send-mail.js';
import { createManagement } from './management.js';
import { openOtlp } from './otlp.js';
import type { LlamaModule } from '../rankers/llama.js';
import { beginStore, type Remembered } from './remembered.js';
import { close, reload } from './running.js';
import { judgeStore, keepUp } from './store-upkeep.js';
import type { NodeReloading } from '../store/nodes.js';
import type { Store } from '../store/store.js';
import { EventBatches } from '../telemetry/event-batches.js';
import { logEvents, type Logger } from '../telemetry/log.js';
import { thisNode } from '../process/this-node.js';
import { createUpstreams, type Upstreams } from './upstreams.js';

export interface App {
  /** All that is served, to be mounted in another app, or asked without the server. */
  readonly http: RequestListener;
  readonly server: PatientServer;
  readonly gateway: GatewayDeps;
  /** Puts in force what can change without a restart; rejects, and changes nothing, if the store does not take the channels. */
  reload(next: Config): Promise<ConfigChanges>;
  /** How many requests to rank this process is working on. */
  inFlight(): number;
  /**
   * Stops taking requests, lets those in flight end within `drainMs`, settles, and releases the store. It waits no longer than
   * that for a store that is away, either: the store gives back what was not settled when the reservations expire.
   */
  close(drainMs: number): Promise<void>;
}

export interface AppParts {
  readonly store: Store;
  readonly logger: Logger;
  readonly now?: () => number;
  /** Milliseconds of a clock that cannot be set; `now` if only that is given. */
  readonly elapsed?: () => number;
  readonly random?: () => number;
  /** How this process reloads its settings. */
  readonly reloading?: () => NodeReloading | undefined;
  /** Loads the optional package of the provider `llama`. */
  readonly loadLlama?: () => Promise<LlamaModule>;
}

const RARE_CHECKS =
  'these channels get requests between failed health checks: traffic.breaker_open_ms is shorter than the time between their checks, health_check_s';

/** Where the console is built. */
const CONSOLE_FOLDER = inPackage('dist', 'console');

/**
 * Builds every part once and gives it what it needs, from the store up to the sockets. The channels are loaded when this
 * resolves; nothing listens yet.
 */
export async function createApp(given: Config, parts: AppParts): Promise<App> {
  // Parts read from it what can change while they run.
  const config = liveConfig(given);
  const { store, logger, now = Date.now, random = Math.random } = parts;
  const { server: limits, gateway: settings, traffic } = config;
  const node = thisNode(limits.port);
  const files = config.console.enabled ? readConsole(CONSOLE_FOLDER) : undefined;
  const events = new EventBatches([logEvents(logger)]);
  const { observe } = events;
  const background = new Background(observe);
  const common = { store, observe, background, now, random };

  warnOfRareChecks(config, logger);
  const otlp = await openOtlp(config.telemetry, logger);
  const remembered = await beginStore(config, common);
  const { storeHealth, settlements, credentials } = remembered;
  const upstreams = createUpstreams(config, now, parts.loadLlama);
  const plane = createDataPlane(config, {
    ...{ ...common, ...upstreams, ...remembered.reactions },
    nodeId: node.id,
    elapsed: parts.elapsed ?? parts.now ?? (() => performance.now()),
  });
  const { channels } = plane;
  const care = createCare(config, { ...common, remembered, upstreams, plane });

  const load = new Load(
    limits.maxInFlight,
    limits.maxInFlightBytes,
    limits.inFlightShare,
    limits.bodyLimitBytes,
  );
  const sendMail = createSendMail({
    ...config.mail,
    outboxDir: config.mail.outboxDir ?? join(config.store.dataDir, 'outbox'),
  });
  const alerts = createAlerts(config, { ...common, node: node.name, sendMail });
  const readers = createEventReaders(config, {
    ...{ store, node, observe, now, load, settlements, storeHealth, plane, otlp },
    build: files?.build,
    reloading: parts.reloading,
    sender: alerts.sender,
    flush: () => events.flush(),
  });
  events.add(...readers.reads);
  await plane.start(care.update);
  await readers.reports.start();
  alerts.start();
  const audit = followAudit(config, {
    ...{ store, now, run: background.run },
    deliver: (event) => alerts.sender.deliver(event),
  });

  const gateway: GatewayDeps = {
    ...{ store, credentials, channels, settlements, observe, now },
    prices: config.prices,
    aliases: config.callers.aliases,
    maxCooldownMs: settings.maxCooldownMs,
    cacheHitPercent: traffic.cacheHitPercent,
    reservationGraceMs: settings.reservationGraceMs,
  };
  const explain = createExplain({ ...plane.surveyor, ...gateway, store });
  const management = createManagement(config, node.release, {
    ...{ store, now, gateway, explain, sendMail, upstreams, channels },
    logIds: remembered.logIds,
    alerting: alerts.alerting,
    later: background.run,
  });
  const upkeep = keepUp(store, now, background, config.log);

  let closing = false;
  const { metrics } = readers;
  const http = createHttpApp({
    ...createCallers(config, credentials, logger, now, background.run),
    ...{ management, gateway, explain, observe, load },
    ...httpSettings(config, files),
    users: store,
    door: new Door(gateway),
    replies: new ReplyBatches(load),
    startTrace: startTraces(otlp?.ratio, random),
    get maxDocuments() {
      return limits.maxDocuments;
    },
    get deadlineMs() {
      return settings.deadlineMs;
    },
    ready: async () => {
      if (closing) throw shuttingDown();
      await judgeStore(channels, storeHealth);
    },
    warnings: () => storeHealth.warnings(),
    metrics: metrics && (() => metrics.render()),
  });
  const server = createHttpServer(http, limits);
  const running = { ...common, config, logger, channels, load, alerts, audit, upstreams };

  return {
    ...{ http, server, gateway },
    inFlight: () => load.requests,
    reload: (next) => reload(running, next),
    async close(drainMs) {
      closing = true;
      await close(
        { ...running, server, upkeep, settlements, events, readers, care, plane },
        drainMs,
      );
    },
  };
}

function warnOfRareChecks({ channels = [], traffic }: Config, logger: Logger): void {
  const rare = rarelyChecked(
    channels.map(({ declared: channel }) => channel),
    traffic.breakerOpenMs,
  );
  if (rare.length > 0) logger.warn({ channels: rare }, RARE_CHECKS);
}

function createCare(
  { traffic }: Config,
  parts: Pick<ChannelCareDeps, 'store' | 'now' | 'random'> & {
    readonly background: Background;
    readonly remembered: Remembered;
    readonly upstreams: Upstreams;
    readonly plane: DataPlane;
  },
): ChannelCare {
  const { store, now, random, background, remembered, upstreams, plane } = parts;
  const { channels, health, steady } = plane;
  return new ChannelCare({
    ...{ store, now, random },
    probe: upstreams.probe,
    health: {
      checked: (route, kind) => health.checked(route, kind, steady()),
      forget: (channelId) => health.forget(channelId),
    },
    freshness: channels,
    run: background.run,
    returns: {
      firstMs: traffic.returnAfterMs,
      longestMs: Math.max(traffic.returnAfterMs, traffic.returnLongestMs),
    },
    recheckMs: traffic.breakerOpenMs,
    onWell: (channel) => remembered.outages.letReturn(channel),
  });
}

/** What the HTTP surface takes from the settings and cannot change without a restart. */
function httpSettings(config: Config, files: ConsoleFiles | undefined) {
  const { server, gateway, metrics } = config;
  return {
    operations: OPERATIONS,
    proxyHeaders: proxyHeadersFrom(config),
    console: files,
    bodyLimitBytes: server.bodyLimitBytes,
    bodyTimeoutMs: server.bodyTimeoutMs,
    defaultModel: gateway.defaultModel,
    metricsToken: metrics.token?.reveal(),
    metricsReaders: new AddressList(metrics.allowIps),
    hstsMaxAgeS: server.hstsMaxAgeS,
  };
}

function shuttingDown(): GatewayError {
  const message = 'The gateway is shutting down.';
  return new GatewayError('overloaded', message, { retryAfterMs: 1_000 });
}
