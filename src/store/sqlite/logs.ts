import { setImmediate as nextTurn } from 'node:timers/promises';
import { SUMMED_MEMBERS, USAGE_ROWS, usageMembersOf, usageSums } from '../../core/usage-members.js';
import { present, snakeCase } from '../../core/records.js';
import { AUDIT_ENTRIES, REFUSED_ENTRIES } from '../logs.js';
import type { Columns } from '../records.js';
import type {
  AuditEntry,
  BatchMark,
  Logged,
  LogSlice,
  LogStore,
  RefusedQuery,
  UsageEntry,
  UsageQuery,
  UsageStats,
} from '../store.js';
import type { Database } from './database.js';
import { Filter, selectPage } from './page.js';
import { insertInto } from './rows.js';
import { openWriters } from './writers.js';

interface LoggedRow {
  readonly id: number;
}

type UsageRow = Columns & {
  readonly id: number;
  readonly at_ms: number;
  readonly detail: string | null;
};

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

export function openLogs(database: Database): LogStore {
  const insertUsage = database.prepare<{ readonly id: number }>(
    `INSERT INTO usage_log (at_ms, detail, ${USAGE_COLUMNS.map(({ column }) => column).join(', ')})
     VALUES (?, ?, ${USAGE_COLUMNS.map(() => '?').join(', ')}) RETURNING id`,
  );
  const findUsage = database.prepare<UsageRow>(
    'SELECT * FROM usage_log WHERE request_id = ? ORDER BY id DESC LIMIT 1',
  );
  const findRefused = database.prepare<LoggedRow>(
    'SELECT * FROM refused_log WHERE request_id = ? ORDER BY id DESC LIMIT 1',
  );
  const oldest = (table: 'usage_log' | 'refused_log') =>
    database.prepare<{ readonly at_ms: number }>(
      `SELECT at_ms FROM ${table} ORDER BY at_ms LIMIT 1`,
    );
  const oldestUsage = oldest('usage_log');
  const oldestRefused = oldest('refused_log');
  // Ids have gaps only at the old end, so the newest id alone tells which entries exceed the bound.
  const boundUsage = database.prepare<never>('DELETE FROM usage_log WHERE id <= ?');
  const boundRefused = database.prepare<never>('DELETE FROM refused_log WHERE id <= ?');
  const boundAudit = database.prepare<never>('DELETE FROM audit_log WHERE id <= ?');
  const trimUsage = database.prepare<never>('DELETE FROM usage_log WHERE at_ms < ?');
  const trimRefused = database.prepare<never>('DELETE FROM refused_log WHERE at_ms < ?');
  const renameActor = database.prepare<never>('UPDATE audit_log SET actor = ? WHERE actor_id = ?');
  const forgetTarget = database.prepare<never>(
    "UPDATE audit_log SET name = ?, detail = '{}', changes = NULL WHERE target = ?",
  );
  const trimAudit = database.prepare<never>('DELETE FROM audit_log WHERE at_ms < ?');

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
        boundUsage.run(newest - maxEntries);
      }),

    listUsage: (query) =>
      database.read(() =>
        selectPage(
          database,
          { table: 'usage_log', read: logged(usageOf) },
          after('usage_log', usageFilter(query), query),
          query,
          NEWEST,
        ),
      ),

    async usageStats(query) {
      const span = new Filter()
        .where('t.at_ms >= ?', query.fromMs)
        .where('t.at_ms <= ?', query.toMs);
      const ids = await database.read(() =>
        database
          .prepare<Ids>(`SELECT min(id) AS first, max(id) AS last FROM usage_log t ${span.sql}`)
          .get(...span.parameters),
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
        boundRefused.run(newest - maxEntries);
      }),

    listRefused: (query) =>
      database.read(() =>
        selectPage(
          database,
          { table: 'refused_log', read: logged(REFUSED_ENTRIES.fromRow) },
          after('refused_log', refusedFilter(query), query),
          query,
          NEWEST,
        ),
      ),

    findRequest: (requestId) =>
      database.read(() => {
        const usage = findUsage.get(requestId);
        const refused = findRefused.get(requestId);
        return {
          usage: usage === undefined ? undefined : usageOf(usage),
          refused: refused && REFUSED_ENTRIES.fromRow(refused),
        };
      }),

    logReach: () =>
      database.read(() => ({
        usageFromMs: oldestUsage.get()?.at_ms,
        refusedFromMs: oldestRefused.get()?.at_ms,
      })),

    appendAudit: (entry, maxEntries) =>
      database.write(() => {
        const id = insertInto(database, 'audit_log', AUDIT_ENTRIES.toRow(entry));
        boundAudit.run(id - maxEntries);
      }),

    forgetInAudit: (userId, name) =>
      database.write(() => {
        renameActor.run(name, userId);
        forgetTarget.run(name, `user:${userId}`);
      }),

    listAudit: (query) =>
      database.read(() => {
        const filter = new Filter()
          .where('t.actor_id = ?', query.actorId)
          .where('t.actor = ?', query.actor)
          .where('t.action = ?', query.action)
          .where('t.target = ?', query.target)
          .where('t.at_ms >= ?', query.fromMs)
          .where('t.at_ms <= ?', query.toMs);
        const listed = { table: 'audit_log', read: logged(auditOf) };
        return selectPage(database, listed, after('audit_log', filter, query), query, NEWEST);
      }),

    trimLogs: (olderThanMs, auditOlderThanMs = olderThanMs) =>
      database.write(
        () =>
          trimUsage.run(olderThanMs) +
          trimRefused.run(olderThanMs) +
          trimAudit.run(auditOlderThanMs),
      ),
  };
}

/** By time, and those of one millisecond in the order of their coming. */
const NEWEST = 't.at_ms DESC,';

/** Only what comes after an entry in that order; nothing comes after one that is gone. */
function after(table: string, filter: Filter, { before }: LogSlice): Filter {
  return filter
    .where(`t.at_ms <= (SELECT at_ms FROM ${table} WHERE id = ?)`, before)
    .where(`(t.at_ms, t.id) < (SELECT at_ms, id FROM ${table} WHERE id = ?)`, before);
}

/** An entry as a log lists it. */
function logged<Row extends LoggedRow, T>(read: (row: Row) => T): (row: Row) => Logged<T> {
  return (row) => ({ ...read(row), id: row.id });
}

function usageFilter(query: Omit<UsageQuery, keyof LogSlice>): Filter {
  return new Filter()
    .where('t.user_id = ?', query.userId)
    .where('t.token_id = ?', query.tokenId)
    .where('t.token_name = ?', query.tokenName)
    .where('t.model = ?', query.model)
    .where('t.channel_id = ?', query.channelId)
    .where('t.provider = ?', query.provider)
    .where('t.tag = ?', query.tag)
    .where('t.outcome = ?', query.outcome)
    .where("t.outcome <> 'ok' AND ?", query.failed === undefined ? undefined : 1)
    .where('t.duration_ms >= ?', query.minDurationMs)
    .where('t.id = (SELECT max(id) FROM usage_log WHERE request_id = ?)', query.requestId)
    .where('t.at_ms >= ?', query.fromMs)
    .where('t.at_ms <= ?', query.toMs);
}

function refusedFilter(query: RefusedQuery): Filter {
  return new Filter()
    .where('t.user_id = ?', query.userId)
    .where('t.token_id = ?', query.tokenId)
    .where('t.token_name = ?', query.tokenName)
    .where('t.model = ?', query.model)
    .where('t.outcome = ?', query.outcome)
    .where('t.address = ?', query.address)
    .where('t.duration_ms >= ?', query.minDurationMs)
    .where('t.id = (SELECT max(id) FROM refused_log WHERE request_id = ?)', query.requestId)
    .where('t.at_ms >= ?', query.fromMs)
    .where('t.at_ms <= ?', query.toMs);
}

function usageOf(row: UsageRow): UsageEntry {
  const kept = USAGE_COLUMNS.map(({ name, column }) => [name, row[column]] as const);
  return {
    atMs: row.at_ms,
    ...usageMembersOf(Object.fromEntries(kept)),
    ...(row.detail === null
      ? {}
      : { detail: JSON.parse(row.detail) as NonNullable<UsageEntry['detail']> }),
  };
}

function auditOf(row: LoggedRow): AuditEntry {
  const { name, changes, ...entry } = AUDIT_ENTRIES.fromRow(row);
  return { ...entry, ...present({ name, changes }) };
}
