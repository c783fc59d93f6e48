import { copyBytes } from './memory.js';
import { writeAround } from './room.js';

/** A short JSON text that is known to be valid and is written as it stands. */
export class JsonText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** JSON text in pieces, in order. */
export interface JsonPieces {
  readonly size: number;
  readonly copy: (target: Buffer, start: number) => void;
  readonly iterate: () => Iterable<Buffer>;
}

/** JSON text that is known to be valid and is written as it stands: documents are spliced in, never copied by value. */
export class JsonFragment {
  readonly size: number;
  readonly #pieces: JsonPieces | undefined;
  readonly #isLast: boolean;
  #bytes: Buffer | undefined;

  /** @param isLast whether the bytes around it are no longer needed and may be overwritten. */
  constructor(text: Buffer | JsonPieces, isLast = false) {
    this.#isLast = isLast;
    if (Buffer.isBuffer(text)) {
      this.#bytes = text;
      this.size = text.length;
    } else {
      this.#pieces = text;
      this.size = text.size;
    }
  }

  /** The whole text, if it need not be joined. */
  get lying(): Buffer | undefined {
    return this.#bytes;
  }

  /** The whole text; joined when first asked for. */
  get bytes(): Buffer {
    if (this.#bytes === undefined) {
      const joined = Buffer.allocUnsafe(this.size);
      this.copy(joined, 0);
      this.#bytes = joined;
    }
    return this.#bytes;
  }

  /** The text with `before` and `after` written around it in place; `undefined` if that is not allowed or not possible. */
  within(before: string, after: string): Buffer | undefined {
    return this.#isLast && this.#bytes !== undefined
      ? writeAround(this.#bytes, before, after)
      : undefined;
  }

  /** Writes it into `target`; returns the number of bytes. */
  copy(target: Buffer, start: number): number {
    if (this.#bytes !== undefined) return copyBytes(this.#bytes, target, start);
    this.#pieces?.copy(target, start);
    return this.size;
  }

  toString(): string {
    return this.bytes.toString('utf8');
  }

  pieces(): Iterable<Buffer> {
    return this.#bytes === undefined && this.#pieces !== undefined
      ? this.#pieces.iterate()
      : [this.bytes];
  }
}

/** An array whose elements are made as they are written: in steps, if it is written in steps. */
export class MadeList {
  readonly count: number;
  readonly elementAt: (index: number) => JsonBody;

  constructor(count: number, elementAt: (index: number) => JsonBody) {
    this.count = count;
    this.elementAt = elementAt;
  }
}

/**
 * What a converter may return as a body: plain JSON with fragments anywhere. Undefined members are left out, and halves of
 * surrogate pairs in strings are replaced.
 */
export type JsonBody =
  | string
  | number
  | boolean
  | null
  | undefined
  | JsonFragment
  | JsonText
  | MadeList
  | readonly JsonBody[]
  | { readonly [name: string]: JsonBody };
