/** The most that one UTF-16 unit takes as JSON: an escape. */
const MOST_BYTES = 6;
const BACKSLASH = 0x5c;
const LETTER_U = 0x75;

/** The text of a JSON string, or its beginning: at least so many UTF-16 units of it. */
export function textOf(json: Buffer, units = Infinity): string {
  const most = MOST_BYTES * (units + 2);
  if (json.length <= most) return JSON.parse(json.toString('utf8')) as string;
  return JSON.parse(`"${json.toString('utf8', 1, partedAt(json, 1 + most))}"`) as string;
}

/** Where a JSON string may be split, at `most` or a little before it: between characters and escapes, or at its end. */
export function partedAt(json: Buffer, most: number, from = 1): number {
  const last = json.length - 1;
  if (most >= last) return last;
  let end = most;
  while (((json[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  const near = Math.max(from, end - MOST_BYTES);
  const slash = near + json.subarray(near, end).lastIndexOf(BACKSLASH);
  if (slash < near) return end;
  let first = slash;
  while (first > from && json[first - 1] === BACKSLASH) first -= 1;
  // In a run of backslashes, every second one is escaped by the one before it.
  const opens = (slash - first) % 2 === 0;
  const length = json[slash + 1] === LETTER_U ? MOST_BYTES : 2;
  return opens && slash + length > end ? slash : end;
}
