import { Pace } from './steps.js';
import { joinInSteps } from './encode.js';
import { ROW, Walk } from './scanner.js';
import { partedAt } from './text-pieces.js';

/** Strings from this length on are left out. */
const LONG_BYTES = 512;
/** How much is walked over in one step. */
const STEP_BYTES = 262_144;
/** What it takes to leave a string out, in units of a step. */
const STRING_UNITS = 100;
/** By its beginning it may be a number written as a string, whose every digit counts. */
const NUMERIC = /^[\d\s.+e-]*$/i;
const BEGINNING_BYTES = 64;

/**
 * A reply without the texts that its rows have beside their numbers, such as the documents that some upstreams return: long
 * strings in arrays become empty ones. Parsed, they would be megabytes on the heap that nobody looks at. Text that is not JSON,
 * or deeply nested, stays as it is.
 * @param keptBytes how much is kept of each: nothing but quotes, or a beginning of about so many bytes.
 */
export async function withoutLongStrings(
  text: Buffer,
  pause: () => Promise<void>,
  keptBytes = 0,
): Promise<Buffer> {
  const rows = await longStrings(text, LONG_BYTES + keptBytes, pause);
  const kept: Buffer[] = [];
  const pace = new Pace();
  let size = 0;
  let from = 0;
  const keep = (until: number): void => {
    kept.push(text.subarray(from, until));
    size += until - from;
  };
  for (let row = 0; row < rows.length; row += ROW) {
    const [start = 0, end = 0] = rows.subarray(row, row + ROW);
    if (pace.fills(STRING_UNITS)) await pause();
    if (mayBeNumber(text, start + 1)) continue;
    keep(keptBytes === 0 ? start + 1 : partedAt(text, start + 1, start + 1 + keptBytes));
    from = end - 1;
  }
  if (from === 0) return text;
  keep(text.length);
  return (await joinInSteps(kept, size, pause)).bytes;
}

async function longStrings(
  text: Buffer,
  leastBytes: number,
  pause: () => Promise<void>,
): Promise<Uint32Array> {
  const walk = Walk.forLongStrings(text, leastBytes);
  try {
    while (!walk.go(STEP_BYTES)) await pause();
  } finally {
    walk.end();
  }
  return walk.longStrings;
}

function mayBeNumber(text: Buffer, start: number): boolean {
  return NUMERIC.test(text.toString('latin1', start, start + BEGINNING_BYTES));
}
