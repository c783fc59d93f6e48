export interface Span {
  readonly start: number;
  /** Exclusive. */
  readonly end: number;
}

export type SpanName = 'this_month' | 'last_month' | '7d' | '30d';

const DAY_S = 24 * 3_600;

/** Start and end in seconds. Months and days begin in the reader's time zone. */
export function spanOf(name: SpanName, now: Date): Span {
  const month = (offset: number): number => dayFrom(now, offset, 1);
  const tomorrow = dayFrom(now, 0, now.getDate() + 1);
  switch (name) {
    case 'this_month':
      return { start: month(0), end: tomorrow };
    case 'last_month':
      return { start: month(-1), end: month(0) };
    case '7d':
      return { start: dayFrom(now, 0, now.getDate() - 6), end: tomorrow };
    case '30d':
      return { start: dayFrom(now, 0, now.getDate() - 29), end: tomorrow };
  }
}

/**
 * The span before or after another one, whatever clocks do in between: of a month, or of what has passed of it, the next month;
 * of days, as many days; of anything else, as many seconds, up to now. Nothing comes after now: the span itself.
 */
export function spanBeside({ start, end }: Span, steps: -1 | 1, nowS: number): Span {
  const [first, last] = [new Date(start * 1_000), new Date(end * 1_000)];
  if (!isMidnight(first) || !isMidnight(last)) {
    const next = Math.min(end + steps * (end - start), Math.max(end, nowS));
    return { start: next - (end - start), end: next };
  }
  const isMonth = first.getDate() === 1 && end <= dayFrom(first, 1, 1);
  const days = Math.round((end - start) / DAY_S) * steps;
  const next = isMonth
    ? { start: dayFrom(first, steps, 1), end: dayFrom(first, steps + 1, 1) }
    : {
        start: dayFrom(first, 0, first.getDate() + days),
        end: dayFrom(last, 0, last.getDate() + days),
      };
  return steps === 1 && next.start > nowS ? { start, end } : next;
}

/** What each day of a span has, in the reader's time zone: 0 unless a row says otherwise. */
export function byDay(
  { start, end }: Span,
  rows: readonly { readonly day: number | null; readonly quota: number }[],
): { readonly times: number[]; readonly values: number[] } {
  const found = new Map(rows.map(({ day, quota }) => [day, quota]));
  const first = new Date(start * 1_000);
  const times = [start];
  for (let days = 1; ; days += 1) {
    const time = dayFrom(first, 0, first.getDate() + days);
    if (time >= end) break;
    times.push(time);
  }
  return { times, values: times.map((time) => found.get(time) ?? 0) };
}

/** When the month of a date, its last seven days and the day itself began, and when the month ends, in the reader's time zone. */
export function calendarAt(date: Date) {
  const at = (months: number, day: number): number => dayFrom(date, months, day) * 1_000;
  const today = date.getDate();
  const startOf = (ms: number): number => dayFrom(new Date(ms), 0, new Date(ms).getDate()) * 1_000;
  return {
    monthMs: at(0, 1),
    rateMs: at(0, today - 7),
    todayMs: at(0, today),
    endMs: at(1, 1),
    startOf,
  };
}

/** The start of a day in the month that is so many after the one of a date, in seconds. */
function dayFrom(date: Date, months: number, day: number): number {
  return new Date(date.getFullYear(), date.getMonth() + months, day).getTime() / 1_000;
}

/** Whether a day begins: at midnight, or where clocks leap over it. */
function isMidnight(date: Date): boolean {
  return dayFrom(date, 0, date.getDate()) * 1_000 === date.getTime();
}
