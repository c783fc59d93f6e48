/**
 * The one place where large work waits for its turn. Whatever is walked over or written is at most this much at once; of all the
 * large requests in progress, one makes a step in each turn of the event loop, so that what is small is served in between.
 */
export const STEP_BYTES = 262_144;

/** Anything up to this size is processed at once: it takes half a millisecond. */
export const AT_ONCE_BYTES = 1_048_576;

/** Work that pauses after each step. */
export type Paced<T = void> = Generator<undefined, T, undefined>;

// As it is when this is loaded: a test that replaces the clock must not stop the line permanently.
const later = setImmediate;
let line: Promise<void> = Promise.resolve();

function nextTurn(): Promise<void> {
  line = line.then(() => new Promise((resolve) => later(resolve)));
  return line;
}

/** Does the work of something of this size: at once, or a step in each turn. */
export function worked<T>(work: Paced<T>, bytes: number): T | Promise<T> {
  return bytes <= AT_ONCE_BYTES ? atOnce(work) : inTurns(work);
}

/** All steps at once. */
export function atOnce<T>(work: Paced<T>): T {
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value;
  }
}

async function inTurns<T>(work: Paced<T>): Promise<T> {
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value;
    await nextTurn();
  }
}
