import { JsonFragment } from './fragment.js';
import { STEP_BYTES, type Paced } from './pace.js';

/** Numbers for each part: where it starts and ends in the texts, and in the body. */
const PART = 4;
/** Up to this length, a byte at a time is faster. */
const SHORT_BYTES = 96;

/** JSON that is put together from parts of a body, each behind a text. */
export class Woven {
  readonly #body: Buffer;
  #numbers: Uint32Array;
  #count = 0;
  #size = 0;
  #text = '';
  #bytes = 0;

  /** @param parts how many there will be, about. */
  constructor(body: Buffer, parts: number) {
    this.#body = body;
    this.#numbers = new Uint32Array((parts + 1) * PART);
  }

  /** How many bytes it has so far. */
  get size(): number {
    return this.#size;
  }

  /** Keeps a text that comes before several parts. */
  keep(text: string): Kept {
    const start = this.#bytes;
    this.#text += text;
    this.#bytes += Buffer.byteLength(text);
    return { start, end: this.#bytes };
  }

  /** Adds the bytes of the body from `start` to `end` behind a text. */
  add(before: Kept | string, start: number, end: number): void {
    const kept = typeof before === 'string' ? this.keep(before) : before;
    const at = this.#count * PART;
    if (at === this.#numbers.length) {
      const grown = new Uint32Array(2 * at);
      grown.set(this.#numbers);
      this.#numbers = grown;
    }
    const numbers = this.#numbers;
    numbers[at] = kept.start;
    numbers[at + 1] = kept.end;
    numbers[at + 2] = start;
    numbers[at + 3] = end;
    this.#count += 1;
    this.#size += kept.end - kept.start + end - start;
  }

  /** Adds a text. */
  addText(text: Kept | string): void {
    this.add(text, 0, 0);
  }

  /** The whole, which is copied when it is written. */
  fragment(): JsonFragment {
    const texts = Buffer.from(this.#text);
    return new JsonFragment({
      size: this.#size,
      copying: (target, at) => this.#copying(texts, target, at),
    });
  }

  *#copying(texts: Buffer, target: Buffer, start: number): Paced {
    const [body, numbers] = [this.#body, this.#numbers];
    let at = start;
    let paused = start;
    for (let part = 0; part < this.#count * PART; part += PART) {
      at += copyTo(target, at, texts, numbers[part] ?? 0, numbers[part + 1] ?? 0);
      const end = numbers[part + 3] ?? 0;
      for (let from = numbers[part + 2] ?? 0; from < end; from += STEP_BYTES) {
        at += copyTo(target, at, body, from, Math.min(end, from + STEP_BYTES));
        if (at - paused < STEP_BYTES) continue;
        paused = at;
        yield;
      }
    }
  }
}

/** Where a text is that was kept. */
export interface Kept {
  readonly start: number;
  readonly end: number;
}

/** Copies a part of `source` to `at` in `target`, and returns how many bytes that are. */
function copyTo(target: Buffer, at: number, source: Buffer, from: number, to: number): number {
  if (to - from > SHORT_BYTES) return source.copy(target, at, from, to);
  const shift = at - from;
  for (let index = from; index < to; index += 1) target[index + shift] = source[index] ?? 0;
  return to - from;
}
