/** The mean of a sample, and how far the true one may be from it. */
export interface Mean {
  readonly mean: number;
  /** Half of the 95 % confidence interval; `undefined` where there are too few values to tell. */
  readonly within: number | undefined;
  readonly count: number;
}

/** The 97.5 % quantile of Student’s t for 1, 2, 3… degrees of freedom; beyond, that of the normal distribution is close. */
const STUDENT = [
  ...[12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228],
  ...[2.201, 2.179, 2.16, 2.145, 2.131, 2.12, 2.11, 2.101, 2.093, 2.086],
  ...[2.08, 2.074, 2.069, 2.064, 2.06, 2.056, 2.052, 2.048, 2.045, 2.042],
];
const NORMAL = 1.96;

/** Below this many values an interval says nothing: with two it may be ten times the whole scale. */
const LEAST_FOR_INTERVAL = 8;

/** Pure; `undefined` of nothing. */
export function meanOf(values: readonly number[]): Mean | undefined {
  const count = values.length;
  if (count === 0) return undefined;
  const mean = values.reduce((sum, value) => sum + value, 0) / count;
  if (count < LEAST_FOR_INTERVAL) return { mean, within: undefined, count };
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (count - 1);
  const quantile = STUDENT[count - 2] ?? NORMAL;
  return { mean, within: quantile * Math.sqrt(variance / count), count };
}
