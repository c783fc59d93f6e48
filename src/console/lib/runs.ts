/** What several runs of one request say together. Pure. */
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

/** Between the two values that it falls between, as far as it is from each. */
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
  /** Runs whose order is that of the first, which is one of them. */
  readonly sameOrder: number;
  /** By how much the score of one document differs between runs at most. */
  readonly scoreSpan: number;
}

/** Whether a ranker says the same when it is asked again. */
export function stabilityOf(runs: readonly (readonly Row[])[]): Stability {
  const [first = []] = runs;
  const orderOf = (rows: readonly Row[]): string => rows.map(({ index }) => index).join();
  const spans = first.map(({ index }) => {
    const scores = runs.flatMap((rows) =>
      rows.filter((row) => row.index === index).map(({ relevance_score: score }) => score),
    );
    return Math.max(...scores) - Math.min(...scores);
  });
  return {
    sameOrder: runs.filter((rows) => orderOf(rows) === orderOf(first)).length,
    scoreSpan: Math.max(0, ...spans),
  };
}
