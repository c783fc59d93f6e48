import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** A way to a server that takes its time, in both directions. */
export interface SlowLink {
  readonly port: number;
  /** From now on bytes take half of this in each direction. */
  roundTrip(ms: number): void;
  /** From now on what the server says is held back, and delivered when `release` is called. */
  hold(): void;
  release(): void;
  /** Breaks all connections. What is held back never arrives; new connections are as good as before. */
  sever(): void;
  /** What the server says for the n-th time from now on is lost: its connection breaks, or stays open and says no more. */
  lose(nth: number, how: 'cut' | 'silent'): void;
  /** Whether that has happened. */
  readonly hasLost: boolean;
  /** From now on new connections lead to another port, as the name of a service does after a failover. */
  leadTo(port: number): void;
  close(): Promise<void>;
}

/** Forwards to a port of this machine; the order of bytes is kept, whatever the delay does meanwhile. */
export async function startSlowLink(toPort: number, roundTripMs = 0): Promise<SlowLink> {
  let delayMs = roundTripMs / 2;
  let target = toPort;
  let held: (() => void)[] | undefined;
  let untilLoss = Infinity;
  let loss: 'cut' | 'silent' = 'cut';
  const sockets = new Set<Socket>();
  const forward = (from: Socket, to: Socket, isReply: boolean): void => {
    let last = Promise.resolve();
    let isSilent = false;
    from.on('data', (bytes) => {
      if (isReply) untilLoss -= 1;
      if (isReply && untilLoss === 0) {
        isSilent = true;
        if (loss === 'cut') to.resetAndDestroy();
      }
      if (isSilent) return;
      const due = new Promise<void>((resolve) => setTimeout(resolve, delayMs));
      last = last
        .then(() => due)
        .then(() => (isReply ? passage() : undefined))
        .then(() => {
          if (!to.destroyed) to.write(bytes);
        });
    });
    from.on('error', () => to.destroy());
    from.on('close', () => to.destroy());
  };
  const passage = (): Promise<void> =>
    held === undefined ? Promise.resolve() : new Promise((resolve) => held?.push(resolve));
  const server = createServer((client) => {
    const upstream = connect(target, '127.0.0.1');
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.once('close', () => sockets.delete(socket));
      socket.setNoDelay(true);
    }
    forward(client, upstream, false);
    forward(upstream, client, true);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const release = (): void => {
    const waiting = held ?? [];
    held = undefined;
    for (const go of waiting) go();
  };
  return {
    port,
    roundTrip(ms) {
      delayMs = ms / 2;
    },
    hold() {
      held ??= [];
    },
    release,
    sever() {
      held = undefined;
      for (const socket of sockets) socket.destroy();
    },
    lose(nth, how) {
      untilLoss = nth;
      loss = how;
    },
    get hasLost() {
      return untilLoss <= 0;
    },
    leadTo(next) {
      target = next;
    },
    async close() {
      release();
      server.close();
      for (const socket of sockets) socket.destroy();
      await once(server, 'close');
    },
  };
}
