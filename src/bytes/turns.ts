/**
 * Turns of the event loop. Everything that is large (bodies that arrive, are walked over, written and sent) is worked on for about
 * half a millisecond a turn, all of it together, each in its turn; whatever is small is served in between. It waits for four or
 * five turns: to be read, to be admitted, to be sent, and for its answer.
 */
const BUDGET_MS = 0.5;

// As they are when this is loaded: whoever replaces the clock for a while must not stop the line for good.
const nextTick = process.nextTick.bind(process);
const later = setImmediate;
const SOON = Promise.resolve();

export class LargeWork {
  readonly #now: () => number;
  /** What comes next, in the order in which it was asked for. */
  #line: (() => void)[] = [];
  /** What is small and leaves at the end of this turn, ahead of what is large. */
  #small: (() => void)[] = [];
  /** When work on what is large began in this turn. */
  #begunMs: number | undefined;
  /** Whether `#run` is called at the end of this turn, or of the next if this one is ending. */
  #isDue = false;
  #isRunning = false;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Calls `step` when it is its turn, which is never at once. */
  join(step: () => void): void {
    this.#line.push(step);
    if (!this.#isRunning) this.#fallDue();
  }

  /** Whether enough has been done for this turn, asked by who works on something large as it arrives: it begins now at the latest. */
  isSpent(): boolean {
    const nowMs = this.#now();
    this.#begunMs ??= nowMs;
    if (!this.#isRunning) this.#fallDue();
    return nowMs - this.#begunMs >= BUDGET_MS;
  }

  /** Calls `run` at the end of this turn, before anything large gets its turn. */
  atTurnEnd(run: () => void): void {
    // An immediate would be called after ours, which has been waiting since the last turn.
    if (this.#isDue) this.#small.push(run);
    else later(run);
  }

  #fallDue(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    later(this.#run);
  }

  readonly #run = (): void => {
    this.#isDue = false;
    const small = this.#small;
    this.#small = [];
    try {
      for (const run of small) run();
    } finally {
      this.#next();
    }
  };

  /** One step is made in every turn, whatever has been done in it already. */
  #next(): void {
    const step = this.#line.shift();
    this.#isRunning = step !== undefined;
    if (step === undefined) {
      this.#begunMs = undefined;
      return;
    }
    this.#begunMs ??= this.#now();
    // Called when whatever waited for the step has gone on as far as it can.
    void SOON.then(() => {
      nextTick(this.#goOn);
    });
    step();
  }

  readonly #goOn = (): void => {
    if (this.#line.length > 0 && !this.isSpent()) {
      this.#next();
      return;
    }
    this.#isRunning = false;
    this.#begunMs = undefined;
    if (this.#line.length > 0) this.#fallDue();
  };
}

/** That of this process, which has one event loop. */
export const largeWork = new LargeWork();

/** Lets what arrives wait for a later turn if enough has been done in this one. */
export function arriveInTurns(flow: { pause(): unknown; resume(): unknown }): void {
  if (!largeWork.isSpent()) return;
  flow.pause();
  largeWork.join(() => {
    flow.resume();
  });
}

/** Resolves when others have had their turn. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    largeWork.join(resolve);
  });
}

/** Calls `run` at the end of this turn of the event loop, before anything large gets its turn. */
export function atTurnEnd(run: () => void): void {
  largeWork.atTurnEnd(run);
}
