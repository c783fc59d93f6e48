/** How far two rankings of the same things agree. Pure; rankings are lists of ids, best first. */

/**
 * Kendall's tau-b of two lists of scores for the same things, ties counted; `undefined` where one has no order at all. By Knight's
 * way (1966): sorted by one list, a merge sort counts the inversions of the other, where comparing all pairs takes n².
 */
export function kendallTauB(a: readonly number[], b: readonly number[]): number | undefined {
  const inA = (at: number): number => a[at] ?? 0;
  const inB = (at: number): number => b[at] ?? 0;
  const order = a.map((_, at) => at).sort((i, j) => inA(i) - inA(j) || inB(i) - inB(j));
  const sorted = a.map((_, at) => at).sort((i, j) => inB(i) - inB(j));
  const isSameA = (i: number, j: number): boolean => inA(i) === inA(j);
  const isSameB = (i: number, j: number): boolean => inB(i) === inB(j);
  const pairs = pairsOf(a.length);
  const orderedByA = pairs - tiedPairs(order, isSameA);
  const orderedByB = pairs - tiedPairs(sorted, isSameB);
  const tiedInBoth = tiedPairs(order, (i, j) => isSameA(i, j) && isSameB(i, j));
  const orderedByBoth = orderedByA + orderedByB - pairs + tiedInBoth;
  const size = Math.sqrt(orderedByA * orderedByB);
  return size === 0 ? undefined : (orderedByBoth - 2 * inversionsOf(order.map(inB))) / size;
}

function pairsOf(count: number): number {
  return (count * (count - 1)) / 2;
}

/** How many pairs are the same, where equal ones are neighbours. */
function tiedPairs(sorted: readonly number[], isSame: (i: number, j: number) => boolean): number {
  let [tied, run] = [0, 1];
  for (let at = 1; at <= sorted.length; at += 1) {
    const [before, here] = [sorted[at - 1], sorted[at]];
    if (before !== undefined && here !== undefined && isSame(before, here)) run += 1;
    else {
      tied += pairsOf(run);
      run = 1;
    }
  }
  return tied;
}

/** How many pairs are in falling order. */
function inversionsOf(values: readonly number[]): number {
  let [from, to] = [Float64Array.from(values), new Float64Array(values.length)];
  let inversions = 0;
  for (let width = 1; width < values.length; width *= 2) {
    for (let start = 0; start < values.length; start += 2 * width) {
      const middle = Math.min(start + width, values.length);
      const end = Math.min(start + 2 * width, values.length);
      let [left, right] = [start, middle];
      for (let at = start; at < end; at += 1) {
        const isLeft = left < middle && (right >= end || (from[left] ?? 0) <= (from[right] ?? 0));
        if (!isLeft) inversions += middle - left;
        to[at] = from[isLeft ? left : right] ?? 0;
        if (isLeft) left += 1;
        else right += 1;
      }
    }
    [from, to] = [to, from];
  }
  return inversions;
}

/**
 * Rank-biased overlap, extrapolated (Webber, Moffat and Zobel 2010, equation 32): how much the tops of two rankings overlap,
 * each place weighing `p` times the one before it. Works for lists of different lengths.
 */
export function rankBiasedOverlap(
  a: readonly number[],
  b: readonly number[],
  p = 0.9,
): number | undefined {
  const [short, long] = a.length <= b.length ? [a, b] : [b, a];
  if (short.length === 0) return undefined;
  const [seenShort, seenLong] = [new Set<number>(), new Set<number>()];
  let common = 0;
  let commonAtShort = 0;
  let sum = 0;
  for (let depth = 1; depth <= long.length; depth += 1) {
    const fromLong = long[depth - 1] ?? 0;
    const fromShort = depth <= short.length ? short[depth - 1] : undefined;
    if (fromShort === fromLong) common += 1;
    else {
      if (seenShort.has(fromLong)) common += 1;
      if (fromShort !== undefined && seenLong.has(fromShort)) common += 1;
    }
    seenLong.add(fromLong);
    if (fromShort !== undefined) seenShort.add(fromShort);
    if (depth === short.length) commonAtShort = common;
    sum += (common / depth) * p ** depth;
    if (depth > short.length) {
      sum += ((commonAtShort * (depth - short.length)) / (depth * short.length)) * p ** depth;
    }
  }
  const end = (common - commonAtShort) / long.length + commonAtShort / short.length;
  return ((1 - p) / p) * sum + end * p ** long.length;
}

/** The share of their first `depth` places that two rankings have in common. */
export function overlapAt(depth: number, a: readonly number[], b: readonly number[]): number {
  const top = new Set(a.slice(0, depth));
  const size = Math.min(depth, Math.max(a.length, b.length));
  return size === 0 ? 1 : b.slice(0, depth).filter((id) => top.has(id)).length / size;
}
