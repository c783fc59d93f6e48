import { randomBytes } from 'node:crypto';
import type { RequestListener } from 'node:http';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createAlerts } from './alerts.js';
import { streamAudit } from './audit-stream.js';
import { createCallers } from './callers.js';
import { openIdFrom, proxyHeadersFrom } from './logins.js';
import { createOutages } from './channel-outages.js';
import { adopt, changesBetween, liveConfig, type ConfigChanges } from '../config/reload.js';
import type { Config } from '../config/values.js';
import { GatewayError } from '../core/errors.js';
import { rarelyChecked } from '../core/health-check.js';
import { createDataPlane } from './data-plane.js';
import { createEventReaders } from './event-readers.js';
import { AccessTokens } from '../gateway/transport/access-tokens.js';
import { Background } from '../gateway/background.js';
import { ChannelCare } from '../gateway/channels/care.js';
import { createDiscover } from '../gateway/look/discover.js';
import { Door } from '../gateway/door.js';
import { createExplain } from '../gateway/look/explain.js';
import { createProbe } from '../gateway/look/probe.js';
import type { GatewayDeps } from '../gateway/rerank.js';
import { Settlements } from '../gateway/settlements.js';
import { startTraces } from '../gateway/trace-context.js';
import { StoreHealth } from '../gateway/store-health.js';
import { TokenCache } from '../gateway/token-cache.js';
import { createListUpstreamModels } from '../gateway/look/upstream-models.js';
import { Upstream } from '../gateway/transport/upstream.js';
import { createVectorMemory } from '../gateway/transport/vector-memory.js';
import { createHttpApp } from '../http/app.js';
import { AddressList } from '../http/client-address.js';
import type { PatientServer } from '../http/connections.js';
import { readConsole } from '../http/console-routes.js';
import { Load } from '../http/load.js';
import type { OperationDeps } from '../operations/operation.js';
import { OPERATIONS } from '../operations/index.js';
import { ReplyBatches } from '../http/reply-batches.js';
import { createHttpServer } from '../http/server.js';
import { createSendMail } from '../mail/send-mail.js';
import { judgeUpstreamAddress } from '../management/addresses.js';
import { MASK_KEY_BYTES, MaskedIds } from '../management/masked-ids.js';
import { openOtlp } from './otlp.js';
import { loadPrompts } from './prompts.js';
import { LlamaEngine, loadLlama, type LlamaModule } from '../rankers/llama.js';
import { announceConfig, judgeStore, keepUp } from './store-upkeep.js';
import type { NodeReloading } from '../store/nodes.js';
import type { Store } from '../store/store.js';
import { EventBatches } from '../telemetry/event-batches.js';
import { logEvents, type Logger } from '../telemetry/log.js';
import { thisNode } from '../process/this-node.js';

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

/** The name of the key that ids of log entries are masked with, on all nodes alike. */
const MASK_NAME = 'log-ids';

const RARE_CHECKS =
  'these channels get requests between failed health checks: traffic.breaker_open_ms is shorter than the time between their checks, health_check_s';

/** Where the console is built, seen from both `src` and `dist`. */
const CONSOLE_FOLDER = fileURLToPath(new URL('../../dist/console', import.meta.url));

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

  const rare = rarelyChecked(
    (config.channels ?? []).map(({ declared: channel }) => channel),
    traffic.breakerOpenMs,
  );
  if (rare.length > 0) logger.warn({ channels: rare }, RARE_CHECKS);

  const otlp = await openOtlp(config.telemetry, logger);

  // The store, and what is remembered of it.
  await store.begin();
  await announceConfig(config, store, now());
  const maskKey = await store.keepSecret(MASK_NAME, randomBytes(MASK_KEY_BYTES).toString('hex'));
  const storeHealth = new StoreHealth(observe);
  const settlements = new Settlements({ store, observe, now });
  const credentials = new TokenCache({ store, now, isEmptied: () => storeHealth.isEmptied });
  const outages = createOutages({ store, now, observe, firstTryMs: traffic.returnAfterMs });

  // What ranks: servers elsewhere, and models in this process.
  const upstream = new Upstream({
    maxReplyBytes: settings.maxReplyBytes,
    maxReplyBytesInFlight: settings.maxReplyBytesInFlight,
    judgeAddress: judgeUpstreamAddress(settings),
  });
  const tokens = new AccessTokens({
    now,
    fetchToken: (request, signal) => upstream.fetchToken(request, signal),
  });
  const neural = new LlamaEngine({ load: parts.loadLlama ?? loadLlama });
  const tools = {
    vectors: createVectorMemory(settings.vectorMemoryBytes),
    prompts: loadPrompts(settings.promptsDir),
  };
  const declared = new Map(credentialsIn(config));
  const probe = createProbe({
    upstream,
    neural,
    // A test must reach the upstream, so it remembers nothing.
    tools: { ...tools, vectors: undefined },
    declared,
    now,
    get attemptTimeoutMs() {
      return settings.attemptTimeoutMs;
    },
  });

  const plane = createDataPlane(config, {
    ...{ store, declared, upstream, tokens, neural, tools, observe, now, random },
    nodeId: node.id,
    elapsed: parts.elapsed ?? parts.now ?? (() => performance.now()),
    onNews: (...news) => storeHealth.heard(...news),
    onStoreBack: () => settlements.storeIsBack(),
    onStoreLost: () => {
      credentials.clear();
      // The restored store may be older than the configuration of this process.
      background.run('re-declaring the configuration in the store', () =>
        announceConfig(config, store, now()),
      );
      background.run('keeping the key of log ids', async () => {
        await store.keepSecret(MASK_NAME, maskKey);
      });
    },
    onOutage: (route, outage) => {
      background.run('a channel could not be disabled', () =>
        outages.disable(route.channel, outage),
      );
    },
  });
  const { channels, health, steady } = plane;
  const care = new ChannelCare({
    ...{ store, probe, now, random },
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
    onWell: (channel) => outages.letReturn(channel),
  });

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
  const alerts = createAlerts(config, {
    ...{ node: node.name, store, observe, now, random, background, sendMail },
  });
  const readers = createEventReaders(config, {
    ...{
      store,
      node,
      build: files?.build,
      observe,
      now,
      sender: alerts.sender,
      load,
      settlements,
      storeHealth,
      plane,
      otlp,
      reloading: parts.reloading,
    },
    flush: () => events.flush(),
  });
  events.add(...readers.reads);
  await plane.start(care.update);
  await readers.reports.start();
  alerts.start();
  let stopAudit: (() => void) | undefined;
  const followAudit = (): void => {
    const isAudited = config.alerts.targets.some(({ kinds }) => kinds.includes('audit'));
    if (isAudited) {
      stopAudit ??= streamAudit({
        ...{ store, now, run: background.run },
        deliver: (event) => alerts.sender.deliver(event),
      });
    } else {
      stopAudit?.();
      stopAudit = undefined;
    }
  };
  followAudit();

  const gateway: GatewayDeps = {
    ...{ store, credentials, channels, settlements, observe, now },
    prices: config.prices,
    aliases: config.callers.aliases,
    maxCooldownMs: settings.maxCooldownMs,
    cacheHitPercent: traffic.cacheHitPercent,
    reservationGraceMs: settings.reservationGraceMs,
  };
  const explain = createExplain({ ...plane.surveyor, ...gateway, store });
  const management: OperationDeps = {
    ...managementSettings(config, node.release),
    get deadlineMs() {
      return settings.deadlineMs;
    },
    ...{ store, now, randomBytes, gateway, probe, explain },
    prices: config.prices,
    known: {
      refresh: () => channels.refresh(),
      names: () => Promise.resolve((id) => channels.current.byId.get(id)?.channel.name),
      fallbacksOf: (model) => channels.current.plans.get(model)?.answers.slice(1) ?? [],
    },
    discover: createDiscover({ upstream, neural, tools, now }),
    listUpstreamModels: createListUpstreamModels({ upstream, declared }),
    logIds: new MaskedIds(Buffer.from(maskKey, 'hex')),
    openId: openIdFrom(config, now),
    sendMail,
    alerting: alerts.alerting,
    later: background.run,
  };
  const upkeep = keepUp(store, now, background, config.log);

  let closing = false;
  const { metrics } = readers;
  const http = createHttpApp({
    ...createCallers(config, credentials, logger, now),
    operations: OPERATIONS,
    proxyHeaders: proxyHeadersFrom(config),
    ...{ management, gateway, explain, observe, load },
    users: store,
    console: files,
    door: new Door(gateway),
    replies: new ReplyBatches(load),
    startTrace: startTraces(otlp?.ratio, random),
    bodyLimitBytes: limits.bodyLimitBytes,
    bodyTimeoutMs: limits.bodyTimeoutMs,
    get maxDocuments() {
      return limits.maxDocuments;
    },
    get deadlineMs() {
      return settings.deadlineMs;
    },
    defaultModel: settings.defaultModel,
    ready: async () => {
      if (closing) {
        throw new GatewayError('overloaded', 'The gateway is shutting down.', {
          retryAfterMs: 1_000,
        });
      }
      await judgeStore(channels, storeHealth);
    },
    warnings: () => storeHealth.warnings(),
    metrics: metrics === undefined ? undefined : () => metrics.render(),
    metricsToken: config.metrics.token?.reveal(),
    metricsReaders: new AddressList(config.metrics.allowIps),
    hstsMaxAgeS: limits.hstsMaxAgeS,
  });
  const server = createHttpServer(http, limits);

  return {
    http,
    server,
    gateway,
    inFlight: () => load.requests,
    async reload(next) {
      const changes = changesBetween(config, next);
      const before = [...declared];
      // Until the channels of both have been exchanged, each must find its credentials.
      for (const [name, credentials] of credentialsIn(next)) declared.set(name, credentials);
      try {
        await announceConfig(next, store, now());
        await channels.refresh();
      } catch (error) {
        declared.clear();
        for (const [name, credentials] of before) declared.set(name, credentials);
        throw error;
      }
      adopt(config, next);
      declared.clear();
      for (const [name, credentials] of credentialsIn(config)) declared.set(name, credentials);
      logger.level = config.log.level;
      load.resize(limits.maxInFlight, limits.maxInFlightBytes, limits.inFlightShare);
      if (changes.applied.some((name) => name.startsWith('alerts.'))) {
        alerts.reload(config);
        followAudit();
      }
      channels.remake();
      return changes;
    },
    async close(drainMs) {
      closing = true;
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
      care.stop();
      stopAudit?.();
      await inTime(alerts.close());
      await inTime(readers.closeOtlp());
      await inTime(background.drained());
      await inTime(plane.close());
      await inTime(readers.reports.stop());
      await inTime(channels.stop());
      await inTime(upstream.close());
      await inTime(neural.close());
      await store.close(endMs - now());
      events.flush();
    },
  };
}

function credentialsIn({ channels = [] }: Config) {
  return channels.map(({ declared: { name }, credentials }) => [name, credentials] as const);
}

/** What the operations need to know of the settings. */
function managementSettings(
  { gateway, accounts, login, mail, server, console, log }: Config,
  release: string,
): Pick<
  OperationDeps,
  | 'accounts'
  | 'logins'
  | 'allowPrivateUpstreams'
  | 'allowMetadataUpstreams'
  | 'stalenessMs'
  | 'statsDays'
  | 'publicUrl'
  | 'keepsExamples'
  | 'about'
> {
  return {
    accounts,
    logins: login,
    allowPrivateUpstreams: gateway.allowPrivateUpstreams,
    allowMetadataUpstreams: gateway.allowMetadataUpstreams,
    stalenessMs: gateway.stalenessMs,
    statsDays: log.statsDays,
    publicUrl: server.publicUrl,
    keepsExamples: console.examples,
    about: {
      release,
      mail: mail.smtpUrl === undefined ? 'outbox' : 'smtp',
      defaultModel: gateway.defaultModel,
      usageEntries: log.usageEntries,
      refusedEntries: log.refusedEntries,
      retentionDays: log.retentionDays,
    },
  };
}

/** How long settling may still take after the last request has ended, even if the time to drain is over. */
const LAST_WORDS_MS = 1_000;

/** Resolves with the work, or without it after `ms`. */
async function upTo(work: Promise<unknown>, ms: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, Math.max(0, ms));
  });
  await Promise.race([work, over]);
  clearTimeout(timer);
}
