/** Recent answers from which the delay is computed. */
const REMEMBERED = 64;
/** With fewer answers than this, what counts as slow is unknown. */
const ENOUGH = 16;

/** How long recent answers took, in milliseconds: the last ones, and their exponentially weighted average. */
export class Latencies {
  readonly #recent: number[] = [];
  #at = 0;
  #averageMs: number | undefined;

  add(durationMs: number): void {
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
    const sorted = [...this.#recent].sort((one, other) => one - other);
    return sorted[Math.ceil(sorted.length * 0.95) - 1];
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
