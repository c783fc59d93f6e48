import {
  bucketOf,
  otherSpendKey,
  otherTrafficKey,
  ROLLUPS,
  writeSpendKey,
  writeTrafficKey,
  type RollupName,
  type SpendKey,
  type TrafficKey,
} from '../core/rollups.js';
import { addTally, count, newTally, type Tally } from '../core/tally.js';
import type { AttemptEvent, Observe, ReadEvents, RequestEvent } from '../gateway/events.js';
import type { StatsAddition, StatsStore } from '../store/store.js';
import { Retries } from './retries.js';

export interface RollupsDeps {
  readonly store: Pick<StatsStore, 'addStats'>;
  readonly observe: Observe;
  readonly now: () => number;
  /** The source of the additions: this process, from its start to its end. */
  readonly writer: string;
  /** How many days spending is kept by day; nothing is kept by hour for longer. */
  readonly keepDays: number;
}

/** The counts of one minute, before they are added to the longer buckets too. */
interface Pending {
  readonly atMs: number;
  readonly owner: number;
  readonly key: string;
  readonly otherKey: string;
  readonly tally: Tally;
}

const EVERY_MS = 2_000;
const BATCH = 400;
/** Rows that may wait while the store is away; any more are counted as lost. */
const MAX_PENDING = 20_000;
/** The most rows of one bucket, and of one account in it: the rest are counted together. */
const MAX_ROWS = 1_000;
const DAY_MS = 24 * 3_600_000;

const TRAFFIC = ['traffic_minute', 'traffic_5_minutes', 'traffic_hour'] as const;
const SPENDING = ['spend_hour', 'spend_day', 'total_hour'] as const;

/** The row that all spending is counted in. */
const ALL_SPENDING = { owner: 0, key: otherSpendKey(), otherKey: otherSpendKey() };

const MAX_RECENT = 8;

/** Recently counted rows: most events are about the same few, and comparing costs less than writing a key. */
class RecentRows<About> {
  readonly #isSame: (one: About, other: About) => boolean;
  #rows: { readonly about: About; readonly row: Pending }[] = [];

  constructor(isSame: (one: About, other: About) => boolean) {
    this.#isSame = isSame;
  }

  find(atMs: number, owner: number, about: About): Pending | undefined {
    for (const known of this.#rows) {
      const { row } = known;
      if (row.atMs === atMs && row.owner === owner && this.#isSame(known.about, about)) return row;
    }
    return undefined;
  }

  /** Remembers a row, if there is one; the oldest makes room for it. */
  keep(about: About, row: Pending | undefined): Pending | undefined {
    if (row === undefined) return undefined;
    if (this.#rows.length === MAX_RECENT) this.#rows.shift();
    this.#rows.push({ about, row });
    return row;
  }

  clear(): void {
    this.#rows = [];
  }
}

function isSameTraffic(one: TrafficKey, other: TrafficKey): boolean {
  return (
    one.of === other.of &&
    one.outcome === other.outcome &&
    one.model === other.model &&
    isSameChannel(one, other)
  );
}

function isSameSpending(one: SpendKey, other: SpendKey): boolean {
  return one.tokenId === other.tokenId && one.model === other.model && isSameChannel(one, other);
}

type OfChannel = Pick<TrafficKey, 'channelId' | 'provider' | 'tag'>;

function isSameChannel(one: OfChannel, other: OfChannel): boolean {
  return (
    one.channelId === other.channelId && one.provider === other.provider && one.tag === other.tag
  );
}

/**
 * Adds up events in memory, and adds the sums to the store every two seconds, in a few writes however many events there
 * were. What the store did not confirm is sent again unchanged, and counts once: the sums agree with what was settled, on
 * any number of nodes.
 */
export class Rollups {
  readonly #deps: RollupsDeps;
  #pending = new Map<string, Pending>();
  readonly #traffic = new RecentRows<TrafficKey>(isSameTraffic);
  readonly #spending = new RecentRows<SpendKey>(isSameSpending);
  #lost = 0;
  /** By channel, the part of a unit that was not counted yet: sums are whole. */
  readonly #restsOfCosts = new Map<number | undefined, number>();
  #serial = 0;
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> | undefined;
  readonly #retries: Retries;

  constructor(deps: RollupsDeps) {
    this.#deps = deps;
    this.#retries = new Retries(deps.now);
  }

  readonly read: ReadEvents = (events) => {
    for (const event of events) {
      if (event.kind === 'request') this.#readRequest(event);
      else if (event.kind === 'attempt') this.#readAttempt(event);
    }
    if (this.#pending.size > 0 && this.#writing === undefined) this.#writeSoon();
  };

  /** Writes what is left. From `untilMs` on, it no longer waits for a store that is away. */
  async close(untilMs: number): Promise<void> {
    this.#retries.giveUpFrom(untilMs);
    while (this.#pending.size > 0 || this.#writing !== undefined) {
      this.#write();
      await this.#writing;
    }
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #readRequest(event: RequestEvent): void {
    const { atMs, channelId, provider, tag, outcome, admitted, userId, tokenId } = event;
    const model = event.knownModel ? event.model : undefined;
    const cost = (this.#restsOfCosts.get(channelId) ?? 0) + event.cost;
    this.#restsOfCosts.set(channelId, cost % 1);
    const sums = {
      requests: 1,
      failed: outcome === 'ok' ? 0 : 1,
      documents: event.documents,
      inputTokens: event.inputTokens,
      searchUnits: event.searchUnits,
      quota: event.quota,
      cost: Math.floor(cost),
    };
    this.#countTraffic(
      atMs,
      { of: 'request', channelId, provider, tag, model, outcome },
      event,
      sums,
    );
    // Spending counts what the balance knows of: admitted requests alone.
    if (!admitted || userId === undefined || tokenId === undefined) return;
    const minuteMs = bucketOf('traffic_minute', atMs);
    const about = { tokenId, model: model ?? '', channelId, provider, tag };
    const row =
      this.#spending.find(minuteMs, userId, about) ??
      this.#spending.keep(
        about,
        this.#rowOf(minuteMs, userId, writeSpendKey(about), otherSpendKey),
      );
    if (row !== undefined) count(row.tally, sums, event.durationMs);
  }

  #readAttempt(event: AttemptEvent): void {
    const { channelId, provider, tag, outcome } = event;
    const key = { of: 'attempt', channelId, provider, tag, model: undefined, outcome } as const;
    const failed = outcome === 'ok' || outcome === 'cancelled' ? 0 : 1;
    this.#countTraffic(this.#deps.now(), key, event, { requests: 1, failed });
  }

  #countTraffic(
    atMs: number,
    about: TrafficKey,
    { durationMs }: { readonly durationMs: number },
    sums: Parameters<typeof count>[1],
  ): void {
    const minuteMs = bucketOf('traffic_minute', atMs);
    const row =
      this.#traffic.find(minuteMs, 0, about) ??
      this.#traffic.keep(
        about,
        this.#rowOf(minuteMs, 0, writeTrafficKey(about), () => otherTrafficKey(about)),
      );
    if (row !== undefined) count(row.tally, sums, durationMs);
  }

  #rowOf(atMs: number, owner: number, key: string, other: () => string): Pending | undefined {
    const id = `${atMs} ${owner} ${key}`;
    let row = this.#pending.get(id);
    if (row === undefined) {
      if (this.#pending.size >= MAX_PENDING) {
        this.#lost += 1;
        return undefined;
      }
      row = { atMs, owner, key, otherKey: other(), tally: newTally() };
      this.#pending.set(id, row);
    }
    return row;
  }

  #writeSoon(): void {
    this.#timer ??= setTimeout(() => this.#write(), EVERY_MS).unref();
  }

  #write(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#writing ??= this.#writePending().finally(() => {
      this.#writing = undefined;
      if (this.#pending.size > 0) this.#writeSoon();
    });
  }

  async #writePending(): Promise<void> {
    const additions = this.#additionsOf([...this.#pending.values()]);
    this.#pending = new Map();
    this.#traffic.clear();
    this.#spending.clear();
    for (let at = 0; at < additions.length; at += BATCH) {
      await this.#writeBatch(additions.slice(at, at + BATCH));
    }
  }

  /** Adds each minute to its bucket in each roll-up. */
  #additionsOf(pending: readonly Pending[]): StatsAddition[] {
    const additions = new Map<string, StatsAddition>();
    for (const { tally, atMs, ...row } of pending) {
      for (const rollup of row.owner === 0 ? TRAFFIC : SPENDING) {
        const { owner, key, otherKey } = rollup === 'total_hour' ? ALL_SPENDING : row;
        const startMs = bucketOf(rollup, atMs);
        const id = `${rollup} ${startMs} ${owner} ${key}`;
        let addition = additions.get(id);
        if (addition === undefined) {
          const expiresMs = startMs + this.#keepMs(rollup);
          addition = {
            ...{ rollup, atMs: startMs, owner, key, otherKey, expiresMs },
            tally: newTally(),
          };
          additions.set(id, addition);
        }
        addTally(addition.tally, tally);
      }
    }
    return [...additions.values()];
  }

  #keepMs(rollup: RollupName): number {
    const { stepMs, keepMs } = ROLLUPS[rollup];
    return stepMs + Math.min(keepMs, this.#deps.keepDays * DAY_MS);
  }

  /** Resolves when the batch is written or lost. */
  async #writeBatch(additions: readonly StatsAddition[]): Promise<void> {
    const { store, now, writer } = this.#deps;
    this.#serial += 1;
    const batch = { writer, serial: this.#serial, nowMs: now(), maxRows: MAX_ROWS, additions };
    const failed = await this.#retries.of(() => store.addStats(batch));
    if (failed !== undefined) this.#lost += additions.length;
    const tooMany = new Error('more rows were waiting than are kept in memory');
    this.#tellLost(failed === undefined ? tooMany : failed.error);
  }

  #tellLost(error: unknown): void {
    if (this.#lost === 0) return;
    const what = `${this.#lost} rows of the statistics were lost`;
    this.#lost = 0;
    this.#deps.observe({ kind: 'fault', what, error });
  }
}
