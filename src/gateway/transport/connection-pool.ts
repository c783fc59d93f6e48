import { Client, type Dispatcher } from 'undici';

/**
 * The connections to one origin: one for each request at a time, the last used first. How many run at once is limited above,
 * where a waiting one can still be refused. undici's own pool looks through all of its connections at every request for one
 * that is free.
 */
export class ConnectionPool {
  readonly #origin: string;
  readonly #options: Client.Options;
  /** A connection each, made anew when it has been closed. */
  readonly #clients = new Set<Client>();
  readonly #free: Client[] = [];
  #isOver = false;

  constructor(origin: string, options: Client.Options) {
    this.#origin = origin;
    this.#options = { ...options, pipelining: 1 };
  }

  dispatch(request: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): void {
    const client = this.#free.pop() ?? this.#open();
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

  #open(): Client {
    const client = new Client(this.#origin, this.#options);
    this.#clients.add(client);
    client
      .on('drain', () => {
        if (this.#clients.has(client)) this.#free.push(client);
      })
      // One that could not connect is not used again.
      .on('connectionError', () => this.#clients.delete(client));
    // It refuses all requests then, as the others do.
    if (this.#isOver) void client.destroy();
    return client;
  }
}
