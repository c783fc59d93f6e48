import type { Socket } from 'node:net';
import { systemCode } from '../../core/errors.js';

type Done = (error?: Error | null) => void;
type WriteOne = (this: Socket, chunk: unknown, encoding: BufferEncoding, done: Done) => void;
type WriteMany = (this: Socket, chunks: unknown, done: Done) => void;

const failed = new WeakSet<Socket>();

/** Whether something written to a connection did not get through. */
export function hasFailedWrites(socket: Socket): boolean {
  return failed.has(socket);
}

/**
 * Reads a connection that the other side has closed to its end, whatever is still being written. A server that does not want
 * all of a request says so and closes; a write that fails then would end the connection, and its answer would be lost, which
 * has arrived. Reading ends it: nothing more can come.
 */
export function readDespiteFailedWrites(socket: Socket): void {
  const { _write: one, _writev: many } = socket as unknown as {
    _write: WriteOne;
    _writev: WriteMany;
  };
  // A connection has one write at a time.
  let tell: Done;
  const done: Done = (error) => {
    const code = systemCode(error);
    if (code === 'EPIPE' || code === 'ECONNRESET') failed.add(socket);
    else tell(error);
  };
  Object.assign(socket, {
    _write(chunk: unknown, encoding: BufferEncoding, told: Done) {
      tell = told;
      one.call(socket, chunk, encoding, done);
    },
    _writev(chunks: unknown, told: Done) {
      tell = told;
      many.call(socket, chunks, done);
    },
  });
}
