/** How scores are drawn. Pure. */
export type Bars = 'raw' | 'share' | 'softmax';

/** Where a bar begins and how wide it is, both as a share of the widest that there could be. */
export interface Bar {
  readonly from: number;
  readonly width: number;
}

export interface BarsOf {
  readonly bars: readonly Bar[];
  /** Where zero lies, if some scores are below it: to its left, their bars end there. */
  readonly zero: number | undefined;
}

/** Bars begin at zero and end at the lane’s best: scores of two models cannot be compared. */
export function barsOf(scores: readonly number[], kind: Bars): BarsOf {
  const [best, least] = [Math.max(...scores), Math.min(...scores)];
  if (kind === 'raw' && least < 0) {
    const [from, to] = [least, Math.max(best, 0)];
    const place = (score: number): number => (score - from) / (to - from);
    const zero = place(0);
    return {
      zero,
      bars: scores.map((score) => ({
        from: Math.min(place(score), zero),
        width: Math.abs(place(score) - zero),
      })),
    };
  }
  return {
    zero: undefined,
    bars: (kind === 'softmax' ? softmaxOf(scores, best) : sharesOf(scores, best, least)).map(
      (width) => ({ from: 0, width }),
    ),
  };
}

function softmaxOf(scores: readonly number[], best: number): number[] {
  const powers = scores.map((score) => Math.exp(score - best));
  const sum = powers.reduce((total, power) => total + power, 0);
  return powers.map((power) => power / sum);
}

/** Of the best; from the least where that is below zero. */
function sharesOf(scores: readonly number[], best: number, least: number): number[] {
  const from = Math.min(least, 0);
  const span = Math.max(best - from, Number.EPSILON);
  return scores.map((score) => Math.min(1, (score - from) / span));
}
