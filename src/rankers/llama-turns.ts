import { RankingFault } from './ranker.js';

/** One at a time, in order of arrival. */
export class Turns {
  readonly #waiting: (() => void)[] = [];
  readonly #maxWaiting: number;
  #taken = false;

  constructor(maxWaiting: number) {
    this.#maxWaiting = maxWaiting;
  }

  /**
   * Resolves to a function that ends the turn; rejects when the signal aborts.
   * @throws RankingFault if too many are waiting already.
   */
  async take(signal: AbortSignal): Promise<() => void> {
    if (!this.#taken) {
      this.#taken = true;
      return this.#pass;
    }
    if (this.#waiting.length >= this.#maxWaiting) {
      throw new RankingFault('busy', 'too many requests are already waiting for the model');
    }
    await new Promise<void>((resolve, reject) => {
      const begin = (): void => {
        signal.removeEventListener('abort', giveUp);
        resolve();
      };
      const giveUp = (): void => {
        this.#waiting.splice(this.#waiting.indexOf(begin), 1);
        reject(asError(signal.reason));
      };
      this.#waiting.push(begin);
      signal.addEventListener('abort', giveUp, { once: true });
    });
    return this.#pass;
  }

  readonly #pass = (): void => {
    const next = this.#waiting.shift();
    if (next === undefined) this.#taken = false;
    else next();
  };
}

/** Waits no longer than the signal allows; the promise's work goes on. */
export function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const giveUp = (): void => reject(asError(signal.reason));
    if (signal.aborted) giveUp();
    signal.addEventListener('abort', giveUp, { once: true });
    void promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', giveUp));
  });
}

function asError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error(String(reason));
}
