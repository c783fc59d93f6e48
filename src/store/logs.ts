import type { SummedMember, UsageMembers } from '../core/usage-members.js';
import type { Page, Slice } from './page.js';
import { json, maybe, number, recordOf, text } from './records.js';

/** One admitted request. Amounts in units, durations in milliseconds. */
export interface UsageEntry extends UsageMembers {
  readonly atMs: number;
  /** Absent if the first attempt succeeded, so that success costs nothing. */
  readonly detail?: RequestDetail;
}

/** What happened to a request that took more than one attempt, or failed. */
export interface RequestDetail {
  /** The error message that the caller got; absent if the request succeeded in the end. */
  readonly message?: string;
  readonly status: number;
  /** Time spent waiting for upstreams, over all attempts. */
  readonly upstreamMs: number;
  readonly node: string;
  readonly source?: 'console';
  /** In the order they were made. */
  readonly tried: readonly AttemptRecord[];
}

/** One finished call to a channel. */
export interface AttemptRecord {
  readonly channelId: number;
  readonly provider: string;
  readonly tag?: string;
  /** `ok`, or the kind of fault. */
  readonly outcome: string;
  readonly status?: number;
  /** The upstream's words, without addresses and credentials. */
  readonly message: string;
  readonly durationMs: number;
}

/** A request that was answered without being admitted: nothing was reserved, and no channel was called. */
export interface RefusedEntry {
  readonly atMs: number;
  readonly requestId: string;
  /** Absent if the key was not recognized. */
  readonly userId: number | undefined;
  readonly tokenId: number | undefined;
  readonly tokenName: string | undefined;
  /** As the caller named it, if the request was read that far. */
  readonly model: string | undefined;
  /** The error code that the caller got. */
  readonly outcome: string;
  readonly status: number;
  readonly message: string;
  readonly address: string | undefined;
  readonly node: string;
  readonly documents: number;
  readonly durationMs: number;
  /** How many more requests of the same address and code this entry stands for. */
  readonly repeated: number;
}

export const REFUSED_ENTRIES = recordOf<RefusedEntry>('refused_log', {
  atMs: number(),
  requestId: text(),
  userId: maybe(number()),
  tokenId: maybe(number()),
  tokenName: maybe(text()),
  model: maybe(text()),
  outcome: text(),
  status: number(),
  message: text(),
  address: maybe(text()),
  node: text(),
  documents: number(),
  durationMs: number(),
  repeated: number(),
});

/** An entry as a log lists it. Numbers grow with time, almost: what nodes write at the same moment may be mixed. */
export type Logged<T> = T & { readonly id: number };

/** Which part of a log. */
export interface LogSlice extends Slice {
  /** Only entries after the one with this id in the log's order: older ones. */
  readonly before?: number;
  /** `false`: `total` counts no further than one entry beyond the slice. */
  readonly count?: false;
}

/** Which requests of either log. */
export interface RequestQuery extends LogSlice {
  readonly userId?: number;
  readonly tokenId?: number;
  readonly tokenName?: string;
  readonly model?: string;
  readonly outcome?: string;
  readonly minDurationMs?: number;
  /** The newest with this id. */
  readonly requestId?: string;
  readonly fromMs?: number;
  readonly toMs?: number;
}

export interface RefusedQuery extends RequestQuery {
  readonly address?: string;
}

/** A request by its id: the newest if the id was used again. */
export interface FoundRequest {
  readonly usage: UsageEntry | undefined;
  readonly refused: RefusedEntry | undefined;
}

/** The oldest entry of each log; `undefined` if it is empty. */
export interface LogReach {
  readonly usageFromMs: number | undefined;
  readonly refusedFromMs: number | undefined;
}

export interface UsageQuery extends RequestQuery {
  readonly channelId?: number;
  readonly provider?: string;
  readonly tag?: string;
  /** Only failed requests, whatever the code. */
  readonly failed?: true;
}

export type UsageStats = Readonly<Record<'requests' | SummedMember, number>>;

/** A member that a management write changed, by its name in the API; null: it was or is not set. */
export interface AuditChange {
  readonly member: string;
  readonly before: unknown;
  readonly after: unknown;
  /** The values are too long to be kept. */
  readonly omitted?: true;
}

/** One management write. `detail` and `changes` contain no secrets. */
export interface AuditEntry {
  readonly atMs: number;
  readonly actorId: number | undefined;
  readonly actor: string;
  readonly action: string;
  readonly target: string;
  /** What the target was called at that time; absent if it has no name, and in entries of earlier releases. */
  readonly name?: string;
  readonly detail: Readonly<Record<string, unknown>>;
  /** Absent if it changed no member, and in entries of earlier releases. */
  readonly changes?: readonly AuditChange[];
  readonly address: string | undefined;
}

type StoredAudit = {
  readonly [K in keyof Required<AuditEntry>]: AuditEntry[K];
};

export const AUDIT_ENTRIES = recordOf<StoredAudit>('audit_log', {
  atMs: number(),
  actorId: maybe(number()),
  actor: text(),
  action: text(),
  target: text(),
  name: maybe(text()),
  detail: json<AuditEntry['detail']>(undefined, {}),
  changes: maybe(json<readonly AuditChange[]>(undefined, [])),
  address: maybe(text()),
});

export interface AuditQuery extends LogSlice {
  readonly actorId?: number;
  readonly actor?: string;
  readonly action?: string;
  readonly target?: string;
  readonly fromMs?: number;
  readonly toMs?: number;
}

/** The number of a batch, by which one that is sent again because no answer came is known. */
export interface BatchMark {
  /** Who sends it: one run of a process, from start to end. */
  readonly writer: string;
  /** Grows with every batch of the writer, from 1. */
  readonly serial: number;
}

/** Logs are bounded: the oldest entries are dropped beyond `maxEntries`, or when `trimLogs` finds them too old. */
export interface LogStore {
  /** Appends all entries, or nothing if the batch with this mark was appended already. */
  appendUsage(entries: readonly UsageEntry[], maxEntries: number, mark?: BatchMark): Promise<void>;
  listUsage(query: UsageQuery): Promise<Page<Logged<UsageEntry>>>;
  usageStats(query: Omit<UsageQuery, keyof LogSlice | 'requestId'>): Promise<UsageStats>;
  /** The same for refused requests. */
  appendRefused(
    entries: readonly RefusedEntry[],
    maxEntries: number,
    mark?: BatchMark,
  ): Promise<void>;
  listRefused(query: RefusedQuery): Promise<Page<Logged<RefusedEntry>>>;
  findRequest(requestId: string): Promise<FoundRequest>;
  logReach(): Promise<LogReach>;
  appendAudit(entry: AuditEntry, maxEntries: number): Promise<void>;
  /** Gives an account another name in all audit entries; those about it lose their detail and changes. */
  forgetInAudit(userId: number, name: string): Promise<void>;
  listAudit(query: AuditQuery): Promise<Page<Logged<AuditEntry>>>;
  /** Drops older entries, those of the audit log by a separate time; resolves to how many were dropped. */
  trimLogs(olderThanMs: number, auditOlderThanMs?: number): Promise<number>;
}
