import type { AuditEntry, LogStore, UsageEntry, UsageQuery, UsageStats } from '../store.js';
import type { Database } from './database.js';
import { Filter, selectPage } from './page.js';

interface UsageRow {
  readonly at_ms: number;
  readonly request_id: string;
  readonly user_id: number;
  readonly token_id: number;
  readonly token_name: string;
  readonly model: string;
  readonly channel_id: number | null;
  readonly provider: string | null;
  readonly tag: string | null;
  readonly attempts: number;
  readonly documents: number;
  readonly input_tokens: number;
  readonly search_units: number;
  readonly quota: number;
  readonly duration_ms: number;
  readonly outcome: string;
}

interface AuditRow {
  readonly at_ms: number;
  readonly actor_id: number | null;
  readonly actor: string;
  readonly action: string;
  readonly target: string;
  readonly detail: string;
  readonly address: string | null;
}

export function openLogs(database: Database): LogStore {
  const insertUsage = database.prepare<{ readonly id: number }>(
    `INSERT INTO usage_log (at_ms, request_id, user_id, token_id, token_name, model, channel_id, provider, tag,
       attempts, documents, input_tokens, search_units, quota, duration_ms, outcome)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id`,
  );
  const insertAudit = database.prepare<{ readonly id: number }>(
    `INSERT INTO audit_log (at_ms, actor_id, actor, action, target, detail, address)
     VALUES (?, ?, ?, ?, ?, ?, ?) RETURNING id`,
  );
  // Ids have no gaps but at the old end, so the newest id alone tells which entries are too many.
  const boundUsage = database.prepare<never>('DELETE FROM usage_log WHERE id <= ?');
  const boundAudit = database.prepare<never>('DELETE FROM audit_log WHERE id <= ?');
  const trimUsage = database.prepare<never>('DELETE FROM usage_log WHERE at_ms < ?');
  const trimAudit = database.prepare<never>('DELETE FROM audit_log WHERE at_ms < ?');

  function append(entry: UsageEntry): number {
    const row = insertUsage.get(
      entry.atMs,
      entry.requestId,
      entry.userId,
      entry.tokenId,
      entry.tokenName,
      entry.model,
      entry.channelId ?? null,
      entry.provider ?? null,
      entry.tag ?? null,
      entry.attempts,
      entry.documents,
      entry.inputTokens,
      entry.searchUnits,
      entry.quota,
      entry.durationMs,
      entry.outcome,
    );
    return row?.id ?? 0;
  }

  return {
    appendUsage: (entries, maxEntries) =>
      database.write(() => {
        let newest = 0;
        for (const entry of entries) newest = append(entry);
        boundUsage.run(newest - maxEntries);
      }),

    listUsage: (query) =>
      database.read(() =>
        selectPage(database, { table: 'usage_log', read: usageOf }, usageFilter(query), query),
      ),

    usageStats: (query) =>
      database.read(() => {
        const filter = usageFilter(query);
        const row = database
          .prepare<UsageStats>(
            `SELECT count(*) AS requests, total(quota) AS quota, total(documents) AS documents,
               total(input_tokens) AS inputTokens
             FROM usage_log t ${filter.sql}`,
          )
          .get(...filter.parameters);
        return {
          requests: row?.requests ?? 0,
          quota: row?.quota ?? 0,
          documents: row?.documents ?? 0,
          inputTokens: row?.inputTokens ?? 0,
        };
      }),

    appendAudit: ({ atMs, actorId, actor, action, target, detail, address }, maxEntries) =>
      database.write(() => {
        const row = insertAudit.get(
          atMs,
          actorId ?? null,
          actor,
          action,
          target,
          JSON.stringify(detail),
          address ?? null,
        );
        boundAudit.run((row?.id ?? 0) - maxEntries);
      }),

    listAudit: (query) =>
      database.read(() => {
        const filter = new Filter()
          .where('t.actor_id = ?', query.actorId)
          .where('t.action = ?', query.action)
          .where('t.target = ?', query.target)
          .where('t.at_ms >= ?', query.fromMs)
          .where('t.at_ms <= ?', query.toMs);
        return selectPage(database, { table: 'audit_log', read: auditOf }, filter, query);
      }),

    trimLogs: (olderThanMs) =>
      database.write(() => trimUsage.run(olderThanMs) + trimAudit.run(olderThanMs)),
  };
}

function usageFilter(query: Omit<UsageQuery, 'offset' | 'limit'>): Filter {
  return new Filter()
    .where('t.user_id = ?', query.userId)
    .where('t.token_id = ?', query.tokenId)
    .where('t.token_name = ?', query.tokenName)
    .where('t.model = ?', query.model)
    .where('t.channel_id = ?', query.channelId)
    .where('t.outcome = ?', query.outcome)
    .where('t.at_ms >= ?', query.fromMs)
    .where('t.at_ms <= ?', query.toMs);
}

function usageOf(row: UsageRow): UsageEntry {
  return {
    atMs: row.at_ms,
    requestId: row.request_id,
    userId: row.user_id,
    tokenId: row.token_id,
    tokenName: row.token_name,
    model: row.model,
    channelId: row.channel_id ?? undefined,
    provider: row.provider ?? undefined,
    tag: row.tag ?? undefined,
    attempts: row.attempts,
    documents: row.documents,
    inputTokens: row.input_tokens,
    searchUnits: row.search_units,
    quota: row.quota,
    durationMs: row.duration_ms,
    outcome: row.outcome,
  };
}

function auditOf(row: AuditRow): AuditEntry {
  return {
    atMs: row.at_ms,
    actorId: row.actor_id ?? undefined,
    actor: row.actor,
    action: row.action,
    target: row.target,
    detail: JSON.parse(row.detail) as AuditEntry['detail'],
    address: row.address ?? undefined,
  };
}
