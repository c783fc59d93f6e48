import type { Socket } from 'node:net';
import { piecesBehind } from './unjoined.js';

/** Who has a request written: it is told where it goes, and when all of it has been handed over. */
export interface Sender {
  writingTo(connection: Socket): void;
  written(): void;
}

/** Whose request is written next: the client names no connection when it begins one, and writes it in the same go. */
let sender: Sender | undefined;

export function writesNext(next: Sender): void {
  sender = next;
}

type Write = (chunk: string | Uint8Array, encoding?: BufferEncoding) => boolean;

/** Tells the sender of what is written to a connection. Channels of diagnostics would tell it too, at a multiple of the cost. */
export function watchWrites(socket: Socket): void {
  const write = socket.write.bind(socket) as Write;
  const uncork = socket.uncork.bind(socket);
  const written = (): void => {
    const told = sender;
    sender = undefined;
    told?.written();
  };
  const writeEach = (pieces: readonly Buffer[]): boolean =>
    pieces.reduce((_taken, piece) => write(piece), true);
  const watched: Write = (chunk, encoding) => {
    sender?.writingTo(socket);
    const pieces = typeof chunk === 'string' ? undefined : piecesBehind(chunk);
    const taken = pieces === undefined ? write(chunk, encoding) : writeEach(pieces);
    // A head with a body behind it is written between `cork` and `uncork`.
    if (socket.writableCorked === 0) written();
    return taken;
  };
  socket.write = watched as Socket['write'];
  socket.uncork = () => {
    uncork();
    written();
  };
}

/**
 * Closes a connection whose request is answered before all of it has left: the next one would wait behind the rest, for good
 * if the other side has stopped reading. To be called when the reply is over: the client uses the connection again a turn later.
 */
export function closeUnlessWritten(socket: Socket): void {
  if (socket.writableLength === 0) return;
  // The system may have had all that was encrypted for a moment before that is told.
  setImmediate(() => {
    if (socket.writableLength > 0) socket.destroy();
  });
}
