/** Weight of the newest answer. */
const NEWEST = 0.1;
/** How many times the usual time an answer may take. */
const TIMES = 4;
/** The least that an answer may take: shorter waits say more about networks and pauses than about a channel. */
const LEAST_MS = 1_000;

/** How long to wait for a channel while another one could answer: learned from how long its answers take, and for how much text. */
export class Patience {
  #usualMs: number | undefined;
  #usualBytes = 0;

  /** An answer came. */
  answered(durationMs: number, bytes: number): void {
    if (this.#usualMs === undefined) {
      this.#usualMs = durationMs;
      this.#usualBytes = bytes;
    } else {
      this.#usualMs += (durationMs - this.#usualMs) * NEWEST;
      this.#usualBytes += (bytes - this.#usualBytes) * NEWEST;
    }
  }

  /** An attempt was given up early: if all answers have become slow, the next one gets more time at once. */
  gaveUp(durationMs: number, bytes: number): void {
    if (this.#usualMs === undefined) this.answered(durationMs, bytes);
    else this.#usualMs = Math.max(this.#usualMs, durationMs / this.#times(bytes));
  }

  /** The longest that an answer for so much text should take; `undefined` before the first one. */
  mostMs(bytes: number): number | undefined {
    if (this.#usualMs === undefined) return undefined;
    return Math.max(LEAST_MS, Math.ceil(this.#usualMs * this.#times(bytes) * TIMES));
  }

  /** How many times the usual amount of text it is, at least once. */
  #times(bytes: number): number {
    return Math.max(1, bytes / Math.max(1, this.#usualBytes));
  }
}
