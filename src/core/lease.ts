import type { ShareAnswer } from './share.js';

/** One node's share of a limit: taken from the store in advance, used without asking it. Times in milliseconds. */
export class Lease {
  /** How much all nodes together may use in a window. */
  readonly most: number;
  /** How much to take at a time. */
  readonly size: number;
  #left = 0;
  #untilMs = 0;
  #window = 0;
  #askAtMs = 0;
  #outSinceMs = 0;
  #outUntilMs = 0;

  constructor(most: number, parts: number) {
    this.most = most;
    this.size = Math.max(1, Math.ceil(most / parts));
  }

  /** Takes what a call needs, if there is as much at hand. */
  take(units: number, nowMs: number): boolean {
    if (nowMs >= this.#untilMs || this.#left < units) return false;
    this.#left -= units;
    return true;
  }

  /** Gives back what a call did not need after all, or takes what it needed beyond; as long as the window lasts. */
  giveBack(units: number, window: number): void {
    if (window === this.#window) this.#left += units;
  }

  /** Whether it is time to ask for more, before there is nothing left. */
  isLow(nowMs: number): boolean {
    return nowMs >= this.#askAtMs && this.#left < this.size / 2;
  }

  /** Notes what the store says. `isNeeded`: a call waits for it, which cannot be made if it refuses. */
  heard(answer: ShareAnswer, nowMs: number, isNeeded: boolean): void {
    if (answer.kind === 'refused') {
      this.#askAtMs = nowMs + answer.retryAfterMs;
      if (!isNeeded) return;
      if (this.#outUntilMs <= nowMs) this.#outSinceMs = nowMs;
      this.#outUntilMs = this.#askAtMs;
      return;
    }
    // Of one window or the next: what the last one left over has lapsed.
    const isSame = nowMs < this.#untilMs;
    if (!isSame) this.#window += 1;
    this.#left = answer.units + (isSame ? this.#left : 0);
    this.#untilMs = nowMs + answer.forMs;
  }

  /** Until when nothing can be taken; 0 if something may be. */
  outUntilMs(nowMs: number): number {
    return this.#outUntilMs > nowMs ? this.#outUntilMs : 0;
  }

  get outSinceMs(): number {
    return this.#outSinceMs;
  }

  /** The number of the window that what is at hand belongs to. */
  get window(): number {
    return this.#window;
  }

  /** The amount at hand. */
  left(nowMs: number): number {
    return nowMs < this.#untilMs ? this.#left : 0;
  }
}
