/** Counts the bytes of the replies being read. */
export class ReplyRoom {
  readonly #most: number;
  #bytes = 0;

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
}
