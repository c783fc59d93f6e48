import { LRUCache } from 'lru-cache';
import { jobKey } from '../job-key.js';
import type { Layer, Rank, Ranking } from '../rank.js';

export interface ReplyCacheOptions {
  /** Limit on all cached rankings together, in rows. */
  readonly maxRows: number;
  readonly now: () => number;
}

interface Kept {
  readonly ranking: Ranking;
  readonly untilMs: number;
}

/** Rankings of this node, kept for identical calls of the same owner for as long as a model's rule says. */
export class ReplyCache {
  readonly #kept: LRUCache<string, Kept>;
  readonly #now: () => number;

  constructor({ maxRows, now }: ReplyCacheOptions) {
    this.#kept = new LRUCache({
      maxSize: maxRows,
      sizeCalculation: ({ ranking }) => Math.max(1, ranking.rows.length),
    });
    this.#now = now;
  }

  /** Answers from the cache, and caches new rankings. A job that wants a fresh ranking gets one. */
  layer(ttlMs: number): Layer<Rank> {
    return (next) => async (job) => {
      const key = jobKey(job);
      const nowMs = this.#now();
      const kept = job.mayBeOldMs === 0 ? undefined : this.#kept.get(key);
      const ageMs = kept === undefined ? 0 : nowMs - (kept.untilMs - ttlMs);
      if (kept !== undefined && kept.untilMs > nowMs && ageMs <= (job.mayBeOldMs ?? Infinity)) {
        return { kind: 'ranked', ranking: { ...kept.ranking, from: 'cache' } };
      }
      const outcome = await next(job);
      if (outcome.kind === 'ranked' && outcome.ranking.isDegraded !== true) {
        this.#kept.set(key, { ranking: outcome.ranking, untilMs: this.#now() + ttlMs });
      }
      return outcome;
    };
  }
}
