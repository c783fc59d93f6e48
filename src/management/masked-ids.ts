import { createCipheriv, type Cipher } from 'node:crypto';

const HALF_BITS = 26;
const HALF = 2 ** HALF_BITS;
/** Ids below this: JavaScript keeps them exact. */
const END = HALF * HALF;
const ROUNDS = 6;
const BLOCK_BYTES = 16;

export const MASK_KEY_BYTES = 16;

/**
 * Ids as users see them: one for one, and without a meaning. The ids of a log are counted for all users together, so that two
 * of one's own would tell how much everybody asked in between. A Feistel network over 52 bits, with AES as its function.
 */
export class MaskedIds {
  readonly #cipher: Cipher;
  readonly #block = Buffer.alloc(BLOCK_BYTES);

  constructor(key: Buffer) {
    this.#cipher = createCipheriv('aes-128-ecb', key, null).setAutoPadding(false);
  }

  mask(id: number): number {
    if (!isMaskable(id)) return id;
    let [left, right] = halvesOf(id);
    for (let round = 0; round < ROUNDS; round += 1) {
      [left, right] = [right, (left ^ this.#mixed(right, round)) >>> 0];
    }
    return left * HALF + right;
  }

  unmask(id: number): number {
    if (!isMaskable(id)) return id;
    let [left, right] = halvesOf(id);
    for (let round = ROUNDS - 1; round >= 0; round -= 1) {
      [left, right] = [(right ^ this.#mixed(left, round)) >>> 0, left];
    }
    return left * HALF + right;
  }

  /** 26 bits that are unknown without the key. */
  #mixed(half: number, round: number): number {
    this.#block.writeUInt32BE(half, 0);
    this.#block.writeUInt32BE(round, 4);
    return this.#cipher.update(this.#block).readUInt32BE(0) % HALF;
  }
}

function halvesOf(id: number): [number, number] {
  return [Math.floor(id / HALF), id % HALF];
}

function isMaskable(id: number): boolean {
  return Number.isSafeInteger(id) && id >= 0 && id < END;
}
