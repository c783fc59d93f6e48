import type { OnReadOpts, Socket } from 'node:net';

/** As much as Node would read at once. */
const READ_BYTES = 65_536;
/** Reads from this size on are handed on in the memory that they were made into. */
const LARGE_BYTES = 32_768;

/** All connections read into this: the system asks for memory right before it reads, and what came is copied at once. */
const shared = Buffer.allocUnsafeSlow(READ_BYTES);

/**
 * What a plain connection to an upstream reads. By itself Node would take 64 kB of fresh memory for each read, however few bytes
 * come, and queue these, tell of them a turn later and look after the queue. Here they are handed to the client when they
 * come; what it does not take then goes the usual way, which also slows down the other side.
 */
export class Intake {
  #socket: Socket | undefined;
  /** What the client is being told of. */
  #offered: Buffer | null = null;
  #memory = shared;

  /** How the connection is to be read: an option of its making. */
  readonly onread: OnReadOpts = {
    buffer: () => this.#memory,
    callback: (bytes) => this.#take(bytes),
  };

  /** Begins to hand over, once there is a connection and before anything is read from it. */
  serve(socket: Socket): void {
    this.#socket = socket;
    const read = socket.read.bind(socket) as (size?: number) => Buffer | null;
    socket.read = (size?: number): Buffer | null => this.#takeOffered() ?? read(size);
  }

  /** Returns whether to go on reading. */
  #take(bytes: number): boolean {
    const chunk = this.#keep(bytes);
    const socket = this.#socket;
    if (socket === undefined) throw new Error('nothing is read before there is a connection');
    // What came before it has not been taken yet.
    if (socket.readableLength > 0) return socket.push(chunk);
    this.#offered = chunk;
    socket.emit('readable');
    const left = this.#takeOffered();
    return left === null || socket.push(left);
  }

  #takeOffered(): Buffer | null {
    const offered = this.#offered;
    this.#offered = null;
    return offered;
  }

  /** The bytes that were read, in memory of their own. */
  #keep(bytes: number): Buffer {
    const memory = this.#memory;
    const isLarge = bytes >= LARGE_BYTES;
    this.#memory = isLarge ? Buffer.allocUnsafeSlow(READ_BYTES) : shared;
    return isLarge && memory !== shared ? memory.subarray(0, bytes) : copyOf(memory, bytes);
  }
}

const SLAB_BYTES = 65_536;
/** Larger copies get memory of their own. */
const MOST_OF_SLAB = 16_384;

/** Replies lie side by side: memory of its own for each would cost more than copying it. */
let slab = Buffer.allocUnsafeSlow(SLAB_BYTES);
let used = 0;

function copyOf(memory: Buffer, bytes: number): Buffer {
  let copy: Buffer;
  if (bytes > MOST_OF_SLAB) copy = Buffer.allocUnsafeSlow(bytes);
  else {
    if (used + bytes > SLAB_BYTES) {
      slab = Buffer.allocUnsafeSlow(SLAB_BYTES);
      used = 0;
    }
    copy = slab.subarray(used, used + bytes);
    used += bytes;
  }
  memory.copy(copy, 0, 0, bytes);
  return copy;
}
