import type { GatewayEvent, Observe, ReadEvents } from '../gateway/events.js';

/** How long an event may wait for company. */
const WITHIN_MS = 25;
const MAX_WAITING = 256;

/**
 * Hands the events of requests to their readers in batches, after the replies: one reader goes through a whole batch at a
 * time, which costs less than half of calling each of them for each event. What is rare is handed on at once, behind
 * what came before it.
 */
export class EventBatches {
  readonly #readers: readonly ReadEvents[];
  readonly #lastResort: (error: unknown) => void;
  #waiting: GatewayEvent[] = [];
  #timer: NodeJS.Timeout | undefined;

  /** `lastResort` is told what a reader failed with where even that could not be read by all of them. */
  constructor(readers: readonly ReadEvents[], lastResort = writeToStandardError) {
    this.#readers = readers;
    this.#lastResort = lastResort;
  }

  readonly observe: Observe = (event) => {
    this.#waiting.push(event);
    const isFrequent = event.kind === 'request' || event.kind === 'attempt';
    if (!isFrequent || this.#waiting.length >= MAX_WAITING) this.flush();
    else this.#timer ??= setTimeout(() => this.flush(), WITHIN_MS).unref();
  };

  /** Hands on what waits: before metrics are read, and before the process ends. */
  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const batch = this.#waiting;
    if (batch.length === 0) return;
    this.#waiting = [];
    const errors = this.#handOn(batch);
    if (errors.length === 0) return;
    const faults = errors.map(
      (error) => ({ kind: 'fault', what: 'a reader of events failed', error }) as const,
    );
    // A reader that fails again is not told about that: it might go on forever.
    const again = this.#handOn(faults);
    if (again.length > 0) for (const error of [...errors, ...again]) this.#lastResort(error);
  }

  /** One reader that throws costs the others nothing; what they threw is returned. */
  #handOn(batch: readonly GatewayEvent[]): unknown[] {
    const errors: unknown[] = [];
    for (const read of this.#readers) {
      try {
        read(batch);
      } catch (error) {
        errors.push(error);
      }
    }
    return errors;
  }
}

/** Where the log itself may be what fails. */
function writeToStandardError(error: unknown): void {
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  process.stderr.write(`a reader of events failed: ${text}\n`);
}
