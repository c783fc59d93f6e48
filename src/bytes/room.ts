import { copyBytes, Owned } from './memory.js';
import { inSteps, Pace, type Steps } from './steps.js';
import { nextTurn } from './turns.js';

/**
 * Text that arrives with room around it, so that whatever it becomes part of can be written around it in place. A megabyte
 * is thus passed on without a second megabyte. The room of a text is used only once: a second use has to copy.
 */

/** Bytes on either side. What is sent around the documents, above all the query, is rarely longer. */
const ROOM_BYTES = 1_024;

/** Memory whose room nobody has used yet, and who has it: what has been given back has no room. */
const unused = new WeakMap<object, Owned>();

/** An empty buffer with room around it. */
export function bufferWithRoom(bytes: number): Owned {
  const all = Owned.uncleared(bytes + 2 * ROOM_BYTES);
  unused.set(all.bytes.buffer, all);
  return all.narrowed(ROOM_BYTES, ROOM_BYTES + bytes);
}

/** The pieces joined, with room around them. */
export function joinWithRoom(pieces: readonly Buffer[], bytes: number): Owned {
  const joined = bufferWithRoom(bytes);
  let at = 0;
  for (const piece of pieces) at += copyBytes(piece, joined.bytes, at);
  return joined;
}

/** How much is joined in one step. */
const STEP_BYTES = 262_144;

/** The same for what would hold up others. To ask for much memory may set off a collection, so that is a step by itself. */
function* joiningWithRoom(pieces: readonly Buffer[], bytes: number): Steps<Owned> {
  const pace = new Pace(STEP_BYTES);
  yield;
  const joined = bufferWithRoom(bytes);
  yield;
  let at = 0;
  for (const piece of pieces) {
    at += copyBytes(piece, joined.bytes, at);
    if (pace.fills(piece.length)) yield;
  }
  return joined;
}

/** More is joined in steps. */
const AT_ONCE_BYTES = 1_048_576;

/** Either, as the size demands: for pieces of a body whose length was not known before. */
export function joinedWithRoom(pieces: readonly Buffer[], bytes: number): Owned | Promise<Owned> {
  if (bytes <= AT_ONCE_BYTES) return joinWithRoom(pieces, bytes);
  return inSteps(joiningWithRoom(pieces.slice(), bytes), nextTurn);
}

/**
 * `text` with `before` and `after` written around it, over the bytes there; `undefined` if there is no room, or no longer
 * any. Afterwards, whatever contained `text` must not be read outside of it.
 */
export function writeAround(text: Buffer, before: string, after: string): Buffer | undefined {
  const { buffer, byteOffset } = text;
  if (unused.get(buffer)?.bytes.buffer !== buffer) return undefined;
  const start = byteOffset - Buffer.byteLength(before);
  const end = byteOffset + text.length;
  const size = end + Buffer.byteLength(after) - start;
  if (start < 0 || start + size > buffer.byteLength) return undefined;
  unused.delete(buffer);
  const whole = Buffer.from(buffer, start, size);
  whole.write(before, 0);
  whole.write(after, end - start);
  return whole;
}
