/** A process that ends sooner than this after its start was not able to run: the next one waits. */
const HEALTHY_MS = 5_000;
const FIRST_PAUSE_MS = 200;
const LONGEST_PAUSE_MS = 10_000;

/** When each process of a group is started again after it died: soon, and more and more seldom while they cannot run. */
export class Restarts {
  #pauseMs = FIRST_PAUSE_MS;

  /** The pause before the next start, after a process that ran for so long. */
  after(ranMs: number): number {
    this.#pauseMs =
      ranMs >= HEALTHY_MS ? FIRST_PAUSE_MS : Math.min(this.#pauseMs * 2, LONGEST_PAUSE_MS);
    return this.#pauseMs;
  }
}
