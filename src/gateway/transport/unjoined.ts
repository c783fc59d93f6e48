/**
 * A body in pieces, of which the long one stays where it lies. The client asks for one buffer: it gets one of the right length, whose
 * memory nobody reads and the system never fills.
 */
let blank = Buffer.alloc(0);
/** It grows by so much. */
const ROUND_BYTES = 1_048_576;

const PIECES = Symbol('pieces');

interface StandIn extends Buffer {
  [PIECES]?: readonly Buffer[];
}

/** What the client is given in place of pieces that are not joined. */
export function standInFor(pieces: readonly Buffer[]): Buffer {
  const [first] = pieces;
  if (first !== undefined && pieces.length === 1) return first;
  const size = pieces.reduce((bytes, { length }) => bytes + length, 0);
  if (size > blank.length) blank = Buffer.alloc(Math.ceil(size / ROUND_BYTES) * ROUND_BYTES);
  const standIn: StandIn = blank.subarray(0, size);
  standIn[PIECES] = pieces;
  return standIn;
}

/** What has to be written in place of a chunk, if it stands for pieces. */
export function piecesBehind(chunk: Uint8Array): readonly Buffer[] | undefined {
  return (chunk as StandIn)[PIECES];
}
