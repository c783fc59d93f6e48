import { setImmediate as nextTurn } from 'node:timers/promises';
import { SUMMED_MEMBERS, USAGE_ROWS, usageMembersOf, usageSums } from '../../core/usage-members.js';
import { present, snakeCase } from '../../core/records.js';
import { AUDIT_ENTRIES, REFUSED_ENTRIES } from '../logs.js';
import type { Columns } from '../records.js';
import type {
  AuditEntry,
  AuditQuery,
  BatchMark,
  Logged,
  LogSlice,
  LogStore,
  Page,
  RefusedQuery,
  RequestDetail,
  RequestQuery,
  UsageEntry,
  UsageQuery,
  UsageStats,
} from '../store.js';
import type { Database } from './database.js';
import { Filter, searchPage, selectPage } from './page.js';
import { insertInto } from './rows.js';
import { openWriters } from './writers.js';

type LogRow = Columns & { readonly id: number; readonly at_ms: number };

const USAGE_COLUMNS = USAGE_ROWS.map(({ name }) => ({ name, column: snakeCase(name) }));
const SUMS = [
  'count(*) AS requests',
  ...SUMMED_MEMBERS.map((name) => `total(${snakeCase(name)}) AS ${name}`),
];

/** The ids between which the entries of a span are; null if there are none. */
interface Ids {
  readonly first: number | null;
  readonly last: number | null;
}

/** How many entries are added up before others get their turn: some ten milliseconds. */
const SUMMED_AT_ONCE = 10_000;
/** How many entries are dropped before others get their turn. */
const DROPPED_AT_ONCE = 1_000;

export function openLogs(database: Database): LogStore {
  const insertUsage = database.prepare<{ readonly id: number }>(
    `INSERT INTO usage_log (at_ms, detail, ${USAGE_COLUMNS.map(({ column }) => column).join(', ')})
     VALUES (?, ?, ${USAGE_COLUMNS.map(() => '?').join(', ')}) RETURNING id`,
  );
  const usage = openLog(database, 'usage_log', usageOf);
  const refused = openLog(database, 'refused_log', REFUSED_ENTRIES.fromRow);
  const audit = openLog(database, 'audit_log', auditOf);
  const renameActor = database.prepare<never>('UPDATE audit_log SET actor = ? WHERE actor_id = ?');
  const forgetTarget = database.prepare<never>(
    "UPDATE audit_log SET name = ?, detail = '{}', changes = NULL WHERE target = ?",
  );

  const isNew = openWriters(database);
  const isNewBatch = (
    log: 'usage' | 'refused',
    [first]: readonly { readonly atMs: number }[],
    mark: BatchMark | undefined,
  ): boolean => mark === undefined || isNew(`${log}:${mark.writer}`, mark.serial, first?.atMs ?? 0);

  function append(entry: UsageEntry): number {
    const row = insertUsage.get(
      entry.atMs,
      entry.detail === undefined ? null : JSON.stringify(entry.detail),
      ...USAGE_COLUMNS.map(({ name }) => entry[name] ?? null),
    );
    return row?.id ?? 0;
  }

  return {
    appendUsage: (entries, maxEntries, mark) =>
      database.write(() => {
        if (!isNewBatch('usage', entries, mark)) return;
        let newest = 0;
        for (const entry of entries) newest = append(entry);
        usage.keep(newest, maxEntries, entries.length);
      }),

    listUsage: (query) => usage.page(() => usageFilter(query), query),

    async usageStats(query) {
      const span = spanFilter(query);
      // SQLite looks up the first or the last id, but reads all rows for both at once.
      const ends =
        span.sql === ''
          ? '(SELECT min(id) FROM usage_log) AS first, (SELECT max(id) FROM usage_log) AS last'
          : `min(id) AS first, max(id) AS last FROM usage_log t ${span.sql}`;
      const ids = await database.read(() =>
        database.prepare<Ids>(`SELECT ${ends}`).get(...span.parameters),
      );
      const sums = usageSums(() => 0);
      for (let id = ids?.first ?? 1; id <= (ids?.last ?? 0); id += SUMMED_AT_ONCE) {
        const filter = usageFilter(query)
          .where('t.id >= ?', id)
          .where('t.id < ?', id + SUMMED_AT_ONCE);
        // By an index of users or times, each step would walk over all entries of the user or the span.
        const row = await database.read(() =>
          database
            .prepare<UsageStats>(
              `SELECT ${SUMS.join(', ')} FROM usage_log t NOT INDEXED ${filter.sql}`,
            )
            .get(...filter.parameters),
        );
        for (const name of ['requests', ...SUMMED_MEMBERS] as const) sums[name] += row?.[name] ?? 0;
        await nextTurn();
      }
      return sums;
    },

    appendRefused: (entries, maxEntries, mark) =>
      database.write(() => {
        if (!isNewBatch('refused', entries, mark)) return;
        let newest = 0;
        for (const entry of entries) {
          newest = insertInto(database, 'refused_log', REFUSED_ENTRIES.toRow(entry));
        }
        refused.keep(newest, maxEntries, entries.length);
      }),

    listRefused: (query) => refused.page(() => refusedFilter(query), query),

    findRequest: (requestId) =>
      database.read(() => ({ usage: usage.find(requestId), refused: refused.find(requestId) })),

    logReach: () =>
      database.read(() => ({
        usageFromMs: usage.oldestMs(),
        refusedFromMs: refused.oldestMs(),
      })),

    appendAudit: (entry, maxEntries) =>
      database.write(() => {
        const id = insertInto(database, 'audit_log', AUDIT_ENTRIES.toRow(entry));
        audit.keep(id, maxEntries, 1);
      }),

    forgetInAudit: (userId, name) =>
      database.write(() => {
        renameActor.run(name, userId);
        forgetTarget.run(name, `user:${userId}`);
      }),

    listAudit: (query) => audit.page(() => auditFilter(query), query),

    trimLogs: async (olderThanMs, auditOlderThanMs = olderThanMs) =>
      (await usage.trim(olderThanMs)) +
      (await refused.trim(olderThanMs)) +
      (await audit.trim(auditOlderThanMs)),
  };
}

/** By time, and those of one millisecond in the order of their coming. */
const NEWEST = 't.at_ms DESC,';

/** Which part of a log: what an index finds. */
type Part = LogSlice & Pick<RequestQuery, 'userId' | 'requestId' | 'fromMs' | 'toMs'>;

/** What every log does with its table. What returns no promise is called inside a transaction. */
function openLog<T>(
  database: Database,
  table: 'usage_log' | 'refused_log' | 'audit_log',
  read: (row: LogRow) => T,
) {
  const oldest = `SELECT at_ms FROM ${table} ORDER BY at_ms LIMIT 1`;
  const bound = database.prepare<never>(
    `DELETE FROM ${table} WHERE id <= min(?, (SELECT min(id) FROM ${table}) + ?)`,
  );
  const trim = database.prepare<never>(
    `DELETE FROM ${table} WHERE id IN
     (SELECT id FROM ${table} WHERE at_ms < ? ORDER BY at_ms LIMIT ${DROPPED_AT_ONCE})`,
  );
  const logged = (row: LogRow): Logged<T> => ({ ...read(row), id: row.id });

  return {
    /**
     * Ids have gaps only at the old end, so the newest id alone tells which entries exceed the bound. One that was lowered a lot
     * is reached step by step.
     */
    keep: (newestId: number, maxEntries: number, added: number) =>
      bound.run(newestId - maxEntries, DROPPED_AT_ONCE + added),

    async trim(olderThanMs: number): Promise<number> {
      for (let dropped = 0; ;) {
        const step = await database.write(() => trim.run(olderThanMs));
        dropped += step;
        if (step < DROPPED_AT_ONCE) return dropped;
      }
    },

    oldestMs: () => database.prepare<{ readonly at_ms: number }>(oldest).get()?.at_ms,

    /** The newest entry of a request, in a log of requests. */
    find(requestId: string): T | undefined {
      const row = database
        .prepare<LogRow>(`SELECT * FROM ${table} WHERE request_id = ? ORDER BY id DESC LIMIT 1`)
        .get(requestId);
      return row && read(row);
    },

    /** With `before`, only what comes after that entry in the order; nothing comes after one that is gone. */
    async page(matching: () => Filter, query: Part): Promise<Page<Logged<T>>> {
      const { offset: _, limit: _limit, count: _count, before, ...asked } = query;
      const { userId, requestId, fromMs: _from, toMs: _to, ...others } = asked;
      const after = (filter: Filter): Filter =>
        filter
          .where(`t.at_ms <= (SELECT at_ms FROM ${table} WHERE id = ?)`, before)
          .where(`(t.at_ms, t.id) < (SELECT at_ms, id FROM ${table} WHERE id = ?)`, before);
      const listed = { table, read: logged };
      const wanted = (): Filter => after(matching());
      if (requestId !== undefined || Object.keys(present(others)).length === 0) {
        return database.read(() => selectPage(database, listed, wanted(), query, NEWEST));
      }
      const looked = (): Filter => after(spanFilter(query).equal({ userId }, ['userId']));
      return searchPage(database, listed, looked, wanted, query);
    },
  };
}

function usageFilter(query: Omit<UsageQuery, keyof LogSlice>): Filter {
  return requestFilter('usage_log', query)
    .equal(query, ['channelId', 'provider', 'tag'])
    .where("t.outcome <> 'ok' AND ?", query.failed === undefined ? undefined : 1);
}

function refusedFilter(query: RefusedQuery): Filter {
  return requestFilter('refused_log', query).equal(query, ['address']);
}

function auditFilter(query: AuditQuery): Filter {
  return spanFilter(query).equal(query, ['actorId', 'actor', 'action', 'target']);
}

function requestFilter(table: string, query: Omit<RequestQuery, keyof LogSlice>): Filter {
  return spanFilter(query)
    .equal(query, ['userId', 'tokenId', 'tokenName', 'model', 'outcome'])
    .where('t.duration_ms >= ?', query.minDurationMs)
    .where(`t.id = (SELECT max(id) FROM ${table} WHERE request_id = ?)`, query.requestId);
}

function spanFilter({ fromMs, toMs }: Pick<RequestQuery, 'fromMs' | 'toMs'>): Filter {
  return new Filter().where('t.at_ms >= ?', fromMs).where('t.at_ms <= ?', toMs);
}

function usageOf(row: LogRow): UsageEntry {
  const kept = USAGE_COLUMNS.map(({ name, column }) => [name, row[column]] as const);
  return {
    atMs: row.at_ms,
    ...usageMembersOf(Object.fromEntries(kept)),
    ...(row.detail === null ? {} : { detail: JSON.parse(String(row.detail)) as RequestDetail }),
  };
}

function auditOf(row: LogRow): AuditEntry {
  const { name, changes, ...entry } = AUDIT_ENTRIES.fromRow(row);
  return { ...entry, ...present({ name, changes }) };
}
