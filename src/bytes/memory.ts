/**
 * Memory for what is large. The engine counts the memory of buffers: past 64 MB, whatever asks for more, be it for the next
 * piece of a body, marks the heap for 5 to 10 ms on the spot, again and again until all is marked. That comes with every
 * second body of 30 MB, which by the rules for young things is old before it has been read, so that nothing else frees
 * it. Shared memory is not counted, and is freed young.
 */

/**
 * Smaller things are freed young in either kind of memory, and are read a little faster where it is not shared. Of those of a
 * megabyte, many grow old while 64 connections wait for each other.
 */
export const UNCOUNTED_BYTES = 524_288;
/** With so much in buffers beside what requests in progress hold, the engine shall count what is added. */
const MOST_UNCOUNTED_BYTES = 256 * 1_048_576;

/** Sizes are rounded up to this, so that what one leaves behind fits the next. */
const ROUND_BYTES = 262_144;
/** How much is kept for those to come, and for how long: the three or four blocks of a request of 30 MB whose documents are returned. */
const MOST_IDLE_BYTES = 128 * 1_048_576;
const IDLE_MS = 2_000;

/** Memory that has been given back. */
const idle = new Set<SharedArrayBuffer>();
let idleBytes = 0;
let forgetting: NodeJS.Timeout | undefined;

export const NO_BYTES = Buffer.alloc(0);

/**
 * A buffer in the hands of its one owner, who gives its memory back when it has had its day. Whoever else may read the buffer
 * holds it until it is certain that it is not read any more, and for good if that is never certain. See "Who owns a buffer" in
 * docs/ARCHITECTURE.md.
 */
export class Owned {
  #bytes: Buffer;
  /** What is given back: absent if the memory is another's, is counted by the engine, or has been given back. */
  #memory: SharedArrayBuffer | undefined;
  #holds = 0;

  private constructor(bytes: Buffer, memory: SharedArrayBuffer | undefined) {
    this.#bytes = bytes;
    this.#memory = memory;
  }

  /** So many bytes with any content, which have their memory to themselves. `inBuffers` tells how many there are in buffers by now. */
  static uncleared(bytes: number, inBuffers = bytesInBuffers): Owned {
    const memory = bytes < UNCOUNTED_BYTES ? undefined : takenFor(bytes, inBuffers);
    return memory === undefined
      ? Owned.lent(Buffer.allocUnsafeSlow(bytes))
      : new Owned(Buffer.from(memory, 0, bytes), memory);
  }

  /** Bytes in memory of others: there is nothing to give back. */
  static lent(bytes: Buffer): Owned {
    return new Owned(bytes, undefined);
  }

  /** Empty once the memory has been given back. */
  get bytes(): Buffer {
    return this.#bytes;
  }

  /** The same with a part of its bytes. */
  narrowed(from: number, to?: number): this {
    this.#bytes = this.#bytes.subarray(from, to);
    return this;
  }

  /** Whether these bytes lie in its memory. */
  includes(bytes: Buffer): boolean {
    return bytes.buffer === this.#memory;
  }

  hold(): void {
    this.#holds += 1;
  }

  release(): void {
    this.#holds -= 1;
  }

  /**
   * Leaves the memory to others, unless someone holds it: then to the collector, which has to mark the whole heap if it has
   * become old. The owner refers to it no more in either case.
   */
  giveBack(): void {
    const memory = this.#memory;
    this.#memory = undefined;
    this.#bytes = NO_BYTES;
    if (memory !== undefined && this.#holds === 0) keepIdle(memory);
  }
}

/** Memory for so many bytes; `undefined` if the engine is to count it. */
function takenFor(bytes: number, inBuffers: () => number): SharedArrayBuffer | undefined {
  for (const block of idle) {
    if (block.byteLength < bytes || block.byteLength > 2 * bytes) continue;
    idle.delete(block);
    idleBytes -= block.byteLength;
    return block;
  }
  if (inBuffers() > MOST_UNCOUNTED_BYTES) return undefined;
  return new SharedArrayBuffer(Math.ceil(bytes / ROUND_BYTES) * ROUND_BYTES);
}

function keepIdle(memory: SharedArrayBuffer): void {
  if (idleBytes + memory.byteLength > MOST_IDLE_BYTES) return;
  idle.add(memory);
  idleBytes += memory.byteLength;
  clearTimeout(forgetting);
  forgetting = setTimeout(() => {
    idle.clear();
    idleBytes = 0;
  }, IDLE_MS).unref();
}

/** Bytes of bodies and replies that requests in progress hold. */
let inRequests = 0;
/** A body may be there three times: as it came, as its upstream gets it, and in the reply. */
const COPIES = 3;

/** Counts what requests in progress hold, and, less than nothing, what they have left. */
export function countInUse(bytes: number): void {
  inRequests += bytes;
}

/** Bytes in buffers that are kept from request to request. */
let kept = 0;

/** Counts what is kept, and, less than nothing, what is no longer. */
export function countKept(bytes: number): void {
  kept += bytes;
}

/** What is needed, or will be, is not there to be collected. */
function bytesInBuffers(): number {
  return process.memoryUsage().arrayBuffers - idleBytes - kept - COPIES * inRequests;
}

/**
 * Copies like `source.copy`, and as fast where memory is shared: there the engine copies byte by byte, and `fill` does not.
 * Returns the number of bytes.
 */
export function copyBytes(
  source: Buffer,
  target: Buffer,
  at: number,
  from = 0,
  to = source.length,
): number {
  // Neither is shared, or it is a small part of something, which may take a little longer.
  if (Math.max(source.length, target.length) < UNCOUNTED_BYTES)
    return source.copy(target, at, from, to);
  const bytes = Math.min(to, source.length) - from;
  if (bytes > 0) target.fill(source.subarray(from, from + bytes), at, at + bytes);
  return bytes;
}
