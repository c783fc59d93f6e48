import type {
  AuditEntry,
  AuditQuery,
  LogStore,
  Page,
  Slice,
  UsageEntry,
  UsageQuery,
  UsageStats,
} from '../store.js';
import type { Connection } from './connection.js';
import type { Keys } from './keys.js';
import { numberOf, run, SCRIPTS } from './scripts.js';

/** How many entries are read, or dropped, in one step. */
const CHUNK = 1_000;

/** A log, and how an entry of it is read. */
interface Log<T> {
  readonly key: string;
  readonly read: (json: string) => T;
}

interface Span {
  readonly fromMs?: number;
  readonly toMs?: number;
}

export function openLogs(connection: Connection, keys: Keys): LogStore {
  const { client, answer } = connection;

  /** The numbers of entries in a span of time, newest first: of all users or of one. */
  function numbers(
    { key: log }: Log<unknown>,
    userId: number | undefined,
    { fromMs, toMs }: Span,
    offset: number,
    count: number,
  ): Promise<string[]> {
    const key = userId === undefined ? `${log}:times` : `${log}:of:${userId}`;
    const [newest, oldest] = [`${toMs ?? '+inf'}`, `${fromMs ?? '-inf'}`];
    return answer(client.zrange(key, newest, oldest, 'BYSCORE', 'REV', 'LIMIT', offset, count));
  }

  async function count(
    { key: log }: Log<unknown>,
    userId: number | undefined,
    span: Span,
  ): Promise<number> {
    const key = userId === undefined ? `${log}:times` : `${log}:of:${userId}`;
    return answer(client.zcount(key, span.fromMs ?? '-inf', span.toMs ?? '+inf'));
  }

  async function entries<T>({ key, read }: Log<T>, found: readonly string[]): Promise<T[]> {
    if (found.length === 0) return [];
    const records = await answer(client.hmget(`${key}:entries`, ...found));
    // Each is whom it is about, and its JSON.
    return records.flatMap((record) =>
      record === null ? [] : [read(record.slice(record.indexOf(' ') + 1))],
    );
  }

  /** Every entry that matches, newest first. The log is read in parts: others get their turn in between. */
  async function scan<T>(
    log: Log<T>,
    userId: number | undefined,
    span: Span,
    visit: (entry: T) => void,
  ): Promise<void> {
    for (let offset = 0; ; offset += CHUNK) {
      const found = await numbers(log, userId, span, offset, CHUNK);
      for (const entry of await entries(log, found)) visit(entry);
      if (found.length < CHUNK) return;
    }
  }

  async function page<T>(
    log: Log<T>,
    userId: number | undefined,
    query: Span & Slice,
    matches: ((entry: T) => boolean) | undefined,
  ): Promise<Page<T>> {
    const { offset, limit } = query;
    if (matches === undefined) {
      const [total, found] = await Promise.all([
        count(log, userId, query),
        limit > 0 ? numbers(log, userId, query, offset, limit) : [],
      ]);
      return { items: await entries(log, found), total };
    }
    const items: T[] = [];
    let total = 0;
    await scan(log, userId, query, (entry) => {
      if (!matches(entry)) return;
      if (total >= offset && items.length < limit) items.push(entry);
      total += 1;
    });
    return { items, total };
  }

  const usage: Log<UsageEntry> = { key: keys.log('usage'), read: usageOf };
  const audit: Log<AuditEntry> = { key: keys.log('audit'), read: auditOf };

  return {
    async appendUsage(added, maxEntries) {
      if (added.length === 0) return;
      const args: (string | number)[] = [maxEntries];
      for (const entry of added) {
        args.push(`${entry.atMs} ${entry.userId} ${JSON.stringify(entry)}`);
      }
      await run(connection, SCRIPTS.appendLog, usage.key, args);
    },

    listUsage: (query) => page(usage, query.userId, query, usageFilter(query)),

    async usageStats(query) {
      const matches = usageFilter(query) ?? (() => true);
      const sum = { requests: 0, quota: 0, documents: 0, inputTokens: 0 } satisfies UsageStats;
      await scan(usage, query.userId, query, (entry) => {
        if (!matches(entry)) return;
        sum.requests += 1;
        sum.quota += entry.quota;
        sum.documents += entry.documents;
        sum.inputTokens += entry.inputTokens;
      });
      return sum;
    },

    async appendAudit(entry, maxEntries) {
      await run(connection, SCRIPTS.appendLog, audit.key, [
        maxEntries,
        `${entry.atMs}  ${JSON.stringify(entry)}`,
      ]);
    },

    listAudit: (query) => page(audit, undefined, query, auditFilter(query)),

    async trimLogs(olderThanMs) {
      let dropped = 0;
      for (const { key } of [usage, audit]) {
        for (;;) {
          const part = numberOf(await run(connection, SCRIPTS.trimLog, key, [olderThanMs, CHUNK]));
          dropped += part;
          if (part < CHUNK) break;
        }
      }
      return dropped;
    },
  };
}

/** What the lists by time and user cannot tell, or `undefined` when they tell everything. */
function usageFilter(
  query: Omit<UsageQuery, 'offset' | 'limit'>,
): ((entry: UsageEntry) => boolean) | undefined {
  const { tokenId, tokenName, model, channelId, outcome } = query;
  return filterOf<UsageEntry>({ tokenId, tokenName, model, channelId, outcome });
}

function auditFilter({
  actorId,
  action,
  target,
}: AuditQuery): ((entry: AuditEntry) => boolean) | undefined {
  return filterOf<AuditEntry>({ actorId, action, target });
}

/** Members that are given must be equal. */
function filterOf<T>(wanted: {
  readonly [K in keyof T]?: T[K] | undefined;
}): ((entry: T) => boolean) | undefined {
  const given = Object.entries(wanted).filter(([, value]) => value !== undefined);
  if (given.length === 0) return undefined;
  return (entry) => given.every(([name, value]) => entry[name as keyof T] === value);
}

/** JSON drops members that are undefined; they are part of the type and come back here. */
function usageOf(json: string): UsageEntry {
  const stored = JSON.parse(json) as UsageEntry;
  const { channelId, provider, tag } = stored;
  return { ...stored, channelId, provider, tag };
}

function auditOf(json: string): AuditEntry {
  const stored = JSON.parse(json) as AuditEntry;
  const { actorId, address } = stored;
  return { ...stored, actorId, address };
}
