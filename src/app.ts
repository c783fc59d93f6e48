import cluster from 'node:cluster';
import { randomBytes, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createWebhook } from './alerts.js';
import { createOutages } from './channel-outages.js';
import type { Config } from './config-values.js';
import { GatewayError } from './core/errors.js';
import { createDataPlane } from './data-plane.js';
import { ChannelCare } from './gateway/channel-care.js';
import type { ChannelTable } from './gateway/channel-table.js';
import { TokenCache } from './gateway/token-cache.js';
import { Door } from './gateway/door.js';
import type { ReadEvents } from './gateway/events.js';
import { createDiscover } from './gateway/discover.js';
import { createExplain } from './gateway/explain.js';
import { LlamaEngine, loadLlama, type LlamaModule } from './rankers/llama.js';
import { createProbe } from './gateway/probe.js';
import { createListUpstreamModels } from './gateway/upstream-models.js';
import { createVectorMemory } from './gateway/vector-memory.js';
import type { GatewayDeps } from './gateway/rerank.js';
import { Settlements } from './gateway/settlements.js';
import { EMPTIED, StoreHealth } from './gateway/store-health.js';
import { AccessTokens } from './gateway/access-tokens.js';
import { Upstream } from './gateway/upstream.js';
import { allowAnonymous, createAuthenticate, createReadSigned } from './http/authentication.js';
import { AddressList } from './http/client-address.js';
import { readConsole } from './http/console-routes.js';
import { Load } from './http/load.js';
import { OPERATIONS } from './http/operations/index.js';
import { ReplyBatches } from './http/reply-batches.js';
import type { PatientServer } from './http/connections.js';
import { createHttpServer } from './http/server.js';
import { Background } from './gateway/background.js';
import { createSendMail } from './mail/send-mail.js';
import { judgeUpstreamAddress } from './management/addresses.js';
import { recoverRedemptions } from './management/redemption-codes.js';
import { loadPrompts } from './prompts.js';
import { StoreUnavailableError, type Store } from './store/store.js';
import { EventBatches } from './telemetry/event-batches.js';
import { logEvents, type Logger } from './telemetry/log.js';
import { createMetrics } from './telemetry/metrics.js';
import { NodeReports } from './telemetry/node-reports.js';
import { RefusedLog } from './telemetry/refused-log.js';
import { Rollups } from './telemetry/rollups.js';
import { UsageLog } from './telemetry/usage-log.js';

export interface App {
  readonly server: PatientServer;
  readonly gateway: GatewayDeps;
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
  /** Milliseconds of a clock that nobody sets; `now` if only that is given. */
  readonly elapsed?: () => number;
  readonly random?: () => number;
  /** Loads the optional package of the provider `llama`. */
  readonly loadLlama?: () => Promise<LlamaModule>;
}

/** Where the console is built, seen from both `src` and `dist`. */
const CONSOLE_FOLDER = fileURLToPath(new URL('../dist/console', import.meta.url));

/** The name that people know this gateway by: the machine, and the process if it has several. */
function nodeName(): string {
  return cluster.isWorker ? `${hostname()}:${process.pid}` : hostname();
}

/** The running release, from the manifest beside `src` and `dist`. */
function releaseOf(): string {
  const text = readFileSync(new URL('../package.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { readonly version: string }).version;
}

const RECOVER_EVERY_MS = 60_000;

const TRIM_EVERY_MS = 3_600_000;
const DAY_MS = 24 * 3_600_000;

/** Builds every part once and gives it what it needs. The channels are loaded when this resolves; nothing listens yet. */
export async function createApp(config: Config, parts: AppParts): Promise<App> {
  const { store, logger, now = Date.now, random = Math.random } = parts;
  const { server: limits, gateway: settings } = config;
  const load = new Load(
    limits.maxInFlight,
    limits.maxInFlightBytes,
    limits.inFlightShare,
    limits.bodyLimitBytes,
  );
  let closing = false;

  const readers: ReadEvents[] = [logEvents(logger)];
  const events = new EventBatches(readers);
  const { observe } = events;
  const health = new StoreHealth(observe);
  const settlements = new Settlements({ store, observe, now });
  const metrics = config.metrics.enabled
    ? createMetrics({
        inFlight: () => load.requests,
        waiting: () => queue.waiting,
        pendingSettlements: () => settlements.size,
        clockOffsetMs: () => health.clockOffsetMs,
        catchUp: () => events.flush(),
      })
    : undefined;
  if (metrics !== undefined) readers.push(metrics.read);
  const { usageEntries, refusedEntries, retentionDays, statsDays } = config.log;
  const node = nodeName();
  const nodeId = randomUUID();
  const usage = new UsageLog({ store, observe, now, maxEntries: usageEntries, node });
  const refused = new RefusedLog({ store, observe, now, maxEntries: refusedEntries, node });
  if (refusedEntries > 0) readers.push(refused.read);
  if (usageEntries > 0) readers.push(usage.read);
  const rollups = new Rollups({ store, observe, now, writer: nodeId, keepDays: statsDays });
  if (statsDays > 0) readers.push(rollups.read);

  const release = releaseOf();
  const reports = new NodeReports({
    store,
    observe,
    now,
    node: {
      ...{ nodeId, name: node, release, pid: process.pid },
      ...{ maxInFlight: limits.maxInFlight, keyMarks: store.keyMarks() },
    },
    inFlight: () => load.requests,
    pendingSettlements: () => settlements.size,
    resting: (nowMs) => {
      const atMs = steady();
      return channelHealth
        .pauses(atMs)
        .map(({ channelId, key, state, reason, sinceMs, untilMs }) => ({
          name: channels.live(channelId)?.channel.name ?? String(channelId),
          ...{ id: channelId, key, state, why: reason },
          // As times of day, for people.
          ...{ sinceMs: sinceMs + nowMs - atMs, untilMs: untilMs + nowMs - atMs },
        }));
    },
  });
  readers.push(reports.read);

  await store.begin();
  await announceConfig(config, store, now());
  const upstream = new Upstream({
    maxReplyBytes: settings.maxReplyBytes,
    maxReplyBytesInFlight: settings.maxReplyBytesInFlight,
    judgeAddress: judgeUpstreamAddress(settings),
  });
  const webhook = createWebhook(config, { node, observe, now, random });
  if (webhook !== undefined) readers.push(webhook.read);
  const tokens = new AccessTokens({
    now,
    fetchToken: (request, signal) => upstream.fetchToken(request, signal),
  });
  const neural = new LlamaEngine({ load: parts.loadLlama ?? loadLlama });
  const tools = {
    vectors: createVectorMemory(settings.vectorMemoryBytes),
    prompts: loadPrompts(settings.promptsDir),
  };
  const declared = new Map(
    (config.channels ?? []).map(({ declared: { name }, credentials }) => [name, credentials]),
  );
  const credentials = new TokenCache({ store, now, isEmptied: () => health.isEmptied });
  const background = new Background(observe);
  const {
    channels,
    health: channelHealth,
    steady,
    surveyor,
    queue,
    close: closeDataPlane,
  } = createDataPlane(config, {
    store,
    nodeId,
    declared,
    upstream,
    tokens,
    neural,
    tools,
    observe,
    now,
    elapsed: parts.elapsed ?? parts.now ?? (() => performance.now()),
    random,
    onNews: (...news) => health.heard(...news),
    onStoreBack: () => settlements.storeIsBack(),
    onStoreLost: () => {
      credentials.clear();
      // The restored store may be older than the configuration of this process.
      background.run('re-declaring the configuration in the store', () =>
        announceConfig(config, store, now()),
      );
    },
    onOutage: (route, outage) => {
      background.run('a channel not disabled', () => outages.disable(route.channel, outage));
    },
    onRoutes: (routes) => care.update(routes),
  });
  const probe = createProbe({
    upstream,
    neural,
    // A test must reach the upstream, so it remembers nothing.
    tools: { ...tools, vectors: undefined },
    declared,
    now,
    attemptTimeoutMs: settings.attemptTimeoutMs,
  });
  const outages = createOutages({
    ...{ store, now, observe },
    firstTryMs: config.traffic.returnAfterMs,
  });
  const care = new ChannelCare({
    store,
    health: {
      checked: (route, kind) => channelHealth.checked(route, kind, steady()),
      forget: (channelId) => channelHealth.forget(channelId),
    },
    probe,
    freshness: channels,
    run: background.run,
    now,
    random,
    returns: {
      firstMs: config.traffic.returnAfterMs,
      longestMs: Math.max(config.traffic.returnAfterMs, config.traffic.returnLongestMs),
    },
    recheckMs: config.traffic.breakerOpenMs,
    onWell: (channel) => outages.letReturn(channel),
  });
  await channels.start();
  await reports.start();

  const gateway: GatewayDeps = {
    store,
    credentials,
    channels,
    settlements,
    observe,
    now,
    prices: config.prices,
    aliases: config.callers.aliases,
    maxCooldownMs: settings.maxCooldownMs,
    cacheHitPercent: config.traffic.cacheHitPercent,
    reservationGraceMs: settings.reservationGraceMs,
  };
  const explain = createExplain({ ...surveyor, ...gateway, store });
  const trim = (): void => {
    background.run('removing old log entries', async () => {
      await store.trimLogs(now() - retentionDays * DAY_MS);
    });
  };
  trim();
  const trimming = setInterval(trim, TRIM_EVERY_MS);
  trimming.unref();
  const management = {
    store,
    now,
    randomBytes,
    accounts: config.accounts,
    allowPrivateUpstreams: settings.allowPrivateUpstreams,
    allowMetadataUpstreams: settings.allowMetadataUpstreams,
    stalenessMs: settings.stalenessMs,
    statsDays,
    gateway,
    probe,
    explain,
    discover: createDiscover({ upstream, neural, tools, now }),
    listUpstreamModels: createListUpstreamModels({ upstream, declared }),
    deadlineMs: settings.deadlineMs,
    about: {
      release,
      mail: config.mail.smtpUrl === undefined ? ('outbox' as const) : ('smtp' as const),
      defaultModel: settings.defaultModel,
      usageEntries,
      refusedEntries,
      retentionDays,
    },
    sendMail: createSendMail({
      ...config.mail,
      outboxDir: config.mail.outboxDir ?? join(config.store.dataDir, 'outbox'),
    }),
    publicUrl: config.server.publicUrl,
    keepsExamples: config.console.examples,
    later: background.run,
  };
  const recover = (): void => {
    background.run('completing interrupted redemptions', () => recoverRedemptions(management));
  };
  recover();
  const recovering = setInterval(recover, RECOVER_EVERY_MS);
  recovering.unref();
  const { anonymous, awsKeys } = config.callers;
  const byKey = createAuthenticate(credentials);
  const trustedProxies =
    limits.trustedProxies.length === 0 ? undefined : new AddressList(limits.trustedProxies);
  if (anonymous !== undefined) {
    logger.warn(
      { addresses: anonymous.addresses },
      'callers from these addresses are served without a key of their own',
    );
  }
  const authenticate =
    anonymous === undefined
      ? byKey
      : allowAnonymous(
          byKey,
          { addresses: new AddressList(anonymous.addresses), key: anonymous.key },
          trustedProxies,
        );
  const readSigned =
    Object.keys(awsKeys).length === 0 ? undefined : createReadSigned(byKey, awsKeys, now);
  const server = createHttpServer(
    {
      operations: OPERATIONS,
      management,
      gateway,
      explain,
      users: store,
      observe,
      authenticate,
      readSigned,
      console: config.console.enabled ? readConsole(CONSOLE_FOLDER) : undefined,
      load,
      door: new Door(gateway),
      replies: new ReplyBatches(load),
      trustedProxies,
      bodyLimitBytes: limits.bodyLimitBytes,
      bodyTimeoutMs: limits.bodyTimeoutMs,
      maxDocuments: limits.maxDocuments,
      deadlineMs: settings.deadlineMs,
      defaultModel: settings.defaultModel,
      ready: async () => {
        if (closing) {
          throw new GatewayError('overloaded', 'The gateway is shutting down.', {
            retryAfterMs: 1_000,
          });
        }
        await judgeStore(channels, health);
      },
      warnings: () => health.warnings(),
      metrics: metrics === undefined ? undefined : () => metrics.render(),
      metricsToken: config.metrics.token?.reveal(),
      metricsReaders: new AddressList(config.metrics.allowIps),
      hstsMaxAgeS: limits.hstsMaxAgeS,
    },
    limits,
  );

  return {
    server,
    gateway,
    inFlight: () => load.requests,
    async close(drainMs) {
      closing = true;
      const untilMs = now() + drainMs;
      await server.drain(drainMs);
      clearInterval(recovering);
      // A connection that was cut off closes before its request has ended and been settled.
      await upTo(load.idle(), Math.max(untilMs - now(), LAST_WORDS_MS));
      clearInterval(trimming);
      const endMs = Math.max(untilMs, now() + LAST_WORDS_MS);
      const inTime = (work: Promise<unknown>): Promise<void> => upTo(work, endMs - now());
      await inTime(settlements.drained(untilMs));
      events.flush();
      await inTime(
        Promise.all([usage.close(untilMs), refused.close(untilMs), rollups.close(untilMs)]),
      );
      care.stop();
      if (webhook !== undefined) await inTime(webhook.close());
      await inTime(background.drained());
      await inTime(closeDataPlane());
      await inTime(reports.stop());
      await inTime(channels.stop());
      await inTime(upstream.close());
      await inTime(neural.close());
      await store.close(endMs - now());
      events.flush();
    },
  };
}

/** Declares the channels and initial switches of the configuration to the store. Switches that people have set stay. */
async function announceConfig(config: Config, store: Store, nowMs: number): Promise<void> {
  if (config.channels !== undefined) {
    await store.declareChannels(config.channels.map(({ declared }) => declared));
  }
  if (config.tags.length === 0) return;
  const { switches } = await store.loadChannels();
  const known = new Set(switches.map(({ tag }) => tag));
  for (const { tag, disabled, reason } of config.tags) {
    if (known.has(tag)) continue;
    await store.setTagSwitch({
      tag,
      disabled,
      reason,
      changedTime: Math.floor(nowMs / 1000),
      changedBy: 'config',
    });
  }
}

/** @throws GatewayError with the reason if the store would admit nobody. */
async function judgeStore(channels: ChannelTable, health: StoreHealth): Promise<void> {
  try {
    // A write, like an admission: a store that can be read may be full.
    await channels.refresh();
  } catch (error) {
    const why = error instanceof StoreUnavailableError ? error.message : 'It failed.';
    throw new GatewayError('store_unavailable', `The store cannot be used: ${why}`, {
      ...{ retryAfterMs: 1_000, cause: error },
    });
  }
  if (health.isEmptied) {
    throw new GatewayError('store_unavailable', EMPTIED, { retryAfterMs: 1_000 });
  }
  await channels.ensureFresh();
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
