import type { Style } from './format.js';

/** The calendar day of a moment. */
export function dayOf(seconds: number, { utc }: Style): string {
  const zone = utc ? { timeZone: 'UTC' } : {};
  return new Intl.DateTimeFormat('en-CA', { dateStyle: 'short', ...zone }).format(seconds * 1000);
}

const DAY_S = 86_400;

/** The texts of the moments on an axis: `14:05` each, or `23 Nov` if they are days apart. */
export function ticks(moments: readonly number[], { language, utc }: Style): string[] {
  const zone = utc ? { timeZone: 'UTC' } : {};
  const [first = 0, second = first + DAY_S] = moments;
  const format = new Intl.DateTimeFormat(language === 'zh' ? 'zh-CN' : 'en-GB', {
    // The day on which clocks change may have 23 hours.
    ...(second - first >= DAY_S - 3_600
      ? ({ day: 'numeric', month: 'short' } as const)
      : ({ hour: '2-digit', minute: '2-digit' } as const)),
    ...zone,
  });
  return moments.map((seconds) => format.format(seconds * 1_000));
}
