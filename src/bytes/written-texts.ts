import { NO_BYTES, Owned } from './memory.js';

/** So much lies in buffers of its own, as for the few short texts of most requests. */
const APART_BYTES = 65_536;
/** The least for which the engine does not count the memory. */
const BLOCK_BYTES = 524_288;
/** UTF-8 bytes of a UTF-16 unit, at most. */
const MOST_UNIT_BYTES = 3;

/** A text as JSON, and how many bytes of UTF-8 it has by itself. */
export interface WrittenText {
  readonly json: Buffer;
  readonly meantBytes: number;
}

/**
 * Texts written as JSON. Where there are many, they lie behind one another in memory that the engine does not count: buffers of
 * their own would make it collect all that is old, which takes the longer the more of them there are.
 */
export class WrittenTexts {
  #apartBytes = 0;
  #block: Buffer = NO_BYTES;
  /** Of the block. */
  #filled = 0;
  readonly #blocks: Owned[] = [];

  /** The JSON of a text; halves of surrogate pairs are replaced. */
  add(text: string): Buffer {
    const json = JSON.stringify(text.toWellFormed());
    if (this.#apartBytes < APART_BYTES) {
      const apart = Buffer.from(json);
      this.#apartBytes += apart.length;
      return apart;
    }
    const left = this.#block.length - this.#filled;
    if (MOST_UNIT_BYTES * json.length > left) this.#ensure(Buffer.byteLength(json), left);
    const start = this.#filled;
    this.#filled += this.#block.write(json, start);
    return this.#block.subarray(start, this.#filled);
  }

  /** The same, and how long the text is. */
  addMeant(text: string): WrittenText {
    return { json: this.add(text), meantBytes: Buffer.byteLength(text) };
  }

  /** Leaves the memory to others, where nobody reads what was added any more. */
  giveBack(): void {
    for (const block of this.#blocks.splice(0)) block.giveBack();
    this.#block = NO_BYTES;
    this.#filled = 0;
  }

  #ensure(bytes: number, left: number): void {
    if (bytes <= left) return;
    const block = Owned.uncleared(Math.max(bytes, BLOCK_BYTES));
    this.#blocks.push(block);
    this.#block = block.bytes;
    this.#filled = 0;
  }
}

/** New texts of documents, by index, as JSON. */
export class NewTexts {
  readonly #written = new WrittenTexts();
  readonly #texts = new Map<number, WrittenText>();

  /** Adds the text of a document, which must not have one here yet; returns how many bytes it takes. */
  set(index: number, text: string): number {
    const written = this.#written.addMeant(text);
    this.#texts.set(index, written);
    return written.json.length;
  }

  get size(): number {
    return this.#texts.size;
  }

  has(index: number): boolean {
    return this.#texts.has(index);
  }

  [Symbol.iterator](): Iterator<readonly [number, WrittenText]> {
    return this.#texts[Symbol.iterator]();
  }

  /** Leaves their memory to others, where they have been copied. */
  giveBack(): void {
    this.#written.giveBack();
  }
}
