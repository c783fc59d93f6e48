import type { Documents } from './documents.js';
import { NO_PLACE } from './fields.js';
import { Listed, type Places } from './listed.js';
import { FIELD, ROW, type FoundList } from './scanner.js';

const QUOTE = 0x22;

/**
 * Documents, some of them images or with one; `undefined` if an element is neither a text nor an image.
 * @param blanks of the texts that there are.
 */
export function imageDocuments(
  body: Buffer,
  { rows: found, width, halves }: FoundList,
  blanks: readonly number[],
): Documents | undefined {
  const rows = new Uint32Array((found.length / width) * ROW);
  const images = new Map<number, Buffer>();
  const lone = new Set<number>();
  const changed = new Map<number, Buffer>();
  for (let at = 0, row = 0; at < found.length; at += width, row += ROW) {
    const isAlone = body[found[at] ?? 0] === QUOTE;
    const text = isAlone ? at + 2 : at + ROW;
    const [from = 0, to = 0] = found.subarray(at + ROW + FIELD, at + ROW + FIELD + 2);
    const isImage = body[from] === QUOTE && to - from > NO_TEXT.length && from !== NO_PLACE;
    const hasText = found[text] !== NO_PLACE;
    if (hasText ? body[found[text] ?? 0] !== QUOTE : !isImage) return undefined;
    rows.set(found.subarray(at, at + 2), row);
    rows.set(found.subarray(text, text + 3), row + 2);
    if (isImage) images.set(row / ROW, body.subarray(from, to));
    if (hasText) continue;
    lone.add(row / ROW);
    changed.set(row / ROW, NO_TEXT);
  }
  const all = [...blanks, ...lone].sort((one, other) => one - other);
  const places: Places = { bytes: body, ranked: withoutHalves(body, halves), rows, blanks: all };
  return new Listed(lone.size === 0 ? { ...places, images } : { ...places, images, lone, changed });
}

const NO_TEXT = Buffer.from('""');

/** The digits of the escape that replaces half of a surrogate pair. */
const REPLACED = 'fffd';

const HEAD_BYTES = 2;

/**
 * The same bytes without halves of surrogate pairs that came without the other half, escaped: no upstream need understand them.
 * Each becomes an escape of the same length, in a copy: the caller sees what it sent.
 */
export function withoutHalves(body: Buffer, places: Uint32Array): Buffer {
  if (places.length === 0) return body;
  const copy = Buffer.from(body);
  for (const place of places) copy.write(REPLACED, place + HEAD_BYTES, 'latin1');
  return copy;
}
