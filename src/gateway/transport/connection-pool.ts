import { Client, type Dispatcher } from 'undici';
import { systemCode } from '../../core/errors.js';

/**
 * For how many replies others are used with care after the server has closed a kept connection: few, where it closes one in a
 * thousand, and always, where it closes each.
 */
const CAREFUL_REPLIES = 8;
/** A server that restarts closes all of them. */
const MOST_CAREFUL_REPLIES = 64;
/** The share of the time until the server closed one that others may be idle and still be used. */
const SAFE_SHARE = 0.5;
/** Servers that close one sooner close each after its reply. */
const LEAST_KEPT_MS = 20;
/** Connections that stay open without being used: when the server closes them is learned from. */
const MOST_UNUSED = 8;

/**
 * The connections to one origin: one for each request at a time, the last used first. How many run at once is limited above,
 * where a waiting one can still be refused. undici's own pool looks through all of its connections at every request for one
 * that is free. A connection that the server is likely to close soon is not used: a request on it might be lost. Nor is one of a
 * server that sends replies which nobody asked for.
 */
export class ConnectionPool {
  readonly #origin: string;
  readonly #options: Client.Options;
  readonly #now: () => number;
  /** A connection each, made again when it has been closed. */
  readonly #clients = new Set<Client>();
  readonly #free: Client[] = [];
  /** When the connections that are open were last free: since then they have been idle, or have a request. */
  readonly #idleSince = new WeakMap<Client, number>();
  /** For how many replies connections that have been idle for so long are not used. */
  #careful = 0;
  #mostIdleMs = Infinity;
  #isOver = false;

  constructor(
    origin: string,
    options: Client.Options,
    now: () => number = () => performance.now(),
  ) {
    this.#origin = origin;
    this.#options = { ...options, pipelining: 1 };
    this.#now = now;
  }

  dispatch(request: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): void {
    const client = this.#usable() ?? this.#open();
    // One that is busy says when it no longer is.
    if (client.dispatch(request, handler)) this.#free.push(client);
  }

  /** Ends each connection once its request is over. */
  async close(): Promise<void> {
    this.#isOver = true;
    await Promise.all(Array.from(this.#clients, (client) => client.close()));
  }

  /** Ends all connections, and the requests on them. */
  async destroy(): Promise<void> {
    this.#isOver = true;
    await Promise.all(Array.from(this.#clients, (client) => client.destroy()));
  }

  #usable(): Client | undefined {
    if (this.#careful === 0) return this.#free.pop();
    const sinceMs = this.#now() - this.#mostIdleMs;
    // One that has been closed is made again.
    const at = this.#free.findLastIndex(
      (client) => (this.#idleSince.get(client) ?? Infinity) > sinceMs,
    );
    if (at >= 0) return this.#free.splice(at, 1)[0];
    const oldest = this.#free.length > MOST_UNUSED ? this.#free.shift() : undefined;
    if (oldest !== undefined) {
      this.#clients.delete(oldest);
      void oldest.close();
    }
    return undefined;
  }

  #open(): Client {
    const client = new Client(this.#origin, this.#options);
    this.#clients.add(client);
    client
      .on('drain', () => {
        if (!this.#clients.has(client)) return;
        this.#free.push(client);
        this.#idleSince.set(client, this.#now());
        if (this.#careful > 0) this.#careful -= 1;
      })
      .on('disconnect', (_origin, _clients, error) => this.#closed(client, error))
      // One that could not connect is not used again.
      .on('connectionError', () => this.#clients.delete(client));
    // It refuses all requests then, as the others do.
    if (this.#isOver) void client.destroy();
    return client;
  }

  /** A connection has ended: if the server closed it after a reply, maybe beside the next request, others may be next. */
  #closed(client: Client, error: Error): void {
    const sinceMs = this.#idleSince.get(client);
    this.#idleSince.delete(client);
    if (sinceMs === undefined || !isByServer(error)) return;
    const idleMs = this.#now() - sinceMs;
    const mostMs = idleMs < LEAST_KEPT_MS ? 0 : idleMs * SAFE_SHARE;
    this.#mostIdleMs = this.#careful === 0 ? mostMs : Math.min(this.#mostIdleMs, mostMs);
    this.#careful = Math.min(this.#careful + CAREFUL_REPLIES, MOST_CAREFUL_REPLIES);
  }
}

/** Closed, or made useless by bytes that nobody asked for: a second reply, which must not pass for the next request's. */
function isByServer(error: Error): boolean {
  return (
    systemCode(error) === 'ECONNRESET' ||
    error.message === 'other side closed' ||
    error.message === 'bad response'
  );
}
