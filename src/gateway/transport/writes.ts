import type { Socket } from 'node:net';
import { largeWork } from '../../bytes/turns.js';

/** Less is written at once: it takes a few tenths of a millisecond, and 30 MB take several. */
const LARGE_BYTES = 2_097_152;
const PIECE_BYTES = 262_144;

type Done = (error?: Error | null) => void;
interface Chunk {
  readonly chunk: Buffer | string;
  readonly encoding: BufferEncoding;
}
type WriteOne = (
  this: Socket,
  chunk: Buffer | string,
  encoding: BufferEncoding,
  done: Done,
) => void;
type WriteMany = (this: Socket, chunks: readonly Chunk[], done: Done) => void;

/**
 * Lets a connection hand what is large to the system in pieces, each in its turn. To whoever writes it is still one write, and
 * nothing of the connection's is kept any longer.
 */
export function writeInPieces(socket: Socket): void {
  const { _write: one, _writev: many } = socket as unknown as {
    _write: WriteOne;
    _writev: WriteMany;
  };
  const pieces = (chunks: readonly Buffer[], done: Done): void => {
    const left = piecesOf(chunks);
    let piece = left.next();
    const next = (): void => {
      if (piece.done === true) done();
      else one.call(socket, piece.value, 'buffer' as BufferEncoding, written);
    };
    const written: Done = (error) => {
      piece = left.next();
      if (error !== undefined && error !== null) done(error);
      // That the system has all of it is told at once: a reply that comes before is taken for one to a part of it.
      else if (piece.done !== true && largeWork.isSpent()) largeWork.join(next);
      else next();
    };
    next();
  };
  Object.assign(socket, {
    _write(chunk: Buffer | string, encoding: BufferEncoding, done: Done) {
      if (chunk.length < LARGE_BYTES) one.call(socket, chunk, encoding, done);
      else pieces([bytesOf({ chunk, encoding })], done);
    },
    _writev(chunks: readonly Chunk[], done: Done) {
      let size = 0;
      for (const { chunk } of chunks) size += chunk.length;
      if (size < LARGE_BYTES) many.call(socket, chunks, done);
      else pieces(chunks.map(bytesOf), done);
    },
  });
}

function bytesOf({ chunk, encoding }: Chunk): Buffer {
  return typeof chunk === 'string' ? Buffer.from(chunk, encoding) : chunk;
}

function* piecesOf(chunks: readonly Buffer[]): Generator<Buffer, undefined, undefined> {
  for (const chunk of chunks) {
    for (let at = 0; at < chunk.length; at += PIECE_BYTES) {
      yield chunk.subarray(at, at + PIECE_BYTES);
    }
  }
}
