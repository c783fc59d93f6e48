/** The sums over requests or attempts, in the order in which they are stored. */
export const SUMS = [
  'requests',
  'failed',
  'documents',
  'inputTokens',
  'searchUnits',
  'quota',
  /** What upstreams take for it, as far as channels declare it. Rows of earlier releases end before it. */
  'cost',
] as const;

export type Sums = Record<(typeof SUMS)[number], number>;

/** Sums and a histogram of durations: how many lie within each bound, by the number of the bound. */
export interface Tally {
  readonly sums: Sums;
  readonly durations: Map<number, number>;
}

/** The last bound is 2^18 ms, more than four minutes; longer durations are counted there. */
const LAST_BOUND = 36;

export function newTally(): Tally {
  return {
    sums: {
      ...{ requests: 0, failed: 0, documents: 0, inputTokens: 0, searchUnits: 0, quota: 0 },
      cost: 0,
    },
    durations: new Map(),
  };
}

/** The bound that a duration falls under: bounds are 1 ms times powers of the square root of two. */
export function boundOf(durationMs: number): number {
  if (!(durationMs > 1)) return 0;
  return Math.min(LAST_BOUND, Math.ceil(2 * Math.log2(durationMs) - 1e-9));
}

/** Adds one event of that duration. */
export function count(tally: Tally, added: Partial<Sums>, durationMs: number): void {
  const { sums } = tally;
  // Each by its name: this is done several times for each request, and a loop over names costs ten times as much.
  sums.requests += added.requests ?? 0;
  sums.failed += added.failed ?? 0;
  sums.documents += added.documents ?? 0;
  sums.inputTokens += added.inputTokens ?? 0;
  sums.searchUnits += added.searchUnits ?? 0;
  sums.quota += added.quota ?? 0;
  sums.cost += added.cost ?? 0;
  const bound = boundOf(durationMs);
  tally.durations.set(bound, (tally.durations.get(bound) ?? 0) + 1);
}

/** Adds all of another tally. */
export function addTally(to: Tally, from: Tally): void {
  for (const name of SUMS) to.sums[name] += from.sums[name];
  for (const [bound, times] of from.durations) {
    to.durations.set(bound, (to.durations.get(bound) ?? 0) + times);
  }
}

/** A tally that takes little memory: its sums in their order, then each bound and how many are under it. */
export type PackedTally = readonly number[];

export function packTally({ sums, durations }: Tally): PackedTally {
  return [...SUMS.map((name) => sums[name]), ...[...durations].flat()];
}

export function addPacked({ sums, durations }: Tally, packed: PackedTally): void {
  SUMS.forEach((name, index) => {
    sums[name] += packed[index] ?? 0;
  });
  for (let at = SUMS.length; at < packed.length; at += 2) {
    const [bound = 0, times = 0] = [packed[at], packed[at + 1]];
    durations.set(bound, (durations.get(bound) ?? 0) + times);
  }
}

/**
 * The duration within which a share of all lie, in milliseconds. It is read from the bounds, so it is off by at most 19 %.
 * `undefined` if nothing was counted.
 */
export function percentile({ durations }: Tally, share: number): number | undefined {
  const bounds = [...durations].sort(([a], [b]) => a - b);
  const total = bounds.reduce((sum, [, times]) => sum + times, 0);
  if (total === 0) return undefined;
  let rest = share * total;
  for (const [bound, times] of bounds) {
    if (rest <= times) {
      const upper = 2 ** (bound / 2);
      const lower = bound === 0 ? 0 : 2 ** ((bound - 1) / 2);
      return lower + (upper - lower) * (rest / times);
    }
    rest -= times;
  }
  return 2 ** ((bounds.at(-1)?.[0] ?? 0) / 2);
}

/** As stores keep it: the sums, a bar, and `bound:times` for each bound. */
export function writeTally({ sums, durations }: Tally): string {
  const bounds = [...durations].sort(([a], [b]) => a - b).map(([bound, n]) => `${bound}:${n}`);
  return `${SUMS.map((name) => sums[name]).join(' ')}|${bounds.join(',')}`;
}

export function readTally(text: string): Tally {
  const [before = '', after = ''] = text.split('|');
  const tally = newTally();
  const numbers = before.split(' ');
  SUMS.forEach((name, index) => {
    tally.sums[name] = Number(numbers[index] ?? 0);
  });
  for (const pair of after === '' ? [] : after.split(',')) {
    const [bound, times] = pair.split(':');
    tally.durations.set(Number(bound), Number(times));
  }
  return tally;
}
