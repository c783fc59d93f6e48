/** Recent answers from which the delay is computed. */
const REMEMBERED = 64;
/** With fewer answers than this, what counts as slow is unknown. */
const ENOUGH = 16;
/** The percentile may lack this many of the newest answers, less one: finding it takes a sort. */
const RENEWED_AFTER = 8;

/** How long recent answers took, in milliseconds: the last ones, and their exponentially weighted average. */
export class Latencies {
  readonly #recent: number[] = [];
  #at = 0;
  #averageMs: number | undefined;
  #p95Ms: number | undefined;
  #addedSince = 0;

  add(durationMs: number): void {
    this.#addedSince += 1;
    this.#recent[this.#at] = durationMs;
    this.#at = (this.#at + 1) % REMEMBERED;
    this.#averageMs = weighted(this.#averageMs, durationMs);
  }

  /** A peak counts at once and fades; `undefined` before the first answer. */
  get averageMs(): number | undefined {
    return this.#averageMs;
  }

  /** The time within which 95 of 100 recent answers came; `undefined` if too few are known. */
  get p95Ms(): number | undefined {
    if (this.#recent.length < ENOUGH) return undefined;
    if (this.#p95Ms === undefined || this.#addedSince >= RENEWED_AFTER) {
      const sorted = Float64Array.from(this.#recent).sort();
      this.#p95Ms = sorted[Math.ceil(sorted.length * 0.95) - 1];
      this.#addedSince = 0;
    }
    return this.#p95Ms;
  }
}

/** Weight of the newest answer if it was faster than the average. */
const NEWEST = 0.1;

function weighted(averageMs: number | undefined, durationMs: number): number {
  if (averageMs === undefined || durationMs >= averageMs) return durationMs;
  return averageMs + (durationMs - averageMs) * NEWEST;
}

/**
 * A budget for retries and hedges: a share of the traffic, saved up to a limit. Each request adds its share; each extra
 * attempt takes one.
 */
export class RetryBudget {
  readonly #share: number;
  readonly #most: number;
  #saved: number;

  constructor(share: number, most = 10) {
    this.#share = share;
    this.#most = most;
    this.#saved = share > 0 ? most : 0;
  }

  /** Records a request. */
  earn(): void {
    this.#saved = Math.min(this.#most, this.#saved + this.#share);
  }

  /** Whether the budget allows one more attempt; takes it if so. */
  spend(): boolean {
    if (this.#saved < 1) return false;
    this.#saved -= 1;
    return true;
  }
}
