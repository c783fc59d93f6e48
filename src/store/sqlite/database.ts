import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises';
import { StoreUnavailableError } from '../store.js';
import { isBusy, isUnavailable, wordsOf, type Driver, type SqlValue } from './driver.js';

export type { SqlValue } from './driver.js';

/** A prepared statement. `Row` is what its columns are; the tables are STRICT, so they hold nothing else. */
export interface Statement<Row> {
  get(...parameters: readonly SqlValue[]): Row | undefined;
  all(...parameters: readonly SqlValue[]): Row[];
  /** The number of rows that were changed. */
  run(...parameters: readonly SqlValue[]): number;
}

interface Job {
  /** Does the work and returns how to tell its result, which must wait for the commit. */
  readonly run: () => () => void;
  readonly reject: (error: unknown) => void;
}

/** Writes of one commit at most: the event loop waits for all of them. */
const BATCH = 64;
/** How long to leave a file alone that another process is writing to; such a write takes well below a millisecond. */
const RETRY_MS = 1;

/**
 * One connection. Its calls block, so what they do must be short, and waiting for another process is left to the event
 * loop. Writes that are asked for in one turn of the loop share a transaction: they see each other in the order in which
 * they came, and each result is told only when all of them are committed.
 */
export class Database {
  readonly #driver: Driver;
  readonly #busyTimeoutMs: number;
  readonly #begin: Statement<never>;
  readonly #beginImmediate: Statement<never>;
  readonly #commit: Statement<never>;
  readonly #rollback: Statement<never>;
  readonly #statements = new Map<string, Statement<unknown>>();
  #queue: Job[] = [];
  #flushing: Promise<void> | undefined;
  #open = true;

  constructor(driver: Driver, busyTimeoutMs: number) {
    this.#driver = driver;
    this.#busyTimeoutMs = busyTimeoutMs;
    this.#begin = this.prepare('BEGIN');
    this.#beginImmediate = this.prepare('BEGIN IMMEDIATE');
    this.#commit = this.prepare('COMMIT');
    this.#rollback = this.prepare('ROLLBACK');
  }

  /** The statement for a text, made once: texts that are put together must come in few variants. */
  prepare<Row>(sql: string): Statement<Row> {
    let statement = this.#statements.get(sql);
    if (statement === undefined) {
      const prepared = this.#driver.prepare(sql);
      statement = {
        get: (...parameters) => prepared.get(parameters) ?? undefined,
        all: (...parameters) => prepared.all(parameters),
        run: (...parameters) => prepared.run(parameters),
      };
      this.#statements.set(sql, statement);
    }
    // The caller names the columns in the text that stands beside the type.
    return statement as Statement<Row>;
  }

  /** What `work` reads, all of one moment. */
  async read<T>(work: () => T): Promise<T> {
    this.#refuseWhenClosed();
    return this.#whenFree(() => this.#transaction(this.#begin, work));
  }

  /**
   * Does `work` in a transaction that no other writer can come between: all of it or nothing. It may be called again when
   * the first time did not count, so all that it changes must be in the database.
   */
  async write<T>(work: () => T): Promise<T> {
    this.#refuseWhenClosed();
    return new Promise((resolve, reject) => {
      const run = (): (() => void) => {
        const result = work();
        return () => resolve(result);
      };
      this.#queue.push({ run, reject });
      this.#flushing ??= this.#flush();
    });
  }

  /** Finishes the writes that were asked for, then lets go of the file. Everything afterwards is refused. */
  async close(): Promise<void> {
    if (!this.#open) return;
    this.#open = false;
    await this.#flushing;
    this.#statements.clear();
    this.#driver.close();
  }

  async #flush(): Promise<void> {
    do {
      await nextTurn();
      const jobs = this.#queue.slice(0, BATCH);
      this.#queue = this.#queue.slice(BATCH);
      await this.#perform(jobs);
    } while (this.#queue.length > 0);
    this.#flushing = undefined;
  }

  async #perform(jobs: readonly Job[]): Promise<void> {
    try {
      const tells = await this.#whenFree(() =>
        this.#transaction(this.#beginImmediate, () => jobs.map(({ run }) => run())),
      );
      for (const tell of tells) tell();
    } catch (error) {
      if (jobs.length === 1 || error instanceof StoreUnavailableError) {
        for (const { reject } of jobs) reject(error);
      } else {
        // One of them is at fault, and the others must not pay for it.
        for (const job of jobs) await this.#perform([job]);
      }
    }
  }

  #transaction<T>(begin: Statement<never>, work: () => T): T {
    begin.run();
    try {
      const result = work();
      this.#commit.run();
      return result;
    } catch (error) {
      this.#rollBackAfter(error);
      throw error;
    }
  }

  /** SQLite has rolled back by itself after some errors, and then refuses to do it again. */
  #rollBackAfter(error: unknown): void {
    try {
      this.#rollback.run();
    } catch (second) {
      if (!isUnavailable(error)) throw second;
    }
  }

  /** Tries again as long as another process is in the way. */
  async #whenFree<T>(attempt: () => T): Promise<T> {
    const deadline = performance.now() + this.#busyTimeoutMs;
    for (;;) {
      try {
        return attempt();
      } catch (error) {
        if (!isUnavailable(error)) throw error;
        if (!isBusy(error) || performance.now() >= deadline) {
          throw new StoreUnavailableError(`The database file cannot be used: ${wordsOf(error)}.`, {
            cause: error,
            didNothing: true,
          });
        }
      }
      await wait(RETRY_MS);
    }
  }

  #refuseWhenClosed(): void {
    if (this.#open) return;
    throw new StoreUnavailableError('The store has been closed.', { didNothing: true });
  }
}
