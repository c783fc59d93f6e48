import { randomBytes, randomUUID } from 'node:crypto';
import type { Server } from 'node:http';
import { join } from 'node:path';
import type { Config } from './config.js';
import { GatewayError } from './core/errors.js';
import { ChannelTable } from './gateway/channel-table.js';
import { CredentialCache } from './gateway/credential-cache.js';
import type { ReadEvents } from './gateway/events.js';
import { LlamaEngine, loadLlama, type LlamaModule } from './gateway/llama.js';
import { createProbe } from './gateway/probe.js';
import type { GatewayDeps } from './gateway/rerank.js';
import { Settlements } from './gateway/settlements.js';
import { TokenCache } from './gateway/token-cache.js';
import { Upstream } from './gateway/upstream.js';
import { createAuthenticate } from './http/authentication.js';
import { AddressList } from './http/client-address.js';
import { Load } from './http/load.js';
import { OPERATIONS } from './http/operations/index.js';
import { ReplyBatches } from './http/reply-batches.js';
import { createHttpServer } from './http/server.js';
import { Background } from './gateway/background.js';
import { createSendMail } from './mail/send-mail.js';
import { isPrivateAddress } from './management/addresses.js';
import { recoverRedemptions } from './management/redemption-codes.js';
import type { Store } from './store/store.js';
import { EventBatches } from './telemetry/event-batches.js';
import { logEvents, type Logger } from './telemetry/log.js';
import { createMetrics } from './telemetry/metrics.js';
import { UsageLog } from './telemetry/usage-log.js';

export interface App {
  readonly server: Server;
  readonly gateway: GatewayDeps;
  /**
   * Stops taking requests, lets those in flight end within `drainMs`, settles, and lets go of the store. A store that is
   * away is not waited for longer than that either: what it was not told of, it gives back when the reservation expires.
   */
  close(drainMs: number): Promise<void>;
}

export interface AppParts {
  readonly store: Store;
  readonly logger: Logger;
  readonly now?: () => number;
  readonly random?: () => number;
  /** Gets the optional package of the provider `llama`. */
  readonly loadLlama?: () => Promise<LlamaModule>;
}

const RECOVER_EVERY_MS = 60_000;

const TRIM_EVERY_MS = 3_600_000;
const DAY_MS = 24 * 3_600_000;

/** Builds every part once and hands it what it needs. The channels are loaded when this resolves; nothing listens yet. */
export async function createApp(config: Config, parts: AppParts): Promise<App> {
  const { store, logger, now = Date.now, random = Math.random } = parts;
  const { server: limits, gateway: settings } = config;
  const load = new Load(limits.maxInFlight, limits.maxInFlightBytes);
  let closing = false;

  const readers: ReadEvents[] = [logEvents(logger)];
  const events = new EventBatches(readers);
  const { observe } = events;
  const settlements = new Settlements({ store, observe, now });
  const metrics = config.metrics.enabled
    ? createMetrics({
        inFlight: () => load.requests,
        pendingSettlements: () => settlements.size,
        catchUp: () => events.flush(),
      })
    : undefined;
  if (metrics !== undefined) readers.push(metrics.read);
  const { usageEntries, retentionDays } = config.log;
  const usage = new UsageLog({ store, observe, now, maxEntries: usageEntries });
  if (usageEntries > 0) readers.push(usage.read);

  await announceConfig(config, store, now());
  const upstream = new Upstream({
    maxReplyBytes: settings.maxReplyBytes,
    refuses: settings.allowPrivateUpstreams ? undefined : isPrivateAddress,
  });
  const tokens = new TokenCache({
    now,
    fetchToken: (request, signal) => upstream.fetchToken(request, signal),
  });
  const neural = new LlamaEngine({ load: parts.loadLlama ?? loadLlama });
  const declared = new Map(
    (config.channels ?? []).map(({ declared: { name }, credentials }) => [name, credentials]),
  );
  const channels = new ChannelTable({
    store,
    declared,
    observe,
    now,
    stalenessMs: settings.stalenessMs,
    nodeId: randomUUID(),
    onGone: (channelId) => tokens.forget(channelId),
    onOrigins: (origins) => upstream.keepOnly(origins),
  });
  await channels.start();

  const credentials = new CredentialCache(store);
  const gateway: GatewayDeps = {
    store,
    credentials,
    channels,
    upstream,
    tokens,
    neural,
    settlements,
    observe,
    now,
    random,
    prices: config.prices,
    maxAttempts: settings.maxAttempts,
    attemptTimeoutMs: settings.attemptTimeoutMs,
    maxCooldownMs: settings.maxCooldownMs,
    reservationGraceMs: settings.reservationGraceMs,
  };
  const background = new Background(observe);
  const trim = (): void => {
    background.run('log entries that are too old', async () => {
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
    stalenessMs: settings.stalenessMs,
    gateway,
    probe: createProbe({
      upstream,
      neural,
      declared,
      now,
      attemptTimeoutMs: settings.attemptTimeoutMs,
    }),
    sendMail: createSendMail({
      ...config.mail,
      outboxDir: config.mail.outboxDir ?? join(config.store.dataDir, 'outbox'),
    }),
    later: background.run,
  };
  const recover = (): void => {
    background.run('redemptions left half done', () => recoverRedemptions(management));
  };
  recover();
  const recovering = setInterval(recover, RECOVER_EVERY_MS);
  recovering.unref();
  const server = createHttpServer(
    {
      operations: OPERATIONS,
      management,
      gateway,
      observe,
      authenticate: createAuthenticate(credentials),
      load,
      replies: new ReplyBatches(load),
      trustedProxies:
        limits.trustedProxies.length === 0 ? undefined : new AddressList(limits.trustedProxies),
      bodyLimitBytes: limits.bodyLimitBytes,
      maxDocuments: limits.maxDocuments,
      deadlineMs: settings.deadlineMs,
      defaultModel: settings.defaultModel,
      ready: async () => {
        if (closing) {
          throw new GatewayError('overloaded', 'The gateway is shutting down.', {
            retryAfterMs: 1_000,
          });
        }
        await store.ping();
        await channels.ensureFresh();
      },
      metrics: metrics === undefined ? undefined : () => metrics.render(),
      metricsToken: config.metrics.token?.reveal(),
    },
    limits,
  );

  return {
    server,
    gateway,
    async close(drainMs) {
      closing = true;
      const untilMs = now() + drainMs;
      await closeServer(server, drainMs);
      clearInterval(recovering);
      // A connection that was cut off is closed before its request has come to its end, and to its settlement.
      await load.idle();
      clearInterval(trimming);
      await settlements.drained(untilMs);
      events.flush();
      await usage.close(untilMs);
      await background.drained();
      await channels.stop();
      await upstream.close();
      await neural.close();
      await store.close();
      events.flush();
    },
  };
}

/** Makes the store know the channels and initial switches of the configuration. Switches that people have set stay. */
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

const IDLE_SWEEP_MS = 50;

/** Resolves when all connections are closed: idle ones at once, busy ones once their reply is taken, all after `drainMs`. */
async function closeServer(server: Server, drainMs: number): Promise<void> {
  if (!server.listening) return;
  const sweep = setInterval(() => {
    server.closeIdleConnections();
  }, IDLE_SWEEP_MS);
  const force = setTimeout(() => {
    server.closeAllConnections();
  }, drainMs);
  await new Promise<void>((resolve) => {
    server.close(() => resolve());
    server.closeIdleConnections();
  });
  clearInterval(sweep);
  clearTimeout(force);
}
