import { withoutKeys } from '../core/secret.js';
import type { GatewayEvent, Observe, ReadEvents } from '../gateway/events.js';

/** How long an event may wait for others to join it. */
const WITHIN_MS = 25;
const MAX_WAITING = 256;
const FREQUENT: ReadonlySet<string> = new Set(['request', 'attempt', 'settled']);

/**
 * Hands the events of requests to their readers in batches, after the replies: each reader goes through a whole batch at a
 * time, which costs less than half of calling every reader for every event. Rare events are handed on at once, behind
 * those that came before them.
 */
export class EventBatches {
  readonly #readers: ReadEvents[];
  readonly #lastResort: (error: unknown) => void;
  #waiting: GatewayEvent[] = [];
  #timer: NodeJS.Timeout | undefined;

  /** `lastResort` gets the errors of readers if not every reader could take the faults that report them. */
  constructor(readers: readonly ReadEvents[], lastResort = writeToStandardError) {
    this.#readers = [...readers];
    this.#lastResort = lastResort;
  }

  /** From now on these read the events too. */
  add(...readers: readonly ReadEvents[]): void {
    this.#readers.push(...readers);
  }

  readonly observe: Observe = (event) => {
    this.#waiting.push(withoutKeysIn(event));
    const isFrequent = FREQUENT.has(event.kind);
    if (!isFrequent || this.#waiting.length >= MAX_WAITING) this.flush();
    else this.#timer ??= setTimeout(() => this.flush(), WITHIN_MS).unref();
  };

  /** Hands on what is waiting: before metrics are read, and before the process ends. */
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
    // A second failure is not reported to the readers: that might go on forever.
    const again = this.#handOn(faults);
    if (again.length > 0) for (const error of [...errors, ...again]) this.#lastResort(error);
  }

  /** A reader that throws does not affect the others; the errors are returned. */
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

/** All that is logged, counted or kept of a request passes here: callers put keys where models belong. */
function withoutKeysIn(event: GatewayEvent): GatewayEvent {
  if (event.kind !== 'request') return event;
  const model = event.model === undefined ? undefined : withoutKeys(event.model);
  const message = event.message === undefined ? undefined : withoutKeys(event.message);
  if (model === event.model && message === event.message) return event;
  return { ...event, model, ...(message === undefined ? undefined : { message }) };
}

/** Not to the log, which may be what fails. */
function writeToStandardError(error: unknown): void {
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  process.stderr.write(`a reader of events failed: ${text}\n`);
}
