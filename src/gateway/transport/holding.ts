import type { Socket } from 'node:net';

/** What a connection to an upstream brings, which can be made to wait. */
export interface Flow {
  readonly isHeld: boolean;
  readonly pause: () => void;
  readonly resume: () => void;
  /** The same from within a read, which must end first. */
  readonly resumeSoon: () => void;
}

const flows = new WeakMap<Socket, Flow>();

/**
 * Makes it possible to hold back what a connection brings. The client's own pause cannot be relied on: it has no answer to a
 * connection whose other side ends it meanwhile, which is how a reply without a length ends. Here the client knows nothing
 * of it: there is nothing to read, and no end either, until reading goes on.
 */
export function readWhileNotHeld(socket: Socket): void {
  const read = socket.read.bind(socket) as (size?: number) => Buffer | null;
  let isHeld = false;
  socket.read = (size?: number): Buffer | null => (isHeld ? null : read(size));
  const flow: Flow = {
    get isHeld() {
      return isHeld;
    },
    pause() {
      isHeld = true;
    },
    resume() {
      if (!isHeld) return;
      isHeld = false;
      socket.emit('readable');
    },
    resumeSoon() {
      if (isHeld) process.nextTick(flow.resume);
    },
  };
  flows.set(socket, flow);
  const destroy = socket.destroy.bind(socket);
  socket.destroy = (error?: Error): Socket => {
    // What breaks a connection has come behind what is held back.
    if (isOfReading(error) && socket.readableLength > 0) flow.resume();
    return destroy(error);
  };
}

function isOfReading(error: Error | undefined): boolean {
  return (error as NodeJS.ErrnoException | undefined)?.syscall === 'read';
}

export function flowOf(socket: Socket): Flow | undefined {
  return flows.get(socket);
}
