/** Where nothing is known yet. */
const FIRST = 20;
const MOST = 10_000;
/** Answers are judged together: so many at least, over so long. */
const WINDOW_ANSWERS = 10;
const WINDOW_MS = 250;
/** Answers that take longer than usual by this factor wait for others. */
const TOLERANCE = 1.5;
/** Of the limit; with less under way it is not known what more would do. */
const USED = 0.9;
/** What an overload leaves of the limit, at most once in a window. */
const AFTER_OVERLOAD = 0.7;
/** What is usual is measured anew so often, with so much of the limit under way. */
const MEASURE_EVERY_MS = 30_000;
const MEASURED_WITH = 0.25;

/**
 * How many attempts at once a server takes, by how long they take: while answers come as fast as with little to do, there may
 * be more, a few at a time; when they take longer, there are as many too many. A limit that follows a server which becomes
 * faster or slower, or is shared with others.
 */
export class AdaptiveLimit {
  #limit = FIRST;
  /** How long an answer takes while nobody waits for another; `undefined` before the first window has ended. */
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

  /** An attempt was answered; `underWay` counts those at its begin, itself among them. */
  answered(tookMs: number, underWay: number, nowMs: number): void {
    if (this.#sinceMs === undefined) this.#begin(nowMs);
    const sinceMs = this.#sinceMs ?? nowMs;
    // What began before says how it was then.
    if (this.#isMeasuring && nowMs - tookMs < sinceMs) return;
    this.#sumMs += tookMs;
    this.#answers += 1;
    this.#busiest = Math.max(this.#busiest, underWay);
    if (this.#answers < WINDOW_ANSWERS || nowMs - sinceMs < WINDOW_MS) return;
    this.#judge(this.#sumMs / this.#answers, nowMs);
    this.#begin(nowMs);
  }

  /** The server says that it has too much to do, or does not answer in time. */
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
    // Half of the way: one window is no more than a hint.
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
