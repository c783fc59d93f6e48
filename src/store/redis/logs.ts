import { SUMMED_MEMBERS, usageMembersOf, usageSums } from '../../core/usage-members.js';
import type {
  AuditEntry,
  BatchMark,
  Logged,
  LogSlice,
  LogStore,
  Page,
  RefusedEntry,
  UsageEntry,
} from '../store.js';
import { change, type Step } from './change.js';
import type { Connection } from './connection.js';
import type { Keys } from './keys.js';
import { listOf, numberOf, pairsOf, run, SCRIPTS, textOf } from './scripts.js';
import { auditFilter, refusedFilter, usageFilter, type Filter } from './log-filters.js';

/** Numbers have leading zeros, as the script that makes them says. */
export const NUMBER_DIGITS = 15;
/** How many entries are dropped in one step. */
const CHUNK = 1_000;
/** How many entries a search looks at in one step, which takes Redis about a millisecond. */
const LOOK = 500;

/** A log, and how to read its entries. */
interface Log<T> {
  readonly key: string;
  readonly read: (json: string) => T;
  /** The id that entries are found by, if they can be found by one. */
  readonly idOf?: (entry: T) => string;
}

/** What both logs of requests have. */
type RequestEntry = Pick<RefusedEntry, 'atMs' | 'requestId' | 'userId'>;

interface Span {
  readonly fromMs?: number | undefined;
  readonly toMs?: number | undefined;
}

export function openLogs(connection: Connection, keys: Keys): LogStore {
  const { client, answer } = connection;

  /** The numbers of the entries in a span of time, newest first: of all users or of one. */
  function numbers(
    { key: log }: { readonly key: string },
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
    { key: log }: { readonly key: string },
    userId: number | undefined,
    span: Span,
  ): Promise<number> {
    const key = userId === undefined ? `${log}:times` : `${log}:of:${userId}`;
    return answer(client.zcount(key, span.fromMs ?? '-inf', span.toMs ?? '+inf'));
  }

  async function entries<T>({ key, read }: Log<T>, found: readonly string[]): Promise<Logged<T>[]> {
    if (found.length === 0) return [];
    const records = await answer(client.hmget(`${key}:entries`, ...found));
    return records.flatMap((record, index) =>
      record === null ? [] : [loggedOf(read, found[index], record)],
    );
  }

  /**
   * What comes after the entry with this id in a span: the span from its time on, and those of that time that are passed over.
   * Nothing comes after one that is gone; it may be somebody else's.
   */
  async function after(
    { key: log }: { readonly key: string },
    userId: number | undefined,
    { fromMs, toMs }: Span,
    before: number | undefined,
  ): Promise<{ readonly span: Span; readonly passed: readonly string[] } | undefined> {
    if (before === undefined) return { span: { fromMs, toMs }, passed: [] };
    const number = String(before).padStart(NUMBER_DIGITS, '0');
    const time = await answer(client.zscore(`${log}:times`, number));
    if (time === null) return undefined;
    if (toMs !== undefined && toMs < Number(time)) return { span: { fromMs, toMs }, passed: [] };
    const key = userId === undefined ? `${log}:times` : `${log}:of:${userId}`;
    const atOnce = await answer(client.zrange(key, time, time, 'BYSCORE'));
    const passed = atOnce.filter((other) => other >= number);
    return { span: { fromMs, toMs: Number(time) }, passed };
  }

  /**
   * Visits the entries in a span that match, newest first, until `visit` says that it is enough; `passed` are the first of its
   * newest time, and left out. Redis looks at the log in steps: others get their turn in between. Each step begins at the time
   * at which the last one ended, since finding a place by its number takes longer the further down it is. What is written
   * meanwhile moves nothing out of sight, and nothing is visited twice.
   */
  async function scan<T>(
    log: Log<T>,
    userId: number | undefined,
    { fromMs, toMs }: Span,
    passed: readonly string[],
    filter: Filter<T> | undefined,
    visit: (entry: Logged<T>) => boolean,
    most = LOOK,
  ): Promise<void> {
    const times = userId === undefined ? `${log.key}:times` : `${log.key}:of:${userId}`;
    const oldest = `${fromMs ?? '-inf'}`;
    const signs = (filter?.signs ?? []).flat();
    let newest = `${toMs ?? '+inf'}`;
    let skip = passed.length;
    /** Those of the newest time that need no second look. */
    let before = new Set(passed);
    for (;;) {
      const [looked, more, last, atOnce, picked] = listOf(
        await run(
          connection,
          SCRIPTS.findEntries,
          [times, `${log.key}:entries`],
          [newest, oldest, skip, LOOK, Math.min(most, LOOK), ...signs],
        ),
      );
      for (const [number, record] of pairsOf(picked)) {
        if (before.has(number)) continue;
        const entry = loggedOf(log.read, number, record);
        if (filter?.matches(entry) !== false && visit(entry)) return;
      }
      if (more === 0) return;
      const ofLast = listOf(atOnce).map(textOf);
      if (ofLast.length < numberOf(looked)) {
        newest = textOf(last);
        skip = ofLast.length;
        before = new Set(ofLast);
      } else {
        skip += ofLast.length;
        before = new Set([...before, ...ofLast]);
      }
    }
  }

  async function page<T>(
    log: Log<T>,
    userId: number | undefined,
    query: Span & LogSlice,
    filter: Filter<T> | undefined,
  ): Promise<Page<Logged<T>>> {
    const { offset, limit } = query;
    const part = await after(log, userId, query, query.before);
    if (part === undefined) return { items: [], total: 0 };
    const { span, passed } = part;
    // One more than is wanted says whether there are more.
    const most = query.count === false ? offset + limit + 1 : Infinity;
    if (filter === undefined) {
      const [total, found] = await Promise.all([
        count(log, userId, span),
        limit > 0 ? numbers(log, userId, span, passed.length + offset, limit) : [],
      ]);
      const left = Math.max(0, total - passed.length);
      return { items: await entries(log, found), total: Math.min(left, most) };
    }
    const items: Logged<T>[] = [];
    let total = 0;
    const visit = (entry: Logged<T>): boolean => {
      if (total >= offset && items.length < limit) items.push(entry);
      total += 1;
      return total >= most;
    };
    await scan(log, userId, span, passed, filter, visit, most);
    return { items, total };
  }

  /** Appends requests, each of a user or, with '', without one; then drops the oldest ones beyond the bound. */
  async function appendRequests<T extends RequestEntry>(
    log: Log<T>,
    added: readonly T[],
    maxEntries: number,
    { writer, serial }: BatchMark = { writer: '', serial: 0 },
  ): Promise<void> {
    if (added.length === 0) return;
    const parts = ['seq', 'entries', 'times', 'ids', `writer:${writer}`];
    const places = new Places(parts, log.key);
    const args = added.map((entry) => {
      const userId = String(entry.userId ?? '');
      const place = places.of(userId);
      return `${place} ${entry.atMs} ${entry.requestId} ${userId} ${JSON.stringify(entry)}`;
    });
    const reply = await run(connection, SCRIPTS.appendRequests, places.keys, [serial, ...args]);
    await bound(log, numberOf(reply), maxEntries);
  }

  /** Drops the oldest entries of those beyond the bound. */
  async function bound<T>(log: Log<T>, total: number, maxEntries: number): Promise<void> {
    // A bound that was lowered a lot is reached step by step, so that others are not kept waiting.
    const excess = Math.min(total - maxEntries, 2 * CHUNK);
    if (excess <= 0) return;
    await drop(log, await answer(client.zrange(`${log.key}:times`, '0', `${excess - 1}`)));
  }

  /** Drops entries by number; the user of an entry never changes, so it is looked up first. Resolves to how many were dropped. */
  async function drop<T>(
    { key: log, idOf, read }: Log<T>,
    found: readonly string[],
  ): Promise<number> {
    if (found.length === 0) return 0;
    if (idOf === undefined) {
      const parts = [`${log}:entries`, `${log}:times`];
      return numberOf(await run(connection, SCRIPTS.dropEntries, parts, found));
    }
    const records = await answer(client.hmget(`${log}:entries`, ...found));
    const places = new Places(['entries', 'times', 'ids'], log);
    const args = found.flatMap((number, index) => {
      const record = records[index] ?? '';
      const blank = record.indexOf(' ');
      const of = places.of(record.slice(0, blank + 1).trim());
      return [of, number, record === '' ? '' : idOf(read(record.slice(blank + 1)))];
    });
    return numberOf(await run(connection, SCRIPTS.dropRequests, places.keys, args));
  }

  async function trim<T>(log: Log<T>, olderThanMs: number): Promise<number> {
    for (let dropped = 0; ;) {
      const old = await answer(
        client.zrange(
          ...([`${log.key}:times`, '-inf', `(${olderThanMs}`] as const),
          ...(['BYSCORE', 'LIMIT', 0, CHUNK] as const),
        ),
      );
      dropped += await drop(log, old);
      if (old.length < CHUNK) return dropped;
    }
  }

  async function find<T>(log: Log<T>, requestId: string): Promise<Logged<T> | undefined> {
    const number = await answer(client.hget(`${log.key}:ids`, requestId));
    if (number === null) return undefined;
    const [entry] = await entries(log, [number]);
    return entry;
  }

  /** A page of a log of requests: of one request, which is found by its id, or of all that match. */
  async function requests<T extends RequestEntry>(
    log: Log<T>,
    query: Span & LogSlice & { readonly userId?: number; readonly requestId?: string },
    filter: Filter<T> | undefined,
  ): Promise<Page<Logged<T>>> {
    const { userId, requestId, offset, limit, before = Infinity } = query;
    const { fromMs = -Infinity, toMs = Infinity } = query;
    if (requestId === undefined) return page(log, userId, query, filter);
    const entry = await find(log, requestId);
    const fits =
      entry !== undefined &&
      (userId === undefined || entry.userId === userId) &&
      [entry.atMs >= fromMs, entry.atMs <= toMs, entry.id < before].every(Boolean) &&
      filter?.matches(entry) !== false;
    const found = fits ? [entry] : [];
    return { items: found.slice(offset, offset + limit), total: found.length };
  }

  async function oldest({ key }: { readonly key: string }): Promise<number | undefined> {
    const [, time] = await answer(
      client.zrange(`${key}:times`, '-inf', '+inf', 'BYSCORE', 'LIMIT', 0, 1, 'WITHSCORES'),
    );
    return time === undefined ? undefined : Number(time);
  }

  const idOf = ({ requestId }: { readonly requestId: string }): string => requestId;
  const usage: Log<UsageEntry> = { key: keys.log('usage'), read: usageOf, idOf };
  const refused: Log<RefusedEntry> = { key: keys.log('refused'), read: refusedOf, idOf };
  const audit: Log<AuditEntry> = { key: keys.log('audit'), read: auditOf };

  return {
    appendUsage: (added, maxEntries, mark) => appendRequests(usage, added, maxEntries, mark),

    listUsage: (query) => requests(usage, query, usageFilter(query)),

    async usageStats({ userId, fromMs, toMs, ...query }) {
      const sum = usageSums(() => 0);
      const times = userId === undefined ? `${usage.key}:times` : `${usage.key}:of:${userId}`;
      const signs = (usageFilter(query)?.signs ?? []).flat();
      const members = [SUMMED_MEMBERS.length, ...SUMMED_MEMBERS];
      for (let newest = `${toMs ?? '+inf'}`; newest !== '';) {
        const [following, requests, ...sums] = listOf(
          await run(
            connection,
            SCRIPTS.sumEntries,
            [times, `${usage.key}:entries`],
            [newest, `${fromMs ?? '-inf'}`, LOOK, ...members, ...signs],
          ),
        );
        sum.requests += numberOf(requests);
        SUMMED_MEMBERS.forEach((name, at) => (sum[name] += numberOf(sums[at])));
        newest = textOf(following);
      }
      return sum;
    },

    appendRefused: (added, maxEntries, mark) => appendRequests(refused, added, maxEntries, mark),

    listRefused: (query) => requests(refused, query, refusedFilter(query)),

    async findRequest(requestId) {
      const [served, turnedAway] = await Promise.all([
        find(usage, requestId),
        find(refused, requestId),
      ]);
      return { usage: withoutId(served), refused: withoutId(turnedAway) };
    },

    async logReach() {
      const [usageFromMs, refusedFromMs] = await Promise.all([oldest(usage), oldest(refused)]);
      return { usageFromMs, refusedFromMs };
    },

    async appendAudit(entry, maxEntries) {
      const parts = ['seq', 'entries', 'times'].map((part) => `${audit.key}:${part}`);
      const record = ` ${JSON.stringify(entry)}`;
      const total = await run(connection, SCRIPTS.writeLog, parts, [entry.atMs, record]);
      await bound(audit, numberOf(total), maxEntries);
    },

    async forgetInAudit(userId, name) {
      const place = `${audit.key}:entries`;
      const target = `user:${userId}`;
      for (const filter of [auditFilter({ actorId: userId }), auditFilter({ target })]) {
        const found: number[] = [];
        await scan(audit, undefined, {}, [], filter, ({ id }) => found.push(id) < 0);
        for (const id of found) {
          const number = String(id).padStart(NUMBER_DIGITS, '0');
          // One that is dropped meanwhile must not come back.
          await change(connection, [['HGET', place, number]], 0, ([record]) => {
            if (typeof record !== 'string') return { result: undefined };
            const { detail, changes, ...entry } = auditOf(record.slice(record.indexOf(' ') + 1));
            const kept = {
              ...(entry.target === target
                ? { ...entry, name, detail: {} }
                : { ...entry, detail, changes }),
              actor: entry.actorId === userId ? name : entry.actor,
            };
            const write: Step = ['HSET', place, number, ` ${JSON.stringify(kept)}`];
            return { result: undefined, writes: [write] };
          });
        }
      }
    },

    listAudit: (query) => page(audit, undefined, query, auditFilter(query)),

    async trimLogs(olderThanMs, auditOlderThanMs = olderThanMs) {
      const trimmed = [
        await trim(usage, olderThanMs),
        await trim(refused, olderThanMs),
        await trim(audit, auditOlderThanMs),
      ];
      return trimmed.reduce((sum, dropped) => sum + dropped);
    },
  };
}

/** A record is the user that it is about, and its JSON. */
function loggedOf<T>(read: (json: string) => T, number: string | undefined, record: string) {
  return { ...read(record.slice(record.indexOf(' ') + 1)), id: Number(number) };
}

function withoutId<T extends object>(entry: Logged<T> | undefined): T | undefined {
  if (entry === undefined) return undefined;
  const { id: _, ...bare } = entry;
  // The rest is what was read.
  return bare as unknown as T;
}

/** The keys of a script, including the times of each user that is named to it, once. */
class Places {
  readonly keys: string[];
  readonly #log: string;
  readonly #byUser = new Map<string, number>();

  /** `parts` of the log come first. */
  constructor(parts: readonly string[], log: string) {
    this.keys = parts.map((part) => `${log}:${part}`);
    this.#log = log;
  }

  /** The number of the key that has the times of a user, from 1; 0 for none. */
  of(userId: string): number {
    if (userId === '') return 0;
    let place = this.#byUser.get(userId);
    if (place === undefined) {
      place = this.keys.push(`${this.#log}:of:${userId}`);
      this.#byUser.set(userId, place);
    }
    return place;
  }
}

/** Restores the undefined members that JSON drops, and those that the release that wrote it did not know yet. */
export function usageOf(json: string): UsageEntry {
  const stored = JSON.parse(json) as UsageEntry;
  const { atMs, detail } = stored;
  return { atMs, ...usageMembersOf(stored), ...(detail === undefined ? {} : { detail }) };
}

export function refusedOf(json: string): RefusedEntry {
  const stored = JSON.parse(json) as RefusedEntry;
  const { userId, tokenId, tokenName, model, address } = stored;
  return { ...stored, userId, tokenId, tokenName, model, address };
}

/** Restores the undefined members that JSON drops, since they are part of the type. */
export function auditOf(json: string): AuditEntry {
  const stored = JSON.parse(json) as AuditEntry;
  const { actorId, address } = stored;
  return { ...stored, actorId, address };
}
