import { freeAtOnce } from './nodes-inside.js';

/** Bodies of at least this size are read in turn. */
export const LARGE_BYTES = 262_144;

/**
 * This many pieces, or pieces of this many bytes, become one. Each is an object of a hundred bytes and may keep all that came with
 * it, and pieces that stay for long scatter the memory, so that the system gets little of it back.
 */
const MANY_PIECES = 256;
const MANY_BYTES = 1_048_576;
/** It takes microseconds to free a piece. */
const WORTH_FREEING_BYTES = 4_096;

/**
 * The pieces of a body on its way: memory for all of it is taken once half of it is there. The lists of them are emptied and not
 * replaced: once they are old, they would keep them even if nobody had them any more.
 */
export class Arriving {
  readonly #declared: number;
  /** Of this body alone; what came last is in pieces. */
  readonly #joined: Buffer[] = [];
  readonly #pieces: Buffer[] = [];
  #piecesBytes = 0;
  #whole: Buffer | undefined;
  /** How many have come. */
  bytes = 0;

  constructor(declared: number) {
    this.#declared = declared;
  }

  /** Takes a piece that nobody else reads. Returns how many bytes more are reserved now. */
  add(chunk: Buffer): number {
    const at = this.bytes;
    const { length } = chunk;
    this.bytes += length;
    if (this.#whole !== undefined) {
      chunk.copy(this.#whole, at);
      return 0;
    }
    this.#pieces.push(chunk);
    this.#piecesBytes += length;
    if (this.#declared > LARGE_BYTES && 2 * this.bytes >= this.#declared) {
      this.#whole = this.#copied(this.#declared);
      return this.#declared - at;
    }
    if (this.#pieces.length >= MANY_PIECES || this.#piecesBytes >= MANY_BYTES) this.#join();
    return length;
  }

  #join(): void {
    this.#joined.push(copied(this.#pieces, this.#piecesBytes));
    drop(this.#pieces);
    this.#piecesBytes = 0;
  }

  /** All of it, to which this refers no more. */
  taken(): Buffer {
    const whole = this.#whole?.subarray(0, this.bytes) ?? this.#only() ?? this.#copied(this.bytes);
    this.#pieces.length = 0;
    this.#whole = undefined;
    return whole;
  }

  /** Frees what has come of a body that nobody will read. */
  giveUp(): void {
    if (this.#whole !== undefined) drop([this.#whole]);
    this.#whole = undefined;
    drop(this.#joined);
    drop(this.#pieces);
  }

  #only(): Buffer | undefined {
    const isOne = this.#pieces.length === 1 && this.#joined.length === 0;
    return isOne ? this.#pieces[0] : undefined;
  }

  /** What has come, at the beginning of a buffer of its own. */
  #copied(length: number): Buffer {
    const whole = copied([...this.#joined, ...this.#pieces], length);
    drop(this.#joined);
    // Few of these: the collector is cheaper.
    this.#pieces.length = 0;
    return whole;
  }
}

function copied(pieces: readonly Buffer[], length: number): Buffer {
  const whole = Buffer.allocUnsafe(length);
  let end = 0;
  for (const piece of pieces) end += piece.copy(whole, end);
  return whole;
}

function drop(pieces: Buffer[]): void {
  for (const piece of pieces) if (piece.length >= WORTH_FREEING_BYTES) freeAtOnce(piece);
  pieces.length = 0;
}
