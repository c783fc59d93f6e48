/** Work that lets others have their turn: it yields after every step of about a millisecond. */
export type Steps<T> = Generator<undefined, T, undefined>;

/** From so many documents on, each part of a request's work is a step of its own, however small they are. */
export const MANY_DOCUMENTS = 2_000;

/** How much text, in UTF-16 units or bytes, is gone through in one step at most. */
const STEP_UNITS = 200_000;
/** A step that has taken this long is full, however little it went through: much may be tiny, and machines are slow. */
const STEP_MS = 2;
/** The clock is looked at whenever so much was gone through, where each thing counts for some units by itself. */
const LOOK_UNITS = 16_384;
const THING_UNITS = 128;

/** Counts what is gone through, and tells when that is enough for one step. */
export class Pace {
  readonly #most: number;
  readonly #now: () => number;
  #units = 0;
  #unseen = 0;
  /** When the step is full at the latest; known once the clock has been looked at. */
  #untilMs = Infinity;

  constructor(most = STEP_UNITS, now: () => number = clockMs) {
    this.#most = most;
    this.#now = now;
  }

  /** Adds so much; whether the step is full now. The next one begins empty. */
  fills(units: number): boolean {
    this.#units += units;
    this.#unseen += units + THING_UNITS;
    if (this.#units < this.#most && !this.#isLate()) return false;
    this.#units = 0;
    this.#unseen = 0;
    this.#untilMs = Infinity;
    return true;
  }

  #isLate(): boolean {
    if (this.#unseen < LOOK_UNITS) return false;
    this.#unseen = 0;
    const nowMs = this.#now();
    if (this.#untilMs === Infinity) this.#untilMs = nowMs + STEP_MS;
    return nowMs >= this.#untilMs;
  }
}

function clockMs(): number {
  return performance.now();
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
