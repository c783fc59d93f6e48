import type { Steps } from '../steps.js';
import { ROW, type FoundList } from './scanner.js';

const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const COMMA = 0x2c;
const QUOTE = 0x22;

/** Of the elements together. Beside their texts, they are rarely larger than an id and a title. */
const MOST_BYTES = 4_194_304;
/** How much is parsed in one go. */
const BATCH_BYTES = 65_536;
/** A comma, an empty text, and the bracket behind the last one. */
const GLUE_BYTES = 4;

/**
 * The elements of a list, each without its text, which reads as an empty string; `undefined` if that would be many
 * megabytes.
 */
export function* othersOf(body: Buffer, { rows }: FoundList): Steps<unknown[] | undefined> {
  if (bytesOf(rows) > MOST_BYTES) return undefined;
  const batch = Buffer.allocUnsafe(BATCH_BYTES);
  const others: unknown[] = [];
  let filled = 0;
  for (let row = 0; row < rows.length; row += ROW) {
    const [start = 0, end = 0, textStart = 0, textEnd = 0] = rows.subarray(row, row + ROW);
    const size = end - start - (textEnd - textStart) + GLUE_BYTES;
    if (size >= BATCH_BYTES) return undefined;
    if (filled + size > BATCH_BYTES) {
      parseBatch(batch, filled, others);
      filled = 0;
      yield;
    }
    batch[filled] = filled === 0 ? OPEN_BRACKET : COMMA;
    filled += 1;
    filled += body.copy(batch, filled, start, textStart);
    batch.fill(QUOTE, filled, filled + 2);
    filled += 2;
    filled += body.copy(batch, filled, textEnd, end);
  }
  if (filled > 0) parseBatch(batch, filled, others);
  return others;
}

function parseBatch(batch: Buffer, filled: number, others: unknown[]): void {
  batch[filled] = CLOSE_BRACKET;
  const elements = JSON.parse(batch.toString('utf8', 0, filled + 1)) as unknown[];
  for (const element of elements) others.push(element);
}

/** Of all elements, without their texts. */
function bytesOf(rows: Uint32Array): number {
  let bytes = 0;
  for (let row = 0; row < rows.length; row += ROW) {
    bytes += (rows[row + 1] ?? 0) - (rows[row] ?? 0);
    bytes -= (rows[row + 3] ?? 0) - (rows[row + 2] ?? 0);
  }
  return bytes;
}
