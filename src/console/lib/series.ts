/** Sums of `steps` values each, grouped from the end: the first sum may cover fewer. Pure. */
export function summedBy(steps: number, values: readonly number[]): number[] {
  const sums: number[] = [];
  for (let end = values.length; end > 0; end -= steps) {
    const part = values.slice(Math.max(0, end - steps), end);
    sums.unshift(part.reduce((sum, value) => sum + value, 0));
  }
  return sums;
}
