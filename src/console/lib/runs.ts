/** Statistics over several runs of one request. Pure. */
export interface Spread {
  readonly least: number;
  readonly p50: number;
  readonly p95: number;
  readonly most: number;
}

export function spreadOf(values: readonly number[]): Spread {
  const sorted = [...values].sort((one, other) => one - other);
  return {
    least: sorted[0] ?? Number.NaN,
    p50: quantile(sorted, 0.5),
    p95: quantile(sorted, 0.95),
    most: sorted.at(-1) ?? Number.NaN,
  };
}

/** Interpolates linearly between the two nearest values. */
function quantile(sorted: readonly number[], share: number): number {
  const place = share * (sorted.length - 1);
  const below = sorted[Math.floor(place)] ?? Number.NaN;
  const above = sorted[Math.ceil(place)] ?? Number.NaN;
  return below + (above - below) * (place - Math.floor(place));
}

interface Row {
  readonly index: number;
  readonly relevance_score: number;
}

export interface Stability {
  /** Number of runs with the same order as the first, including the first. */
  readonly sameOrder: number;
  /** The most by which the score of any one document differs between runs. */
  readonly scoreSpan: number;
}

/** Whether a ranker gives the same answer when asked again. */
export function stabilityOf(runs: readonly (readonly Row[])[]): Stability {
  const [first = []] = runs;
  const orderOf = (rows: readonly Row[]): string => rows.map(({ index }) => index).join();
  const [least, most] = [new Map<number, number>(), new Map<number, number>()];
  for (const { index, relevance_score: score } of runs.flat()) {
    least.set(index, Math.min(score, least.get(index) ?? score));
    most.set(index, Math.max(score, most.get(index) ?? score));
  }
  const spans = first.map(({ index }) => (most.get(index) ?? 0) - (least.get(index) ?? 0));
  return {
    sameOrder: runs.filter((rows) => orderOf(rows) === orderOf(first)).length,
    scoreSpan: Math.max(0, ...spans),
  };
}
