/** What a connection may bring besides requests: at once, and each second. Pings have 17 bytes. */
const BURST_BYTES = 262_144;
const BYTES_PER_SECOND = 16_384;
/** Callers report what they have read of replies, some for each 16 KiB of a stream and of the connection. */
const REPLY_BYTES_PER_BYTE = 256;

/**
 * What a connection has brought that neither belongs to requests nor follows from replies: pings, settings, priorities, resets
 * and windows, which cost processor time and ask for nothing.
 */
export class Chatter {
  #explained = 0;
  /** The amount allowed by now. */
  #allowed = 0;

  /** Bytes that a request has brought, or may have brought unseen. */
  explain(bytes: number): void {
    this.#explained += bytes;
  }

  /** Whether it is too much. To be asked once a second, with what was received and sent so far, and what waits to be read. */
  isTooMuch(receivedBytes: number, sentBytes: number, waitingBytes: number): boolean {
    const due = this.#explained + waitingBytes + sentBytes / REPLY_BYTES_PER_BYTE;
    const chatter = receivedBytes - due;
    this.#allowed = Math.min(this.#allowed + BYTES_PER_SECOND, chatter);
    return chatter - this.#allowed > BURST_BYTES;
  }
}
