import { Redis, type Cluster } from 'ioredis';
import { type Target } from './url.js';
import { commonOptions, SUBSCRIBER_OPTIONS, type ConnectOptions } from './options.js';

export interface Subscriptions {
  add(channel: string, onMessage: () => void): () => void;
  close(): void;
}

/** How long to wait before subscribing at another node of a Cluster. */
const NEXT_NODE_MS = 200;

export function openSubscriptions(
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
