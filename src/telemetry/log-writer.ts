import type { Observe } from '../gateway/events.js';
import { StoreUnavailableError, type BatchMark } from '../store/store.js';
import { Retries } from './retries.js';

export interface LogWriterDeps<T> {
  /** The name of the log in a fault. */
  readonly name: string;
  /** Appends a batch, or does nothing if it did so before: what had no answer is sent again under the same mark. */
  readonly append: (entries: readonly T[], mark: BatchMark) => Promise<void>;
  /** The source of the batches: this process, from its start to its end. */
  readonly writer: string;
  readonly observe: Observe;
  readonly now: () => number;
}

/** What a log of requests is written with, besides its store. */
export interface RequestLogDeps extends Pick<LogWriterDeps<never>, 'writer' | 'observe' | 'now'> {
  /** How many entries the store keeps. */
  readonly maxEntries: number;
  /** The name of this gateway among the others. */
  readonly node: string;
}

const BATCH = 200;
const FLUSH_AFTER_MS = 500;
/** Entries that may wait while the store is away: some ten megabytes. Any more are lost, and counted. */
const MAX_WAITING = 20_000;
const TOO_MANY = 'more entries were waiting than are kept in memory';

/**
 * Writes entries of a log in batches that no request waits for. While the store is away, entries wait, up to a bound. A
 * batch that got no answer is sent again unchanged, and counts once: below the bound, each entry is written exactly once.
 */
export class LogWriter<T> {
  readonly #deps: LogWriterDeps<T>;
  #waiting: T[] = [];
  #serial = 0;
  /** How many of the waiting entries are being sent. */
  #sent = 0;
  #dropped = 0;
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> | undefined;
  readonly #retries: Retries;

  constructor(deps: LogWriterDeps<T>) {
    this.#deps = deps;
    this.#retries = new Retries(deps.now);
  }

  /** Entries that the store does not have yet. */
  get size(): number {
    return this.#waiting.length;
  }

  add(entry: T): void {
    if (this.#waiting.length >= MAX_WAITING) this.#dropped += 1;
    else this.#waiting.push(entry);
  }

  /** Replaces an entry that is not being sent yet; returns whether it did. */
  replace(before: T, after: T): boolean {
    const at = this.#waiting.lastIndexOf(before);
    if (at < this.#sent) return false;
    this.#waiting[at] = after;
    return true;
  }

  /** Writes at once if a batch is full, otherwise soon. Called after `add`, once for all entries that came together. */
  flush(): void {
    if (this.#waiting.length >= BATCH) this.#write();
    else if (this.#waiting.length > 0) this.#writeSoon();
  }

  /** Writes what is left. From `untilMs` on, it no longer waits for a store that is away. */
  async close(untilMs: number): Promise<void> {
    this.#retries.giveUpFrom(untilMs);
    while (this.#waiting.length > 0) {
      this.#write();
      await this.#writing;
    }
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#tellDropped(new Error(TOO_MANY));
  }

  #writeSoon(): void {
    this.#timer ??= setTimeout(() => this.#write(), FLUSH_AFTER_MS).unref();
  }

  #write(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#writing ??= this.#writeFull().finally(() => {
      this.#writing = undefined;
    });
  }

  /** Writes full batches one after another; the rest waits for more to come. */
  async #writeFull(): Promise<void> {
    do await this.#writeBatch();
    while (this.#waiting.length >= BATCH);
    if (this.#waiting.length > 0) this.#writeSoon();
  }

  /** Resolves when the batch is written or lost. */
  async #writeBatch(): Promise<void> {
    const batch = this.#waiting.slice(0, BATCH);
    this.#sent = batch.length;
    this.#serial += 1;
    const mark = { writer: this.#deps.writer, serial: this.#serial };
    const failed = await this.#retries.of(() => this.#deps.append(batch, mark));
    this.#sent = 0;
    // Entries that cannot be written must not hold up the rest.
    const isAway = failed?.error instanceof StoreUnavailableError;
    const over = this.#waiting.splice(0, isAway ? this.#waiting.length : batch.length);
    if (failed !== undefined) this.#dropped += over.length;
    this.#tellDropped(failed === undefined ? new Error(TOO_MANY) : failed.error);
  }

  /** One fault for all entries lost since the last fault: a store that is away is not news for each request. */
  #tellDropped(error: unknown): void {
    if (this.#dropped === 0) return;
    const what = `${this.#dropped} entries of the ${this.#deps.name} were lost`;
    this.#dropped = 0;
    this.#deps.observe({ kind: 'fault', what, error });
  }
}
