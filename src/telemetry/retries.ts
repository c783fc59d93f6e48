import { StoreUnavailableError } from '../store/store.js';

const FIRST_RETRY_MS = 100;
const LONGEST_RETRY_MS = 5_000;

/** Repeats writes while the store is away, with growing waits, until the process has to end. */
export class Retries {
  readonly #now: () => number;
  #giveUpAtMs = Infinity;
  /** Cuts the wait between two tries short, if there is one. */
  #wake: (() => void) | undefined;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** From `untilMs` on, a store that is away is not waited for. */
  giveUpFrom(untilMs: number): void {
    this.#giveUpAtMs = untilMs;
    this.#wake?.();
  }

  /** Resolves once it is written, or to the error for which it is given up. */
  async of(write: () => Promise<void>): Promise<{ readonly error: unknown } | undefined> {
    for (let retryMs = FIRST_RETRY_MS; ; retryMs = Math.min(retryMs * 2, LONGEST_RETRY_MS)) {
      try {
        await write();
        return undefined;
      } catch (error) {
        const isAway = error instanceof StoreUnavailableError;
        if (!isAway || this.#now() + retryMs >= this.#giveUpAtMs) return { error };
        await this.#wait(retryMs);
      }
    }
  }

  #wait(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
