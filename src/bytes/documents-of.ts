import type { DocumentPart, Documents } from './documents.js';
import { Listed, MEANT, SOURCE, TEXT, type Range } from './listed.js';
import { ROW } from './scanner.js';

/** A body with a list of the name, in which documents lie as they were sent. */
export interface SentValues {
  readonly bytes: Buffer;
  /** For each, where it starts and ends. */
  readonly ranges: Uint32Array;
}

/**
 * Documents from values: what is ranked is written as JSON, and what was sent too, unless it is known where that lies: its numbers
 * might not survive.
 */
export function documentsOf(parts: readonly DocumentPart[], sent?: SentValues): Documents {
  const rows = new Uint32Array(parts.length * ROW);
  const pieces: Buffer[] = [];
  let end = 0;
  const write = (json: string | Buffer): Range => {
    const piece = Buffer.from(json);
    pieces.push(piece);
    end += piece.length;
    return [end - piece.length, end];
  };
  const images = new Map<number, Buffer>();
  const lone = new Set<number>();
  const blanks: number[] = [];
  write('[');
  for (const [index, { text, image }] of parts.entries()) {
    if (index > 0) write(',');
    rows.set(write(JSON.stringify((text ?? '').toWellFormed())), index * ROW + TEXT);
    rows[index * ROW + MEANT] = Buffer.byteLength(text ?? '');
    if ((text ?? '').trim() === '') blanks.push(index);
    if (image === undefined) continue;
    images.set(index, Buffer.from(JSON.stringify(image.toWellFormed())));
    if (text === undefined) lone.add(index);
  }
  const [, textsEnd] = write(']');
  for (const [index, { text, source }] of parts.entries()) {
    const row = index * ROW;
    const isText = source === text && text?.isWellFormed() === true;
    if (sent !== undefined) rows.set(sent.ranges.subarray(2 * index, 2 * index + 2), row);
    else if (isText) rows.copyWithin(row + SOURCE, row + TEXT, row + TEXT + 2);
    else rows.set(write(JSON.stringify(source)), row);
  }
  const ranked = Buffer.concat(pieces);
  return new Listed({
    ...{ bytes: sent?.bytes ?? ranked, ranked, rows, blanks, lone },
    ...{ textsAt: [0, textsEnd], images: images.size === 0 ? undefined : images },
  });
}
