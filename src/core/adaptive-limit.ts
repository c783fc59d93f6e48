/** Where nothing is known yet. */
const FIRST = 20;
const MOST = 10_000;
/** Answers are judged in batches: at least this many, over at least this long. */
const WINDOW_ANSWERS = 10;
const WINDOW_MS = 250;
/** Answers slower than usual by this factor are queueing behind others. */
const TOLERANCE = 1.5;
/** Share of the limit that must be in use; below it, nothing shows what more concurrency would do. */
const USED = 0.9;
/** What remains of the limit after an overload, applied at most once per window. */
const AFTER_OVERLOAD = 0.7;
/** The baseline is measured again at this interval, with this share of the limit in use. */
const MEASURE_EVERY_MS = 30_000;
const MEASURED_WITH = 0.25;

/**
 * How many attempts a server takes at once, judged by how long they take. The limit rises by a few while answers are as fast
 * as under light load, and falls as they slow down. It follows a server whose speed changes or that others share.
 */
export class AdaptiveLimit {
  #limit = FIRST;
  /** How long an answer takes with no queueing; `undefined` before the first window has ended. */
  #usualMs: number | undefined;
  #sumMs = 0;
  #answers = 0;
  #busiest = 0;
  #sinceMs: number | undefined;
  #measuredMs = 0;
  #isMeasuring = false;
  #overloadedMs = -Infinity;

  /** Attempts at once, at least one. */
  get limit(): number {
    return Math.max(1, Math.floor(this.#isMeasuring ? this.#limit * MEASURED_WITH : this.#limit));
  }

  /** Records an answered attempt; `underWay` counts those in flight when it began, itself included. */
  answered(tookMs: number, underWay: number, nowMs: number): void {
    if (this.#sinceMs === undefined) this.#begin(nowMs);
    const sinceMs = this.#sinceMs ?? nowMs;
    // An attempt that began before the window describes an earlier state.
    if (this.#isMeasuring && nowMs - tookMs < sinceMs) return;
    this.#sumMs += tookMs;
    this.#answers += 1;
    this.#busiest = Math.max(this.#busiest, underWay);
    if (this.#answers < WINDOW_ANSWERS || nowMs - sinceMs < WINDOW_MS) return;
    this.#judge(this.#sumMs / this.#answers, nowMs);
    this.#begin(nowMs);
  }

  /** The server reports an overload, or does not answer in time. */
  overloaded(nowMs: number): void {
    if (nowMs - this.#overloadedMs < WINDOW_MS) return;
    this.#overloadedMs = nowMs;
    this.#set(this.#limit * AFTER_OVERLOAD);
  }

  #judge(averageMs: number, nowMs: number): void {
    if (this.#usualMs === undefined || this.#isMeasuring) {
      this.#usualMs = averageMs;
      this.#isMeasuring = false;
      this.#measuredMs = nowMs;
      return;
    }
    this.#usualMs = Math.min(this.#usualMs, averageMs);
    const share = (TOLERANCE * this.#usualMs) / averageMs;
    // Goes halfway: one window is only a hint.
    if (share < 1) this.#set(this.#limit * ((1 + Math.max(0.5, share)) / 2));
    else if (this.#busiest >= this.limit * USED)
      this.#set(this.#limit + Math.sqrt(this.#limit) / 2);
    this.#isMeasuring = nowMs - this.#measuredMs >= MEASURE_EVERY_MS;
  }

  #set(limit: number): void {
    this.#limit = Math.min(MOST, Math.max(1, limit));
  }

  #begin(nowMs: number): void {
    this.#sinceMs = nowMs;
    this.#sumMs = 0;
    this.#answers = 0;
    this.#busiest = 0;
  }
}
