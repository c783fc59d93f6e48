import { Cluster, Redis, type ClusterOptions, type RedisOptions } from 'ioredis';
import { StoreUnavailableError } from '../store.js';
import { parseRedisUrl, type Login, type NodeAddress, type Target } from './url.js';

export interface ConnectOptions {
  /** Bound of one command, from asking to the answer. */
  readonly commandTimeoutMs: number;
  /** Bound of the first connection; later ones are tried forever. */
  readonly connectTimeoutMs: number;
  /** Whose clock decides: the server's own, or, for tests that turn it, the one that each call names. */
  readonly clock?: 'server' | 'caller' | undefined;
  /** Told once, in words, when the first connection has to be waited for: what is tried, and why it fails. */
  readonly onWaiting?: ((why: string) => void) | undefined;
}

/** Commands go to one client, subscriptions to another, so that neither waits for the other. */
export interface Connection {
  readonly client: Redis | Cluster;
  /** The time as a script is told it: see `_clock.lua`. */
  readonly told: (nowMs: number) => string;
  /** An answer within the bound; a failure of Redis becomes `StoreUnavailableError`. */
  readonly answer: <T>(reply: Promise<T>) => Promise<T>;
  /** Runs `send`; the commands that it sends leave in one write where there is one server. */
  readonly together: (send: () => void) => void;
  /** Calls `onMessage` for each message, and after every time that messages may have been missed. Returns the way to stop. */
  subscribe(channel: string, onMessage: () => void): () => void;
  /** Says goodbye, and waits for the answer so long at most. */
  close(waitMs?: number): Promise<void>;
}

/** How soon a Cluster is asked again for keys that are being moved. */
const TRY_AGAIN_MS = 20;

/** A server that says nothing at all is told about after so long. */
const WAITING_AFTER_MS = 1_000;

/** A refused login: it does not pass by itself. */
const REFUSED_LOGIN = /^(WRONGPASS|NOAUTH|ERR invalid password)\b/;

/**
 * Connects, and rejects with `StoreUnavailableError` when that takes too long, or at once when the login is refused. From
 * then on the connection comes back by itself; while it is away every command fails at once, and none is sent twice.
 */
export async function connectRedis(url: string, options: ConnectOptions): Promise<Connection> {
  const target = parseRedisUrl(url);
  const client = openClient(target, options);
  await firstConnection(client, target, options);

  const subscriptions = openSubscriptions(target, client, options);
  const { clock = 'server' } = options;
  return {
    client,
    told: (nowMs) => (clock === 'caller' ? `=${nowMs}` : `${nowMs}`),
    answer: (reply) => within(reply, options.commandTimeoutMs, storeError),
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
        // Nobody is there to say goodbye to; what was under way has had its answer or its timeout.
      }
      // Ends what listens to Sentinels as well.
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
    onWaiting?.(`${server} cannot be used yet (${reason}); it is tried for ${connectTimeoutMs} ms`);
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
    await within(Promise.race([ready(client, target), refused]), connectTimeoutMs);
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

/** What a failed connection says for itself; of a Cluster, what its last node said. */
function reasonOf(error: Error, { password = '' }: Login): string {
  const { lastNodeError } = error as Error & { readonly lastNodeError?: Error | null };
  const { message } = lastNodeError ?? error;
  return password === '' ? message : message.replaceAll(password, '[secret]');
}

function commonOptions({ username, password, tls }: Login, { commandTimeoutMs }: ConnectOptions) {
  return {
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password }),
    ...(tls ? { tls: {} } : {}),
    connectTimeout: commandTimeoutMs * 5,
    // A server that hangs would collect commands without bound; this lets go of it.
    socketTimeout: commandTimeoutMs * 2,
    // What was sent may have been done. Asking again is the caller's decision.
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
  } satisfies RedisOptions;
}

/** It says nothing for as long as nothing changes, and subscribes anew itself. */
const SUBSCRIBER_OPTIONS = {
  autoResubscribe: false,
  enableOfflineQueue: true,
  socketTimeout: undefined,
} satisfies RedisOptions;

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
        // An old master that still runs takes writes until Sentinel has made a replica of it, seconds later: they are lost.
        failoverDetector: true,
        sentinelReconnectStrategy: (attempt) => Math.min(1_000 * attempt, 10_000),
        // The old master answers as a replica after a failover: find the new one.
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
          // While a slot is moved, its keys are in two places: what cannot be answered yet is asked again, for as long as its
          // caller waits.
          retryDelayOnTryAgain: TRY_AGAIN_MS,
          maxRedirections: Math.max(8, Math.ceil((commandTimeoutMs * 0.8) / TRY_AGAIN_MS)),
          retryDelayOnFailover: 0,
          // With TLS the certificate is for the name, and CLUSTER SLOTS tells addresses.
          ...(tls ? { dnsLookup: (address, done) => done(null, address) } : {}),
        } satisfies ClusterOptions),
      );
  }
}

const SLOTS_REFRESH_MS = 2_000;

/** Keeps the map of the slots up to date. The client's own timer outlives a client that is closed while it is asking. */
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
  // Nodes of a Cluster are connected on first use, and refuse what comes while they are.
  if (client instanceof Cluster)
    await Promise.all(client.nodes('master').map((node) => node.ping()));
  // The client goes on with database 0 where the server does not have the one that was named.
  else if (login.db !== 0) await client.select(login.db);
}

interface Subscriptions {
  add(channel: string, onMessage: () => void): () => void;
  close(): void;
}

/** How long to wait before another node of a Cluster is asked for messages. */
const NEXT_NODE_MS = 200;

function openSubscriptions(
  target: Target,
  client: Redis | Cluster,
  options: ConnectOptions,
): Subscriptions {
  const listeners = new Map<string, Set<() => void>>();
  let subscriber: Redis | undefined;
  let timer: NodeJS.Timeout | undefined;
  let nodesTried = 0;

  const notify = (channel: string): void => {
    for (const onMessage of listeners.get(channel) ?? []) onMessage();
  };
  const subscribe = async (on: Redis, channel: string): Promise<void> => {
    await on.subscribe(channel);
    // What was published before this moment was missed.
    notify(channel);
  };
  const connect = (): Redis => {
    if (client instanceof Redis) return client.duplicate(SUBSCRIBER_OPTIONS);
    // Every node of a Cluster passes on every message, so one connection to any of them will do.
    const nodes = client.nodes().map(({ options: { host = '', port = 0 } }) => ({ host, port }));
    const known = nodes.length > 0 || target.kind !== 'cluster' ? nodes : target.nodes;
    const node = known[nodesTried % Math.max(1, known.length)];
    nodesTried += 1;
    return new Redis({
      ...commonOptions(target.login, options),
      ...SUBSCRIBER_OPTIONS,
      ...node,
      retryStrategy: null,
    });
  };
  const open = (): Redis => {
    const opened = connect();
    opened.on('message', notify);
    opened.on('error', () => undefined);
    opened.on('ready', () => {
      for (const channel of listeners.keys()) subscribe(opened, channel).catch(() => undefined);
    });
    opened.on('end', () => {
      if (subscriber !== opened) return;
      timer = setTimeout(() => (subscriber = open()), NEXT_NODE_MS).unref();
    });
    return opened;
  };

  return {
    add(channel, onMessage) {
      // One function may listen twice, and each of the two is stopped alone.
      const listener = (): void => onMessage();
      const heard = listeners.get(channel);
      if (heard === undefined) {
        listeners.set(channel, new Set([listener]));
        // A connection that is not there subscribes to everything once it is.
        if (subscriber?.status === 'ready') subscribe(subscriber, channel).catch(() => undefined);
        subscriber ??= open();
      } else {
        heard.add(listener);
      }
      return () => {
        listeners.get(channel)?.delete(listener);
      };
    },
    close() {
      listeners.clear();
      clearTimeout(timer);
      const last = subscriber;
      subscriber = undefined;
      last?.disconnect();
    },
  };
}

/** One promise and one timer: every request of the gateway comes through here. */
function within<T>(
  reply: Promise<T>,
  timeoutMs: number,
  errorOf: (error: unknown) => unknown = (error) => error,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const fail = (error: unknown): void => {
      clearTimeout(timer);
      // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- what a command failed with is passed on
      reject(errorOf(error));
    };
    const timer = setTimeout(() => {
      // Where this process was busy for so long, the answer may be there and is read next: it counts.
      setImmediate(() => fail(new Error(`Redis did not answer within ${timeoutMs} ms`)));
    }, timeoutMs);
    reply.then((value) => {
      clearTimeout(timer);
      resolve(value);
    }, fail);
  });
}

/** Replies by which Redis says that it cannot serve now, as opposed to a command that is wrong. */
const UNAVAILABLE_REPLY =
  /^(LOADING|READONLY|MASTERDOWN|CLUSTERDOWN|TRYAGAIN|MOVED|ASK|MISCONF|OOM|BUSY|NOREPLICAS|NOAUTH|NOPERM|WRONGPASS)\b/;

/** A script of a release that did not name all keys touched one that had been moved: it has stopped half way. */
const STOPPED_REPLY = /^ERR .*attempted to access a non local key/;

/** What the client says when a Cluster answered with redirections only: each of them says that nothing was done. */
const REDIRECTED = 'Too many Cluster redirections';

/** What the client says of a command that it did not send: there is no connection, and none is waited for. */
const NOT_SENT =
  /^(Stream isn't writeable|Cluster isn't ready) and enableOfflineQueue options is false/;

/** Why Redis cannot serve, in words, by how its reply begins. */
const WORDS: readonly (readonly [RegExp, string])[] = [
  [/^OOM/, 'Redis is full: it takes no writes until there is memory (maxmemory).'],
  [/^READONLY/, 'Redis is read-only: this is a replica and not the master.'],
  [/^MISCONF/, 'Redis takes no writes because it cannot save to its disk.'],
  [/^NOREPLICAS/, 'Redis takes no writes because too few replicas follow it.'],
  [/^LOADING/, 'Redis is still loading its data.'],
  [/^MASTERDOWN/, 'Redis is a replica that has lost its master.'],
  [/^CLUSTERDOWN/, 'The Redis Cluster is down: nobody serves some of its slots.'],
  [/^BUSY/, 'Redis is busy with a script that does not end.'],
  [/^(NOAUTH|NOPERM|WRONGPASS)/, 'Redis refuses the login, or what it may do.'],
  [
    /^(TRYAGAIN|MOVED|ASK|ERR|Too many Cluster redirections)/,
    'The Redis Cluster is moving the keys that are asked for.',
  ],
  [/^Redis did not answer/, 'Redis did not answer in time.'],
];

function wordsOf(message: string): string {
  return WORDS.find(([beginning]) => beginning.test(message))?.[1] ?? 'Redis cannot be reached.';
}

/** What a failed command means: everything but a refusal of the command itself is a Redis that is not available. */
function storeError(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const { message } = error;
  const isReply = error.name === 'ReplyError';
  const hasStopped = isReply && STOPPED_REPLY.test(message);
  if (isReply && !hasStopped && !UNAVAILABLE_REPLY.test(message)) return error;
  return new StoreUnavailableError(wordsOf(message), {
    cause: error,
    didNothing:
      !hasStopped && (isReply || message.startsWith(REDIRECTED) || NOT_SENT.test(message)),
  });
}
