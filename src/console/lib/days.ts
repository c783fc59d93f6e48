import type { Style } from './format.js';

/** The calendar day of a moment. */
export function dayOf(seconds: number, { utc }: Style): string {
  const zone = utc ? { timeZone: 'UTC' } : {};
  return new Intl.DateTimeFormat('en-CA', { dateStyle: 'short', ...zone }).format(seconds * 1000);
}

/** A moment on an axis whose ticks are so far apart: `14:05`, or `23 Nov`. */
export function tick(seconds: number, apart: number, { language, utc }: Style): string {
  const zone = utc ? { timeZone: 'UTC' } : {};
  return new Intl.DateTimeFormat(language === 'zh' ? 'zh-CN' : 'en-GB', {
    ...(apart >= 86_400
      ? ({ day: 'numeric', month: 'short' } as const)
      : ({ hour: '2-digit', minute: '2-digit' } as const)),
    ...zone,
  }).format(seconds * 1000);
}
