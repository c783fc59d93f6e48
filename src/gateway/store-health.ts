import type { ChannelNews } from '../store/store.js';
import type { Observe } from './events.js';

/**
 * A clock that is off by more than this is reported; the difference that the answer's travel time may explain is not
 * counted.
 */
const CLOCK_TOLERANCE_MS = 1_000;

export const EMPTIED =
  'The store has been emptied: restore its data from a backup, or restart every gateway to start afresh.';

/**
 * What a node learns about the store with each look at the channels, besides the channels: whether it still has its
 * contents, and how far the clocks are apart.
 */
export class StoreHealth {
  readonly #observe: Observe;
  #isEmptied = false;
  #clockOffsetMs = 0;
  #isClockOff = false;
  #answered: ((afterMs: number) => void) | undefined;

  constructor(observe: Observe) {
    this.#observe = observe;
  }

  /** Whether the store lacks what every gateway leaves in it: then what it says about keys means nothing. */
  get isEmptied(): boolean {
    return this.#isEmptied;
  }

  /** How far this node's clock is ahead of the store's; 0 if the answer's travel time may explain the difference. */
  get clockOffsetMs(): number {
    return this.#clockOffsetMs;
  }

  /** From now on `answered` gets how long each answer of the store took. */
  timeAnswers(answered: (afterMs: number) => void): void {
    this.#answered = answered;
  }

  heard({ memory, storeTimeMs }: ChannelNews, askedAtMs: number, answeredAtMs: number): void {
    if (memory === 'emptied' && !this.#isEmptied) this.#tell('the store is empty', EMPTIED);
    this.#isEmptied = memory === 'emptied';
    this.#answered?.(answeredAtMs - askedAtMs);

    const ahead = Math.max(0, askedAtMs - storeTimeMs);
    const behind = Math.max(0, storeTimeMs - answeredAtMs);
    this.#clockOffsetMs = ahead - behind;
    const isOff = Math.abs(this.#clockOffsetMs) > CLOCK_TOLERANCE_MS;
    if (isOff && !this.#isClockOff) this.#tell('the clock of this node is wrong', this.#clock());
    this.#isClockOff = isOff;
  }

  /** Problems that do not keep the node from serving, but should be fixed. */
  warnings(): string[] {
    return this.#isClockOff ? [this.#clock()] : [];
  }

  #clock(): string {
    const seconds = (Math.abs(this.#clockOffsetMs) / 1_000).toFixed(1);
    const where = this.#clockOffsetMs > 0 ? 'ahead of' : 'behind';
    return `The clock of this node is ${seconds} s ${where} that of the store, by which quota, rates and expiry are judged: synchronize the machine with a time server.`;
  }

  #tell(what: string, why: string): void {
    this.#observe({ kind: 'fault', what, error: new Error(why) });
  }
}
