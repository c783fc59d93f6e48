import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises';
import { StoreUnavailableError } from '../store.js';
import {
  isBusy,
  isUnavailable,
  rollBackAfter,
  wordsOf,
  type Driver,
  type SqlValue,
} from './driver.js';

export type { SqlValue } from './driver.js';

/** A prepared statement. `Row` describes its columns; the tables are STRICT, so they hold nothing else. */
export interface Statement<Row> {
  get(...parameters: readonly SqlValue[]): Row | undefined;
  all(...parameters: readonly SqlValue[]): Row[];
  /** Returns the number of changed rows. */
  run(...parameters: readonly SqlValue[]): number;
}

interface Job {
  /** Does the work and returns a function that reports its result, to be called after the commit. */
  readonly run: () => () => void;
  readonly reject: (error: unknown) => void;
}

/** The most writes in one commit: the event loop waits for all of them. */
const BATCH = 64;
/** How long to leave a file alone while another process writes to it; such a write takes well below a millisecond. */
const RETRY_MS = 1;

/**
 * One connection. Its calls block, so they must be short, and the event loop does the waiting for other processes. Writes
 * requested in one turn of the loop share a transaction: they see each other in the order they came, and each result is
 * reported only when all of them are committed.
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

  /** The statement for a text, prepared once: texts that are assembled must have few variants. */
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
    // The caller names the columns in the text, next to the type.
    return statement as Statement<Row>;
  }

  /** Runs `work` on one consistent snapshot. */
  async read<T>(work: () => T): Promise<T> {
    this.#refuseWhenClosed();
    return this.#whenFree(() => this.#transaction(this.#begin, work));
  }

  /**
   * Runs `work` in a transaction that no other writer can interrupt: all of it or nothing. `work` may be called again if the
   * first run did not count, so everything that it changes must be in the database.
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

  /** Finishes the requested writes, then releases the file. Refuses everything afterwards. */
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
        // One job is at fault, and the others must not suffer for it.
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
      rollBackAfter(error, () => this.#rollback.run());
      throw error;
    }
  }

  /** Retries while another process is in the way, until the busy timeout. */
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
