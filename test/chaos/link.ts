import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** A way to a server that can be slowed down, stopped and cut. */
export interface Link {
  readonly port: number;
  /** From now on bytes take so long in each direction. */
  delay(ms: number): void;
  /** From now on no bytes come through in either direction, until `release`. */
  hold(): void;
  release(): void;
  /** Breaks all connections, and makes none for so long. */
  cut(forMs: number): void;
  close(): Promise<void>;
}

/** Forwards to a port of this machine. The order of bytes is kept, whatever the delay does meanwhile. */
export async function startLink(toPort: number, delayMs = 0): Promise<Link> {
  let delay = delayMs;
  let isCutUntilMs = 0;
  let held: (() => void)[] | undefined;
  const sockets = new Set<Socket>();
  const passage = (): Promise<void> =>
    held === undefined ? Promise.resolve() : new Promise((resolve) => held?.push(resolve));
  const forward = (from: Socket, to: Socket): void => {
    let last = Promise.resolve();
    from.on('data', (bytes) => {
      const due =
        delay === 0 ? undefined : new Promise<void>((resolve) => setTimeout(resolve, delay));
      last = last
        .then(() => due)
        .then(passage)
        .then(() => {
          if (!to.destroyed) to.write(bytes);
        });
    });
    from.on('error', () => to.destroy());
    from.on('close', () => {
      // What was on its way arrives.
      void last.then(() => to.end());
    });
  };
  const server = createServer((client) => {
    client.on('error', () => undefined);
    if (Date.now() < isCutUntilMs) {
      client.resetAndDestroy();
      return;
    }
    const upstream = connect(toPort, '127.0.0.1');
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.once('close', () => sockets.delete(socket));
      socket.setNoDelay(true);
    }
    forward(client, upstream);
    forward(upstream, client);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const release = (): void => {
    const waiting = held ?? [];
    held = undefined;
    for (const go of waiting) go();
  };
  const cutNow = (): void => {
    for (const socket of sockets) socket.resetAndDestroy();
  };
  return {
    port: (server.address() as AddressInfo).port,
    delay(ms) {
      delay = ms;
    },
    hold() {
      held ??= [];
    },
    release,
    cut(forMs) {
      isCutUntilMs = Date.now() + forMs;
      cutNow();
    },
    async close() {
      release();
      server.close();
      cutNow();
      await once(server, 'close');
    },
  };
}
