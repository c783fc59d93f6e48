export interface Span {
  readonly start: number;
  /** Exclusive. */
  readonly end: number;
}

export type SpanName = 'this_month' | 'last_month' | '7d' | '30d';

const DAY_S = 24 * 3_600;

/** Start and end in seconds. Months and days begin in the reader's time zone. */
export function spanOf(name: SpanName, now: Date): Span {
  const month = (offset: number): number =>
    new Date(now.getFullYear(), now.getMonth() + offset, 1).getTime() / 1_000;
  const tomorrow = new Date(now.getFullYear(), now.getMonth(), now.getDate() + 1).getTime() / 1_000;
  switch (name) {
    case 'this_month':
      return { start: month(0), end: tomorrow };
    case 'last_month':
      return { start: month(-1), end: month(0) };
    case '7d':
      return { start: tomorrow - 7 * DAY_S, end: tomorrow };
    case '30d':
      return { start: tomorrow - 30 * DAY_S, end: tomorrow };
  }
}

/** Sums values by the day in which each step begins, in the reader's time zone. */
export function byDay(
  times: readonly number[],
  values: readonly number[],
): { readonly times: number[]; readonly values: number[] } {
  const days = new Map<number, number>();
  times.forEach((time, index) => {
    const at = new Date(time * 1_000);
    const day = new Date(at.getFullYear(), at.getMonth(), at.getDate()).getTime() / 1_000;
    days.set(day, (days.get(day) ?? 0) + (values[index] ?? 0));
  });
  return { times: [...days.keys()], values: [...days.values()] };
}
