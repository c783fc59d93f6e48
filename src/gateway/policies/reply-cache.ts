import { LRUCache } from 'lru-cache';
import { jobKey } from '../job-key.js';
import type { Job, Layer, Rank, Ranking } from '../rank.js';
import type { SharedReplies } from '../shared-replies.js';

export interface ReplyCacheOptions {
  /** The bound on all kept rankings together, in rows. */
  readonly maxRows: number;
  readonly now: () => number;
}

interface Kept {
  readonly ranking: Ranking;
  readonly untilMs: number;
}

/** Rankings kept for identical calls of the same owner for as long as a model's rule says: on this node, and for all nodes. */
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

  /**
   * Answers from what is kept here or, with `shared`, by any node, and keeps what it did not have. A job that wants a fresh
   * ranking gets one.
   */
  layer(ruleMs: number, shared?: SharedReplies): Layer<Rank> {
    return (next) => async (job) => {
      const { keepMs = 0 } = job;
      const ttlMs = keepMs > 0 ? keepMs : ruleMs;
      const key = keyFor(await jobKey(job), ttlMs, ruleMs);
      if (job.mayBeOldMs !== 0) {
        const kept =
          this.#fresh(key, ttlMs, job) ??
          (shared === undefined ? undefined : await this.#fetched(shared, key, ttlMs, job));
        if (kept !== undefined) return { kind: 'ranked', ranking: { ...kept, from: 'cache' } };
      }
      const outcome = await next(job);
      if (outcome.kind === 'ranked' && outcome.ranking.isDegraded !== true) {
        this.#kept.set(key, { ranking: alone(outcome.ranking), untilMs: this.#now() + ttlMs });
        shared?.keep(key, outcome.ranking, ttlMs);
      }
      return outcome;
    };
  }

  #fresh(key: string, ttlMs: number, { mayBeOldMs = Infinity }: Job): Ranking | undefined {
    const kept = this.#kept.get(key);
    const leftMs = (kept?.untilMs ?? 0) - this.#now();
    return leftMs > 0 && ttlMs - leftMs <= mayBeOldMs ? kept?.ranking : undefined;
  }

  async #fetched(
    shared: SharedReplies,
    key: string,
    ttlMs: number,
    job: Job,
  ): Promise<Ranking | undefined> {
    const found = await shared.find(key);
    if (found === undefined) return undefined;
    const untilMs = this.#now() + Math.min(found.leftMs, ttlMs);
    this.#kept.set(key, { ranking: found.ranking, untilMs });
    return this.#fresh(key, ttlMs, job);
  }
}

/** A copy of a ranking: the upstream's bytes share memory with other replies, which would be kept with it. */
function alone(ranking: Ranking): Ranking {
  const { written } = ranking;
  if (written?.kind !== 'rows') return ranking;
  const bytes = Buffer.allocUnsafeSlow(written.bytes.length);
  written.bytes.copy(bytes);
  return { ...ranking, written: { ...written, bytes } };
}

/**
 * Rankings kept for a time other than the rule's are kept apart: their age is worked out from the time that is left.
 */
function keyFor(key: string, ttlMs: number, ruleMs: number): string {
  return ttlMs === ruleMs ? key : `${key} ${ttlMs}`;
}
