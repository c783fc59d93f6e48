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

/** A buffer with any content, which has its memory to itself. `inBuffers` tells how many bytes there are in buffers by now. */
export function uncleared(bytes: number, inBuffers = bytesInBuffers): Buffer {
  if (bytes < UNCOUNTED_BYTES) return Buffer.allocUnsafeSlow(bytes);
  for (const block of idle) {
    if (block.byteLength < bytes || block.byteLength > 2 * bytes) continue;
    idle.delete(block);
    idleBytes -= block.byteLength;
    return Buffer.from(block, 0, bytes);
  }
  if (inBuffers() > MOST_UNCOUNTED_BYTES) return Buffer.allocUnsafeSlow(bytes);
  const rounded = Math.ceil(bytes / ROUND_BYTES) * ROUND_BYTES;
  return Buffer.from(new SharedArrayBuffer(rounded), 0, bytes);
}

/**
 * Gives the memory of a buffer back for others to use, where it is certain that nobody reads it any more. Otherwise it would
 * wait for a collection, which marks the whole heap if the buffer has become old.
 */
export function giveBack({ buffer }: Buffer): void {
  if (!(buffer instanceof SharedArrayBuffer) || idle.has(buffer)) return;
  if (idleBytes + buffer.byteLength > MOST_IDLE_BYTES) return;
  idle.add(buffer);
  idleBytes += buffer.byteLength;
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

/** What is needed, or will be, is not there to be collected. */
function bytesInBuffers(): number {
  return process.memoryUsage().arrayBuffers - idleBytes - COPIES * inRequests;
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
