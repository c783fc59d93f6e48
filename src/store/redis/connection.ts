import { Cluster, Redis, type ClusterOptions, type RedisOptions } from 'ioredis';
import { StoreUnavailableError } from '../store.js';
import { dropSilent } from './silence.js';
import { parseRedisUrl, type Login, type NodeAddress, type Target } from './url.js';

export interface ConnectOptions {
  /** Time limit of one command, from sending to the answer. */
  readonly commandTimeoutMs: number;
  /** Time limit of the first connection, which may be none (`Infinity`); later ones are tried forever. */
  readonly connectTimeoutMs: number;
  /** Whose clock decides: the server's own, or, for tests that set it, the time given with each call. */
  readonly clock?: 'server' | 'caller' | undefined;
  /** Called once, with a message, if the first connection takes a while: what is tried, and why it fails. */
  readonly onWaiting?: ((why: string) => void) | undefined;
}

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

/** A refused login, which waiting does not fix. */
const REFUSED_LOGIN = /^(WRONGPASS|NOAUTH|ERR invalid password)\b/;

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

/**
 * How long a connection may take to end before it is cut. A connection that has ended already keeps the process alive for as
 * long, since the client waits for it to end once more.
 */
const DISCONNECT_MS = 100;

function commonOptions({ username, password, tls }: Login, { commandTimeoutMs }: ConnectOptions) {
  return {
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password }),
    ...(tls ? { tls: {} } : {}),
    connectTimeout: commandTimeoutMs * 5,
    disconnectTimeout: DISCONNECT_MS,
    // A command that was sent may have been executed. Whether to send it again is the caller's decision.
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
  } satisfies RedisOptions;
}

/** The subscriber is silent as long as nothing changes, and code below makes it subscribe again. */
const SUBSCRIBER_OPTIONS = {
  autoResubscribe: false,
  enableOfflineQueue: true,
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

interface Subscriptions {
  add(channel: string, onMessage: () => void): () => void;
  close(): void;
}

/** How long to wait before subscribing at another node of a Cluster. */
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
    // Messages published before this moment were missed.
    notify(channel);
  };
  const connect = (): Redis => {
    if (client instanceof Redis) return client.duplicate(SUBSCRIBER_OPTIONS);
    // Every node of a Cluster forwards every message, so one connection to any of them will do.
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
      // The same function may listen twice, and each listener is stopped separately.
      const listener = (): void => onMessage();
      const heard = listeners.get(channel);
      if (heard === undefined) {
        listeners.set(channel, new Set([listener]));
        // A connection that is not ready yet subscribes to everything once it is.
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

/** Just one promise and one timer: every request of the gateway passes through here. */
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
      // If this process was busy all that time, the answer may have arrived and is read next: it counts.
      setImmediate(() => fail(new Error(`Redis did not answer within ${timeoutMs} ms`)));
    }, timeoutMs);
    reply.then((value) => {
      clearTimeout(timer);
      resolve(value);
    }, fail);
  });
}

/** Replies that mean that Redis cannot serve now, as opposed to a wrong command. */
const UNAVAILABLE_REPLY =
  /^(LOADING|READONLY|MASTERDOWN|CLUSTERDOWN|TRYAGAIN|MOVED|ASK|MISCONF|OOM|BUSY|NOREPLICAS|NOAUTH|NOPERM|WRONGPASS)\b/;

/** A script of a release that did not name all its keys touched one that had been moved: it has stopped halfway. */
const STOPPED_REPLY = /^ERR .*attempted to access a non local key/;

/** The client's error if a Cluster answered only with redirections: each of them means that nothing was done. */
const REDIRECTED = 'Too many Cluster redirections';

/** The client's error for a command that it did not send: there is no connection, and it does not wait for one. */
const NOT_SENT =
  /^(Stream isn't writeable|Cluster isn't ready) and enableOfflineQueue options is false/;

/** Why Redis cannot serve, in words, by the beginning of its reply. */
const WORDS: readonly (readonly [RegExp, string])[] = [
  [/^OOM/, 'Redis is full: it accepts no writes until memory is free (maxmemory).'],
  [/^READONLY/, 'Redis is read-only: this is a replica, not the master.'],
  [/^MISCONF/, 'Redis accepts no writes because it cannot save to its disk.'],
  [/^NOREPLICAS/, 'Redis accepts no writes because too few replicas follow it.'],
  [/^LOADING/, 'Redis is still loading its data.'],
  [/^MASTERDOWN/, 'Redis is a replica that has lost its master.'],
  [/^CLUSTERDOWN/, 'The Redis Cluster is down: some of its slots are not served.'],
  [/^BUSY/, 'Redis is busy with a script that does not end.'],
  [REFUSED_LOGIN, 'Redis refuses the login: check user and password in REDIS_URL.'],
  [/^NOPERM/, 'The Redis user may not do everything that a gateway needs: check its rights (ACL).'],
  [
    /^(TRYAGAIN|MOVED|ASK|ERR|Too many Cluster redirections)/,
    'The Redis Cluster is moving the requested keys.',
  ],
  [/^Redis did not answer/, 'Redis did not answer in time.'],
];

function wordsOf(message: string): string {
  return WORDS.find(([beginning]) => beginning.test(message))?.[1] ?? 'Redis cannot be reached.';
}

/**
 * What a failed command means: anything but a refusal of the command itself means that Redis is unavailable. `whyAway` is
 * why there is no connection, if that is known.
 */
function storeError(error: unknown, whyAway?: string): unknown {
  if (!(error instanceof Error)) return error;
  const { message } = error;
  const isReply = error.name === 'ReplyError';
  const hasStopped = isReply && STOPPED_REPLY.test(message);
  if (isReply && !hasStopped && !UNAVAILABLE_REPLY.test(message)) return error;
  const why = NOT_SENT.test(message) ? (whyAway ?? message) : message;
  return new StoreUnavailableError(wordsOf(why), {
    cause: error,
    didNothing:
      !hasStopped && (isReply || message.startsWith(REDIRECTED) || NOT_SENT.test(message)),
  });
}
