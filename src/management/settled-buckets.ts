import { addPacked, packTally, type PackedTally, type Tally } from '../core/tally.js';

/** What one bucket of a roll-up adds to a series: to its total, and to each group. */
export interface BucketParts {
  readonly whole: Tally;
  readonly groups: ReadonlyMap<string, Tally>;
}

interface Kept {
  readonly readAtMs: number;
  readonly whole: PackedTally;
  readonly groups: readonly (readonly [string, PackedTally])[];
}

/** Nodes report every two seconds. */
const SETTLED_AFTER_MS = 2 * 60_000;
/** A node that could not reach the store reports later: old buckets are read again from time to time. */
const KEPT_MS = 60_000;
/** Some 10 MB. */
const MAX_TALLIES = 40_000;

/**
 * Buckets that are over and hardly change any more, added up as a series asks. An open overview asks for the same hour
 * every few seconds, and only its last minutes are new.
 */
export class SettledBuckets {
  readonly #buckets = new Map<string, Kept>();
  #tallies = 0;

  /** Adds a bucket to what `addTo` gives for the total (`undefined`) or a group; false if it is not kept. */
  visit(key: string, nowMs: number, tallyOf: (group: string | undefined) => Tally): boolean {
    const kept = this.#buckets.get(key);
    if (kept === undefined) return false;
    if (Math.abs(nowMs - kept.readAtMs) >= KEPT_MS) {
      this.#drop(key, kept);
      return false;
    }
    addPacked(tallyOf(undefined), kept.whole);
    for (const [group, tally] of kept.groups) addPacked(tallyOf(group), tally);
    return true;
  }

  /** Keeps a bucket that ended at `endMs`, if it is settled; the oldest make room for it. */
  keep(key: string, endMs: number, nowMs: number, { whole, groups }: BucketParts): void {
    if (nowMs - endMs < SETTLED_AFTER_MS || groups.size >= MAX_TALLIES) return;
    const before = this.#buckets.get(key);
    if (before !== undefined) this.#drop(key, before);
    for (const [oldest, kept] of this.#buckets) {
      if (this.#tallies + groups.size + 1 <= MAX_TALLIES) break;
      this.#drop(oldest, kept);
    }
    const packed = Array.from(groups, ([group, tally]) => [group, packTally(tally)] as const);
    this.#buckets.set(key, { readAtMs: nowMs, whole: packTally(whole), groups: packed });
    this.#tallies += packed.length + 1;
  }

  #drop(key: string, { groups }: Kept): void {
    this.#buckets.delete(key);
    this.#tallies -= groups.length + 1;
  }
}
