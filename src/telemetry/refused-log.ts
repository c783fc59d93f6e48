import type { ReadEvents, RequestEvent } from '../gateway/events.js';
import type { LogStore, RefusedEntry } from '../store/store.js';
import { LogWriter, type RequestLogDeps } from './log-writer.js';

export interface RefusedLogDeps extends RequestLogDeps {
  readonly store: Pick<LogStore, 'appendRefused'>;
}

/** Entries per second of one address and code; any more are counted in the last one. */
const MAX_A_SECOND = 10;
const MAX_MODEL = 256;
const MAX_MESSAGE = 1_000;

/** The refusals of one address with one code in this second. */
interface Run {
  written: number;
  last: RefusedEntry;
}

/**
 * Writes an entry for every request that was refused without being admitted: people ask about these, and nothing else in
 * the store records them. A flood neither fills the log nor costs writes.
 */
export class RefusedLog {
  readonly #writer: LogWriter<RefusedEntry>;
  readonly #node: string;
  #second = 0;
  readonly #runs = new Map<string, Run>();

  constructor({ store, observe, now, maxEntries, node, writer }: RefusedLogDeps) {
    this.#node = node;
    this.#writer = new LogWriter<RefusedEntry>({
      name: 'log of refused requests',
      append: (entries, mark) => store.appendRefused(entries, maxEntries, mark),
      ...{ observe, now, writer },
    });
  }

  readonly read: ReadEvents = (events) => {
    for (const event of events) {
      if (event.kind === 'request' && !event.admitted && event.outcome !== 'ok') this.#take(event);
    }
    if (this.#writer.size > 0) this.#writer.flush();
  };

  /** Writes what is left. From `untilMs` on, it no longer waits for a store that is away. */
  close(untilMs: number): Promise<void> {
    return this.#writer.close(untilMs);
  }

  #take(event: RequestEvent): void {
    const second = Math.floor(event.atMs / 1_000);
    if (second !== this.#second) {
      this.#second = second;
      this.#runs.clear();
    }
    const name = `${event.outcome} ${event.address ?? ''}`;
    const run = this.#runs.get(name);
    if (run === undefined) {
      const entry = this.#entryOf(event);
      this.#runs.set(name, { written: 1, last: entry });
      this.#writer.add(entry);
      return;
    }
    if (run.written >= MAX_A_SECOND) {
      const counted = { ...run.last, repeated: run.last.repeated + 1 };
      const isCounted = this.#writer.replace(run.last, counted);
      run.last = isCounted ? counted : this.#entryOf(event);
      if (!isCounted) this.#writer.add(run.last);
      return;
    }
    run.written += 1;
    run.last = this.#entryOf(event);
    this.#writer.add(run.last);
  }

  #entryOf(event: RequestEvent): RefusedEntry {
    return {
      atMs: event.atMs,
      requestId: event.requestId,
      userId: event.userId,
      tokenId: event.tokenId,
      tokenName: event.tokenName,
      model: event.model?.slice(0, MAX_MODEL),
      outcome: event.outcome,
      status: event.status,
      message: (event.message ?? '').slice(0, MAX_MESSAGE),
      address: event.address,
      node: this.#node,
      documents: event.documents,
      durationMs: event.durationMs,
      repeated: 0,
    };
  }
}
