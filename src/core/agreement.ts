/** How far two rankings of the same things agree. Pure; rankings are lists of ids, best first. */

/** Kendall's tau-b of two lists of scores for the same things, ties counted; `undefined` where one has no order at all. */
export function kendallTauB(a: readonly number[], b: readonly number[]): number | undefined {
  let [concordant, discordant, onlyA, onlyB] = [0, 0, 0, 0];
  for (let i = 0; i < a.length; i += 1) {
    for (let j = i + 1; j < a.length; j += 1) {
      const inA = Math.sign((a[i] ?? 0) - (a[j] ?? 0));
      const inB = Math.sign((b[i] ?? 0) - (b[j] ?? 0));
      if (inA === 0 && inB === 0) continue;
      if (inA === 0) onlyB += 1;
      else if (inB === 0) onlyA += 1;
      else if (inA === inB) concordant += 1;
      else discordant += 1;
    }
  }
  const ordered = concordant + discordant;
  const size = Math.sqrt((ordered + onlyA) * (ordered + onlyB));
  return size === 0 ? undefined : (concordant - discordant) / size;
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
