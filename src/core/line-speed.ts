/** Departures that are remembered: a longer line is judged by their average. */
const REMEMBERED = 512;
/** With fewer departures than this, a line that has just formed is judged by what is known from before. */
const ENOUGH = 2;

/**
 * How fast a waiting line moves. Looks back instead of averaging: places often become free many at a time, and an average
 * of the intervals between them depends on the moment at which it is asked for.
 */
export class LineSpeed {
  readonly #times = new Float64Array(REMEMBERED);
  #count = 0;
  #sinceMs = 0;

  /** A line has formed: earlier observations do not count, since there was no waiting. */
  begin(nowMs: number): void {
    this.#count = 0;
    this.#sinceMs = nowMs;
  }

  /** Somebody's turn has come. */
  moved(nowMs: number): void {
    this.#times[this.#count % REMEMBERED] = nowMs;
    this.#count += 1;
  }

  /** The last one did not get a place after all. */
  undo(): void {
    this.#count = Math.max(0, this.#count - 1);
  }

  /**
   * How long it should take until it is the turn of somebody with so many ahead: as long as it took lately. `usualMs` is what
   * one turn usually takes, which counts as long as too little was seen.
   */
  expectedMs(ahead: number, usualMs: number, nowMs: number): number {
    const turns = ahead + 1;
    const known = Math.min(this.#count, REMEMBERED);
    // A stalled line is not faster than that.
    if (this.#count < ENOUGH) return Math.max(turns * usualMs, nowMs - this.#sinceMs);
    if (turns < known) return nowMs - this.#timeOf(turns);
    const spanMs = nowMs - (this.#count > REMEMBERED ? this.#timeOf(known) : this.#sinceMs);
    return (spanMs / known) * turns;
  }

  /** When the one so many turns ago left. */
  #timeOf(turnsAgo: number): number {
    return this.#times[(this.#count - turnsAgo) % REMEMBERED] ?? 0;
  }
}
