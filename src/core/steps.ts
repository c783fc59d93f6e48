/** Work that lets others have their turn: it yields after every step of about a millisecond. */
export type Steps<T> = Generator<undefined, T, undefined>;

/** How much text, in UTF-16 units or bytes, is gone through in one step. */
const STEP_UNITS = 200_000;

/** Counts what is gone through, and tells when that is enough for one step. */
export class Pace {
  readonly #most: number;
  #units = 0;

  constructor(most = STEP_UNITS) {
    this.#most = most;
  }

  /** Adds so much; whether the step is full now. The next one begins empty. */
  fills(units: number): boolean {
    this.#units += units;
    if (this.#units < this.#most) return false;
    this.#units = 0;
    return true;
  }
}

/** All steps at once, for work that is known to be small. */
export function atOnce<T>(work: Steps<T>): T {
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value;
  }
}

/** One step after the other, with a pause in between; small work pauses for nothing. */
export async function inSteps<T>(work: Steps<T>, pause: () => Promise<void>): Promise<T> {
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value;
    await pause();
  }
}
