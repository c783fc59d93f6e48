import { joinedWithRoom } from './json/room.js';
import { copyBytes, giveBack, uncleared } from './memory.js';

/** The least for which the engine does not count the memory. */
const BLOCK_BYTES = 524_288;

/**
 * Gathers the pieces of a large body or reply whose length is not known. There may be fifteen thousand, and kept until the last has come they
 * would grow old: the collector takes longer to look after them than it takes to copy them.
 */
export class Gathering {
  readonly #blocks: Buffer[] = [];
  #last: Buffer = Buffer.alloc(0);
  /** Of the last block. */
  #filled = 0;

  constructor(pieces: readonly Buffer[]) {
    for (const piece of pieces) this.add(piece);
  }

  add(piece: Buffer): void {
    for (let from = 0; from < piece.length;) {
      if (this.#filled === this.#last.length) {
        this.#last = uncleared(BLOCK_BYTES);
        this.#blocks.push(this.#last);
        this.#filled = 0;
      }
      const end = Math.min(piece.length, from + BLOCK_BYTES - this.#filled);
      this.#filled += copyBytes(piece, this.#last, this.#filled, from, end);
      from = end;
    }
  }

  /** All that has been added, in one piece. Nothing may be added any more. */
  joined(): Buffer | Promise<Buffer> {
    const blocks = this.#blocks.splice(0);
    const pieces = [...blocks.slice(0, -1), this.#last.subarray(0, this.#filled)];
    const bytes = pieces.reduce((sum, { length }) => sum + length, 0);
    const joined = joinedWithRoom(pieces, bytes);
    // Nobody reads the blocks once their content is there.
    const left = (whole: Buffer): Buffer => {
      for (const block of blocks) giveBack(block);
      return whole;
    };
    return Buffer.isBuffer(joined) ? left(joined) : joined.then(left);
  }

  /** Gives back what has been added, which nobody wants any more. What is being joined is left alone. */
  giveUp(): void {
    for (const block of this.#blocks.splice(0)) giveBack(block);
    this.#last = Buffer.alloc(0);
    this.#filled = 0;
  }
}
