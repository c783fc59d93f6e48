/** How much of a text is decoded in one go. */
export const PIECE_BYTES = 65_536;

/** The most that one UTF-16 unit takes as JSON: an escape. */
export const MOST_BYTES = 6;
const BACKSLASH = 0x5c;
const LETTER_U = 0x75;

/** The text of a JSON string, piece by piece. */
export function* stringPieces(raw: Buffer): Generator<string> {
  for (let at = 1; at < raw.length - 1;) {
    const end = partedAt(raw, at, at + PIECE_BYTES);
    yield decoded(raw, at, end);
    at = end;
  }
}

export function decoded(raw: Buffer, start: number, end: number): string {
  return JSON.parse(`"${raw.toString('utf8', start, end)}"`) as string;
}

/**
 * Where a JSON string may be split, at `most` or a little before it: between characters and escapes, or at its end.
 * `from` is such a place, some bytes before.
 */
export function partedAt(raw: Buffer, from: number, most: number): number {
  const last = raw.length - 1;
  if (most >= last) return last;
  let end = most;
  while (((raw[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  const near = Math.max(from, end - MOST_BYTES);
  const slash = near + raw.subarray(near, end).lastIndexOf(BACKSLASH);
  if (slash < near) return end;
  let first = slash;
  while (first > from && raw[first - 1] === BACKSLASH) first -= 1;
  // In a run of backslashes, every second one is escaped by the one before it.
  const opens = (slash - first) % 2 === 0;
  const length = raw[slash + 1] === LETTER_U ? MOST_BYTES : 2;
  return opens && slash + length > end ? slash : end;
}
