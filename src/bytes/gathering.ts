import { joinedWithRoom, joinWithRoom } from './room.js';
import { copyBytes, NO_BYTES, Owned } from './memory.js';

/** The least for which the engine does not count the memory. */
const BLOCK_BYTES = 524_288;

/**
 * Gathers the pieces of a body or a reply. Of one that turns out to be large there may be fifteen thousand, and kept until the
 * last has come they would grow old: the collector takes longer to look after them than it takes to copy them.
 */
export class Gathering {
  /** More than these are copied. */
  readonly #mostApart: number;
  #bytes = 0;
  readonly #pieces: Buffer[] = [];
  #blocks: Owned[] | undefined;
  #last: Buffer = NO_BYTES;
  /** Of the last block. */
  #filled = 0;

  constructor(mostApart: number) {
    this.#mostApart = mostApart;
  }

  add(piece: Buffer): void {
    this.#bytes += piece.length;
    this.#pieces.push(piece);
    if (this.#bytes <= this.#mostApart) return;
    for (const each of this.#pieces) this.#copy(each);
    this.#pieces.length = 0;
  }

  #copy(piece: Buffer): void {
    for (let from = 0; from < piece.length;) {
      if (this.#filled === this.#last.length) {
        const block = Owned.uncleared(BLOCK_BYTES);
        (this.#blocks ??= []).push(block);
        this.#last = block.bytes;
        this.#filled = 0;
      }
      const end = Math.min(piece.length, from + BLOCK_BYTES - this.#filled);
      this.#filled += copyBytes(piece, this.#last, this.#filled, from, end);
      from = end;
    }
  }

  /** All that has been added, in one piece. Nothing may be added any more. */
  joined(): Owned | Promise<Owned> {
    const blocks = this.#blocks;
    if (blocks === undefined) return this.#joinedPieces();
    this.#blocks = undefined;
    const pieces = blocks.map(({ bytes }) => bytes);
    pieces.splice(-1, 1, this.#last.subarray(0, this.#filled));
    const joined = joinedWithRoom(pieces, this.#bytes);
    // Nobody reads the blocks once their content is there.
    const left = (whole: Owned): Owned => {
      for (const block of blocks) block.giveBack();
      return whole;
    };
    return joined instanceof Owned ? left(joined) : joined.then(left);
  }

  #joinedPieces(): Owned {
    const [first] = this.#pieces;
    const isOne = first !== undefined && this.#pieces.length === 1;
    const whole = isOne ? Owned.lent(first) : joinWithRoom(this.#pieces, this.#bytes);
    this.#pieces.length = 0;
    return whole;
  }

  /** Gives back what has been added, which nobody wants any more. What is being joined is left alone. */
  giveBack(): void {
    this.#pieces.length = 0;
    for (const block of this.#blocks ?? []) block.giveBack();
    this.#blocks = undefined;
    this.#last = NO_BYTES;
    this.#filled = 0;
  }
}
