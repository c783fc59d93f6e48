/** Counts the bytes of the replies being read. */
export class ReplyRoom {
  readonly #most: number;
  #bytes = 0;
  #ahead = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /** Counts more bytes; false if there is no room for them. They count until `release` either way. */
  take(bytes: number): boolean {
    this.#bytes += bytes;
    return this.#bytes <= this.#most;
  }

  release(bytes: number): void {
    this.#bytes -= bytes;
  }

  /**
   * Whether memory may be taken for bytes that are only announced. They keep no other reply out, but all that is announced
   * must fit: a server may announce much and send nothing, and to take memory costs time. They count until `releaseAhead`.
   */
  takeAhead(bytes: number): boolean {
    if (this.#bytes + this.#ahead + bytes > this.#most) return false;
    this.#ahead += bytes;
    return true;
  }

  releaseAhead(bytes: number): void {
    this.#ahead -= bytes;
  }
}
