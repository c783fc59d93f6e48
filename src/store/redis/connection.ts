import { Cluster, Redis, type ClusterOptions } from 'ioredis';
import { StoreUnavailableError } from '../store.js';
import { dropSilent } from './silence.js';
import { parseRedisUrl, type Login, type NodeAddress, type Target } from './url.js';
import { REFUSED_LOGIN, storeError, within } from './store-error.js';
import './stray-answers.js';
import { openSubscriptions } from './subscriptions.js';
import { commonOptions, type ConnectOptions } from './options.js';

/** Commands go to one client, subscriptions to another, so that neither waits for the other. */
export interface Connection {
  readonly client: Redis | Cluster;
  /** The time in the form that scripts expect: see `_clock.lua`. */
  readonly told: (nowMs: number) => string;
  /** Waits for an answer within the time limit; a failure of Redis becomes `StoreUnavailableError`. */
  readonly answer: <T>(reply: Promise<T>) => Promise<T>;
  /** Runs `send`; its commands go out in one write unless Redis is a Cluster. */
  readonly together: (send: () => void) => void;
  /** Calls `onMessage` for each message, and whenever messages may have been missed. Returns a function that stops it. */
  subscribe(channel: string, onMessage: () => void): () => void;
  /** Sends QUIT and waits at most this long for the answer. */
  close(waitMs?: number): Promise<void>;
}

/** How soon to ask a Cluster again for keys that are being moved. */
const TRY_AGAIN_MS = 20;

/** After how long a server that does not respond at all is reported. */
const WAITING_AFTER_MS = 1_000;

/**
 * Connects, and rejects with `StoreUnavailableError` if that takes too long, or at once if the login is refused. From then
 * on the connection is restored automatically; while it is down every command fails at once, and none is sent twice.
 */
export async function connectRedis(url: string, options: ConnectOptions): Promise<Connection> {
  const target = parseRedisUrl(url);
  const client = openClient(target, options);
  const nodes = (): Redis[] => (client instanceof Cluster ? client.nodes() : [client]);
  client.once('end', dropSilent(nodes, options.commandTimeoutMs * 2));
  const whyAway = lastFailure(client, target.login);
  await firstConnection(client, target, options);

  const subscriptions = openSubscriptions(target, client, options);
  const { clock = 'server' } = options;
  return {
    client,
    told: (nowMs) => (clock === 'caller' ? `=${nowMs}` : `${nowMs}`),
    answer: (reply) =>
      within(reply, options.commandTimeoutMs, (error) => storeError(error, whyAway())),
    together: (send) => {
      const stream = client instanceof Cluster ? undefined : client.stream;
      stream?.cork();
      send();
      stream?.uncork();
    },
    subscribe: (channel, onMessage) => subscriptions.add(channel, onMessage),
    async close(waitMs = Infinity) {
      subscriptions.close();
      try {
        await within(client.quit(), Math.max(0, Math.min(waitMs, options.commandTimeoutMs)));
      } catch {
        // No server is there to answer; commands in flight have had their answer or their timeout.
      }
      // Also ends the listeners on Sentinels.
      client.disconnect();
    },
  };
}

async function firstConnection(
  client: Redis | Cluster,
  target: Target,
  { connectTimeoutMs, onWaiting }: ConnectOptions,
): Promise<void> {
  const server = `Redis at ${placeOf(target)}`;
  let reason = 'no answer';
  let isTold = onWaiting === undefined;
  const tell = (): void => {
    if (isTold) return;
    isTold = true;
    const howLong = connectTimeoutMs === Infinity ? '' : ` for ${connectTimeoutMs} ms`;
    onWaiting?.(`${server} cannot be used yet (${reason}); retrying${howLong}`);
  };
  const timer = setTimeout(tell, WAITING_AFTER_MS);
  let onError: (error: Error) => void = () => undefined;
  const refused = new Promise<never>((_resolve, reject) => {
    onError = (error) => {
      reason = reasonOf(error, target.login);
      if (REFUSED_LOGIN.test(reason)) reject(error);
      else tell();
    };
  });
  client.on('error', onError);
  try {
    const connected = Promise.race([ready(client, target), refused]);
    await (connectTimeoutMs === Infinity ? connected : within(connected, connectTimeoutMs));
  } catch (error) {
    client.disconnect();
    if (error instanceof Error && error.name === 'ReplyError')
      reason = reasonOf(error, target.login);
    const isLogin = REFUSED_LOGIN.test(reason);
    throw new StoreUnavailableError(
      isLogin
        ? `${server} refuses the login (${reason}). Check user and password in REDIS_URL.`
        : `${server} cannot be used (${reason}). Is REDIS_URL right, and Redis up?`,
      { cause: error },
    );
  } finally {
    clearTimeout(timer);
    isTold = true;
  }
}

/** Why there is no connection, as far as the last failure says; the client's answer to a command does not. */
function lastFailure(client: Redis | Cluster, login: Login): () => string | undefined {
  let reason: string | undefined;
  client.on('error', (error: Error) => {
    reason = reasonOf(error, login);
  });
  client.on('ready', () => {
    reason = undefined;
  });
  return () => reason;
}

/** The servers of a URL, without the login. */
function placeOf(target: Target): string {
  const list = (nodes: readonly NodeAddress[]): string =>
    nodes.map(({ host, port }) => `${host.includes(':') ? `[${host}]` : host}:${port}`).join(', ');
  switch (target.kind) {
    case 'single':
      return list([target.node]);
    case 'sentinel':
      return `${list(target.sentinels)} (Sentinel, master ${target.master})`;
    case 'cluster':
      return `${list(target.nodes)} (Cluster)`;
  }
}

/** Why a connection failed; for a Cluster, the error of the last node. */
function reasonOf(error: Error, { password = '' }: Login): string {
  const { lastNodeError } = error as Error & { readonly lastNodeError?: Error | null };
  const { message } = lastNodeError ?? error;
  return password === '' ? message : message.replaceAll(password, '[secret]');
}

function openClient(target: Target, options: ConnectOptions): Redis | Cluster {
  const { commandTimeoutMs } = options;
  const { db, tls } = target.login;
  const redisOptions = commonOptions(target.login, options);
  const retryStrategy = (attempt: number): number => Math.min(20 * attempt, 500);

  switch (target.kind) {
    case 'single':
      return new Redis({
        ...redisOptions,
        ...target.node,
        db,
        enableOfflineQueue: false,
        retryStrategy,
      });
    case 'sentinel':
      return new Redis({
        ...redisOptions,
        db,
        sentinels: [...target.sentinels],
        name: target.master,
        ...(tls ? { enableTLSForSentinelMode: true } : {}),
        sentinelRetryStrategy: retryStrategy,
        enableOfflineQueue: false,
        retryStrategy,
        // An old master that still runs accepts writes until Sentinel turns it into a replica, seconds later: they are lost.
        failoverDetector: true,
        sentinelReconnectStrategy: (attempt) => Math.min(1_000 * attempt, 10_000),
        // After a failover the old master answers as a replica: find the new one.
        reconnectOnError: (error) => error.message.startsWith('READONLY'),
      });
    case 'cluster':
      return refreshed(
        new Cluster([...target.nodes], {
          redisOptions,
          enableOfflineQueue: false,
          clusterRetryStrategy: retryStrategy,
          slotsRefreshTimeout: commandTimeoutMs,
          slotsRefreshInterval: 0,
          // While a slot is being moved, its keys are in two places: commands that cannot be answered yet are sent again
          // as long as the caller waits.
          retryDelayOnTryAgain: TRY_AGAIN_MS,
          maxRedirections: Math.max(8, Math.ceil((commandTimeoutMs * 0.8) / TRY_AGAIN_MS)),
          retryDelayOnFailover: 0,
          // A certificate is for a name: with TLS, keep the given names and do not resolve them to addresses, as CLUSTER
          // SLOTS has them.
          ...(tls ? { dnsLookup: (address, done) => done(null, address) } : {}),
        } satisfies ClusterOptions),
      );
  }
}

const SLOTS_REFRESH_MS = 2_000;

/** Keeps the slot map up to date. The client's own timer outlives a client that is closed during a refresh. */
function refreshed(cluster: Cluster): Cluster {
  const refresh = (): void => {
    if (cluster.status === 'ready') cluster.refreshSlotsCache(() => undefined);
  };
  const timer = setInterval(refresh, SLOTS_REFRESH_MS).unref();
  cluster.once('end', () => clearInterval(timer));
  return cluster;
}

async function ready(client: Redis | Cluster, { login }: Target): Promise<void> {
  if (client.status !== 'ready') {
    await new Promise<void>((resolve) => client.once('ready', () => resolve()));
  }
  // Nodes of a Cluster are connected on first use, and refuse commands until they are connected.
  if (client instanceof Cluster)
    await Promise.all(client.nodes('master').map((node) => node.ping()));
  // The client falls back to database 0 if the server does not have the given one.
  else if (login.db !== 0) await client.select(login.db);
}
