import { setImmediate } from 'node:timers/promises';
import type { Observe } from './events.js';

/** More waiting work than this means that whatever it waits for is down. */
const MAX_PENDING = 1_000;

/** Work that no reply waits for. Failures are observed; shutdown waits for what is in progress. */
export class Background {
  readonly #observe: Observe;
  readonly #pending = new Set<Promise<void>>();

  constructor(observe: Observe) {
    this.#observe = observe;
  }

  readonly run = (what: string, work: () => Promise<void>): void => {
    if (this.#pending.size >= MAX_PENDING) {
      this.#observe({ kind: 'fault', what, error: new Error('too much work is queued') });
      return;
    }
    // Not before the reply that goes out in this turn of the event loop: the time that the work takes must not show
    // there.
    const done = setImmediate()
      .then(work)
      .catch((error: unknown) => this.#observe({ kind: 'fault', what, error }))
      .finally(() => this.#pending.delete(done));
    this.#pending.add(done);
  };

  async drained(): Promise<void> {
    while (this.#pending.size > 0) await Promise.all(this.#pending);
  }
}
