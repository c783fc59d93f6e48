/** Bodies of at least this size are read in turn. */
export const LARGE_BYTES = 262_144;

/** So many small pieces of a body in a row become one: each is an object of a hundred bytes, and keeps all that it came with. */
const MANY_PIECES = 256;

const MANY_BYTES = 65_536;

/**
 * The pieces of a body on its way: memory for all of it is taken once half of it is there. The list of them is emptied and not
 * replaced: once it is old, it would keep them even if nobody had it any more.
 */
export class Arriving {
  readonly #declared: number;
  readonly #pieces: Buffer[] = [];
  #whole: Buffer | undefined;
  /** The first of the pieces that may become one, and their bytes. */
  #latest = 0;
  #latestBytes = 0;
  /** How many have come. */
  bytes = 0;

  constructor(declared: number) {
    this.#declared = declared;
  }

  /** Returns how many bytes more are reserved for it now. */
  add(chunk: Buffer): number {
    const at = this.bytes;
    this.bytes += chunk.length;
    if (this.#whole !== undefined) {
      chunk.copy(this.#whole, at);
      return 0;
    }
    this.#pieces.push(chunk);
    this.#latestBytes += chunk.length;
    if (this.#pieces.length - this.#latest >= MANY_PIECES) this.#join();
    if (this.#declared <= LARGE_BYTES || 2 * this.bytes < this.#declared) return chunk.length;
    this.#whole = Buffer.allocUnsafeSlow(this.#declared);
    let end = 0;
    for (const piece of this.#pieces) end += piece.copy(this.#whole, end);
    this.#pieces.length = 0;
    return this.#declared - at;
  }

  #join(): void {
    if (this.#latestBytes < MANY_BYTES) {
      this.#pieces.push(Buffer.concat(this.#pieces.splice(this.#latest), this.#latestBytes));
    }
    this.#latest = this.#pieces.length;
    this.#latestBytes = 0;
  }

  /** All of it, to which this refers no more. */
  taken(): Buffer {
    const whole = this.#joined();
    this.clear();
    return whole;
  }

  #joined(): Buffer {
    if (this.#whole !== undefined) return this.#whole.subarray(0, this.bytes);
    const [first] = this.#pieces;
    const isOne = first !== undefined && this.#pieces.length === 1;
    return isOne ? first : Buffer.concat(this.#pieces, this.bytes);
  }

  clear(): void {
    this.#pieces.length = 0;
    this.#whole = undefined;
  }
}
