/** A day of the calendar; months from 1. Values beyond a month's end mean the days after it. */
export interface CalendarDay {
  readonly year: number;
  readonly month: number;
  readonly date: number;
}

const DAY_MS = 86_400_000;
const NAME = /^[A-Za-z][\w+-]*(\/[\w+-]+)*$/;
/** Names of zones are few; spellings of them need not be. */
const MOST_FORMATS = 1_000;
const formats = new Map<string, Intl.DateTimeFormat>();

/** Whether this is the name of a zone in the IANA database, as `Europe/Berlin`. */
export function isTimeZone(name: string): boolean {
  if (!NAME.test(name)) return false;
  try {
    formatOf(name);
    return true;
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}

/** The day that calendars of a zone show. */
export function dayOf(atMs: number, timeZone: string): CalendarDay {
  const local = new Date(localMs(atMs, timeZone));
  return { year: local.getUTCFullYear(), month: local.getUTCMonth() + 1, date: local.getUTCDate() };
}

/** The first moment of a day in a zone: midnight, or the end of the gap where clocks leap over it. */
export function startOfDay({ year, month, date }: CalendarDay, timeZone: string): number {
  const midnight = Date.UTC(year, month - 1, date);
  const [early, late] = [midnight + DAY_MS, midnight - DAY_MS].map(
    (nearMs) => midnight - (localMs(nearMs, timeZone) - nearMs),
  ) as [number, number];
  const first = Math.min(early, late);
  const last = Math.max(early, late);
  if (localMs(first, timeZone) === midnight) return first;
  if (localMs(last, timeZone) === midnight) return last;
  return firstFrom(first, last, (atMs) => localMs(atMs, timeZone) >= midnight);
}

/** What calendars and clocks of a zone show, as `2026-11-23 at 00:00`. */
export function timeOf(atMs: number, timeZone: string): string {
  const text = new Date(localMs(atMs, timeZone)).toISOString();
  return `${text.slice(0, 10)} at ${text.slice(11, 16)}`;
}

/** The smallest whole number above `before`, `last` at most, from which on a condition holds. */
function firstFrom(before: number, last: number, holds: (value: number) => boolean): number {
  let [low, high] = [before, last];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (holds(middle)) high = middle;
    else low = middle;
  }
  return high;
}

/** What the clocks of a zone show, as if it were UTC. */
function localMs(atMs: number, timeZone: string): number {
  const parts: Record<string, number> = {};
  for (const { type, value } of formatOf(timeZone).formatToParts(atMs)) parts[type] = Number(value);
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts;
  return Date.UTC(year, month - 1, day, hour, minute, second);
}

function formatOf(timeZone: string): Intl.DateTimeFormat {
  const known = formats.get(timeZone);
  if (known !== undefined) return known;
  const format = new Intl.DateTimeFormat('en-US', {
    ...{ timeZone, calendar: 'iso8601', numberingSystem: 'latn', hourCycle: 'h23' },
    ...{ year: 'numeric', month: 'numeric', day: 'numeric' },
    ...{ hour: 'numeric', minute: 'numeric', second: 'numeric' },
  });
  if (formats.size >= MOST_FORMATS) formats.clear();
  formats.set(timeZone, format);
  return format;
}
