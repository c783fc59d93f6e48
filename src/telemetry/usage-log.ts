import type { UsageMembers } from '../core/usage-members.js';
import type { AttemptEvent, ReadEvents, RequestEvent } from '../gateway/events.js';
import type { AttemptRecord, LogStore, UsageEntry } from '../store/store.js';
import { LogWriter, type RequestLogDeps } from './log-writer.js';

export interface UsageLogDeps extends RequestLogDeps {
  readonly store: Pick<LogStore, 'appendUsage'>;
}

/** Requests whose attempts are kept until they are answered; far more than are ever in progress. */
const MAX_TRIED = 10_000;

/** Writes an entry for every admitted request, with what was tried if an attempt did not succeed. */
export class UsageLog {
  readonly #writer: LogWriter<UsageEntry>;
  readonly #node: string;
  /** Attempts of requests in progress, starting at the first failed one. */
  readonly #tried = new Map<string, AttemptRecord[]>();

  constructor({ store, observe, now, maxEntries, node, writer }: UsageLogDeps) {
    this.#node = node;
    this.#writer = new LogWriter<UsageEntry>({
      name: 'usage log',
      append: (entries, mark) => store.appendUsage(entries, maxEntries, mark),
      ...{ observe, now, writer },
    });
  }

  /** Entries that the store does not have yet. */
  get size(): number {
    return this.#writer.size;
  }

  readonly read: ReadEvents = (events) => {
    for (const event of events) {
      if (event.kind === 'attempt') this.#readAttempt(event);
      else if (event.kind === 'request') {
        if (event.admitted) this.#writer.add(this.#entryOf(event));
        if (this.#tried.size > 0) this.#tried.delete(event.requestId);
      }
    }
    this.#writer.flush();
  };

  /** Writes what is left. From `untilMs` on, it no longer waits for a store that is away. */
  close(untilMs: number): Promise<void> {
    return this.#writer.close(untilMs);
  }

  #readAttempt(event: AttemptEvent): void {
    const before = this.#tried.size === 0 ? undefined : this.#tried.get(event.requestId);
    if (before !== undefined) before.push(recordOf(event));
    else if (event.outcome !== 'ok') {
      // An attempt may outlast its request, which then takes it out no more.
      const [oldest] = this.#tried.size < MAX_TRIED ? [] : this.#tried.keys();
      if (oldest !== undefined) this.#tried.delete(oldest);
      this.#tried.set(event.requestId, [recordOf(event)]);
    }
  }

  #entryOf(event: RequestEvent): UsageEntry {
    const tried = this.#tried.size === 0 ? undefined : this.#tried.get(event.requestId);
    const isPlain = event.outcome === 'ok' && tried === undefined && event.source === undefined;
    return isPlain ? entryOf(event) : { ...entryOf(event), detail: this.#detailOf(event, tried) };
  }

  #detailOf(
    { message, status, upstreamMs, source }: RequestEvent,
    tried: readonly AttemptRecord[] = [],
  ): NonNullable<UsageEntry['detail']> {
    return {
      ...(message === undefined ? {} : { message }),
      status,
      upstreamMs,
      node: this.#node,
      ...(source === undefined ? {} : { source }),
      tried,
    };
  }
}

function recordOf(event: AttemptEvent): AttemptRecord {
  const { channelId, provider, tag, outcome, status, message, durationMs } = event;
  return {
    channelId,
    provider,
    ...(tag === undefined ? {} : { tag }),
    outcome,
    ...(status === undefined ? {} : { status }),
    message,
    durationMs,
  };
}

/** Member by member: written from the table of members in a loop, an entry takes longer than the rest of its log. */
function entryOf(event: RequestEvent): UsageEntry {
  return {
    atMs: event.atMs,
    requestId: event.requestId,
    userId: event.userId ?? 0,
    tokenId: event.tokenId ?? 0,
    tokenName: event.tokenName ?? '',
    model: event.model ?? '',
    channelId: event.channelId,
    provider: event.provider,
    tag: event.tag,
    attempts: event.attempts,
    documents: event.documents,
    inputTokens: event.inputTokens,
    searchUnits: event.searchUnits,
    quota: event.quota,
    durationMs: event.durationMs,
    outcome: event.outcome,
  } satisfies Record<keyof UsageMembers | 'atMs', unknown>;
}
