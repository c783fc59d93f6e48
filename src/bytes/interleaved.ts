import { copyPiece } from './document-json.js';
import type { LoneHalves } from './halves.js';
import { JsonFragment } from './fragment.js';
import { bufferWithRoom } from './room.js';
import { PART, weaver, type Parts } from './weaver.js';
import { copyBytes } from './memory.js';
import { Pace, type Steps } from './steps.js';

/** Where a text lies that has been kept. */
export interface Kept {
  readonly start: number;
  readonly end: number;
}

/** How much is copied in one go. */
const COPY_BYTES = 262_144;

/** A text that is put together from parts of a body, each behind a text of its own, or one that is kept for several. */
export class Interleaved {
  /** How many bytes it has. */
  size = 0;
  readonly #body: Buffer;
  #numbers: Uint32Array;
  #count = 0;
  /** What is kept, and how long that is in UTF-8. */
  #text = '';
  #bytes = 0;

  /** @param parts how many there will be, about. */
  constructor(body: Buffer, parts: number) {
    this.#body = body;
    this.#numbers = new Uint32Array(parts * PART);
  }

  /** Keeps a text for parts to come. */
  keep(text: string): Kept {
    const start = this.#bytes;
    this.#keep(text, Buffer.byteLength(text));
    return { start, end: this.#bytes };
  }

  /** Adds the part of the body from `start` to `end`, which may be nothing, behind a text that was kept. */
  add(before: Kept, start: number, end: number): void {
    this.#add(before.start, before.end, start, end);
  }

  /**
   * The same behind a text of its own.
   * @param bytes how long that is, if it is known: to ask takes longer than all else about a part.
   */
  addBehind(before: string, start: number, end: number, bytes = Buffer.byteLength(before)): void {
    const from = this.#bytes;
    this.#keep(before, bytes);
    this.#add(from, this.#bytes, start, end);
  }

  /** Adds a text. */
  addText(text: string): void {
    this.addBehind(text, 0, 0);
  }

  /**
   * The whole, copied when it is written.
   * @param replaced what has been replaced in the body, and is put back here.
   */
  fragment(replaced?: LoneHalves): JsonFragment {
    const parts = this.#parts(replaced);
    const woven = weaver().gather(parts);
    if (woven !== undefined) return new JsonFragment(woven, true);
    return new JsonFragment({
      size: parts.size,
      iterate: () => piecesOf(parts),
      copy: (target: Buffer, at: number) => {
        copyParts(parts, target, at);
      },
    });
  }

  /** The whole with room around it. */
  *write(): Steps<Buffer> {
    const parts = this.#parts();
    const woven = weaver().gather(parts);
    if (woven !== undefined) return woven;
    const { body, around, numbers } = parts;
    const whole = bufferWithRoom(parts.size).bytes;
    const pace = new Pace();
    let written = 0;
    for (let at = 0; at < numbers.length; at += PART) {
      written += copyPiece(around, numbers[at] ?? 0, numbers[at + 1] ?? 0, whole, written);
      const end = numbers[at + 3] ?? 0;
      for (let from = numbers[at + 2] ?? 0; from < end; from += COPY_BYTES) {
        const bytes = copyPiece(body, from, Math.min(end, from + COPY_BYTES), whole, written);
        written += bytes;
        if (pace.fills(bytes)) yield;
      }
    }
    return whole;
  }

  #keep(text: string, bytes: number): void {
    this.#text += text;
    this.#bytes += bytes;
  }

  #add(from: number, to: number, start: number, end: number): void {
    const at = this.#count * PART;
    if (at === this.#numbers.length) {
      const grown = new Uint32Array(Math.max(64, 2 * at));
      grown.set(this.#numbers);
      this.#numbers = grown;
    }
    const numbers = this.#numbers;
    numbers[at] = from;
    numbers[at + 1] = to;
    numbers[at + 2] = start;
    numbers[at + 3] = end;
    this.#count += 1;
    this.size += to - from + end - start;
  }

  #parts(replaced?: LoneHalves): Parts {
    return {
      body: this.#body,
      around: Buffer.from(this.#text),
      numbers: this.#numbers.subarray(0, this.#count * PART),
      size: this.size,
      replaced,
    };
  }
}

function* piecesOf({ body, around, numbers, replaced }: Parts): Iterable<Buffer> {
  for (let at = 0; at < numbers.length; at += PART) {
    const [from = 0, to = 0, start = 0, end = 0] = numbers.subarray(at, at + PART);
    if (to > from) yield around.subarray(from, to);
    if (end === start) continue;
    if (replaced === undefined) yield body.subarray(start, end);
    else yield* replaced.originals(body, start, end);
  }
}

function copyParts({ body, around, numbers, replaced }: Parts, target: Buffer, to: number): void {
  let end = to;
  for (let at = 0; at < numbers.length; at += PART) {
    end += copyPiece(around, numbers[at] ?? 0, numbers[at + 1] ?? 0, target, end);
    const start = numbers[at + 2] ?? 0;
    const begun = end;
    end += copyBytes(body, target, end, start, numbers[at + 3]);
    replaced?.putBack(target, begun, start, numbers[at + 3] ?? 0);
  }
}
