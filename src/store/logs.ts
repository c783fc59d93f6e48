import type { SummedMember, UsageMembers } from '../core/usage-members.js';
import type { Page, Slice } from './page.js';

/** One admitted request. Amounts in units, durations in milliseconds. */
export interface UsageEntry extends UsageMembers {
  readonly atMs: number;
  /** Absent where the first attempt went well, so that what goes well costs nothing. */
  readonly detail?: RequestDetail;
}

/** What happened to a request that took more than one attempt, or failed. */
export interface RequestDetail {
  /** What the caller was told; absent where all went well in the end. */
  readonly message?: string;
  readonly status: number;
  /** Waiting for upstreams, all attempts together. */
  readonly upstreamMs: number;
  readonly node: string;
  readonly source?: 'console';
  /** In the order in which they were made. */
  readonly tried: readonly AttemptRecord[];
}

/** One call to a channel, ended. */
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

/** A request that was answered without being admitted: nothing was reserved, and no channel asked. */
export interface RefusedEntry {
  readonly atMs: number;
  readonly requestId: string;
  /** Absent where the key was not recognized. */
  readonly userId: number | undefined;
  readonly tokenId: number | undefined;
  readonly tokenName: string | undefined;
  /** As the caller named it, where the request was read so far. */
  readonly model: string | undefined;
  /** The error code that the caller got. */
  readonly outcome: string;
  readonly status: number;
  readonly message: string;
  readonly address: string | undefined;
  readonly node: string;
  readonly documents: number;
  readonly durationMs: number;
  /** How many more of one address and code this entry stands for. */
  readonly repeated: number;
}

export interface RefusedQuery extends Slice {
  readonly userId?: number;
  readonly tokenId?: number;
  readonly tokenName?: string;
  readonly model?: string;
  readonly outcome?: string;
  readonly address?: string;
  readonly fromMs?: number;
  readonly toMs?: number;
}

/** A request by its id: where ids were used again, the newest. */
export interface FoundRequest {
  readonly usage: UsageEntry | undefined;
  readonly refused: RefusedEntry | undefined;
}

/** The oldest entry of each log; `undefined` where it is empty. */
export interface LogReach {
  readonly usageFromMs: number | undefined;
  readonly refusedFromMs: number | undefined;
}

export interface UsageQuery extends Slice {
  readonly userId?: number;
  readonly tokenId?: number;
  readonly tokenName?: string;
  readonly model?: string;
  readonly channelId?: number;
  readonly provider?: string;
  readonly tag?: string;
  readonly outcome?: string;
  /** Only those that failed, whatever the code. */
  readonly failed?: true;
  readonly minDurationMs?: number;
  readonly fromMs?: number;
  readonly toMs?: number;
}

export type UsageStats = Readonly<Record<'requests' | SummedMember, number>>;

/** One management write. `detail` holds no secrets. */
export interface AuditEntry {
  readonly atMs: number;
  readonly actorId: number | undefined;
  readonly actor: string;
  readonly action: string;
  readonly target: string;
  readonly detail: Readonly<Record<string, unknown>>;
  readonly address: string | undefined;
}

export interface AuditQuery extends Slice {
  readonly actorId?: number;
  readonly action?: string;
  readonly target?: string;
  readonly fromMs?: number;
  readonly toMs?: number;
}

/** Logs are bounded: the oldest entries go when there are more than `maxEntries`, or when they are older than asked. */
export interface LogStore {
  appendUsage(entries: readonly UsageEntry[], maxEntries: number): Promise<void>;
  listUsage(query: UsageQuery): Promise<Page<UsageEntry>>;
  usageStats(query: Omit<UsageQuery, 'offset' | 'limit'>): Promise<UsageStats>;
  appendRefused(entries: readonly RefusedEntry[], maxEntries: number): Promise<void>;
  listRefused(query: RefusedQuery): Promise<Page<RefusedEntry>>;
  findRequest(requestId: string): Promise<FoundRequest>;
  logReach(): Promise<LogReach>;
  appendAudit(entry: AuditEntry, maxEntries: number): Promise<void>;
  listAudit(query: AuditQuery): Promise<Page<AuditEntry>>;
  /** Drops what is older; resolves to how many entries went. */
  trimLogs(olderThanMs: number): Promise<number>;
}
