import { dayOf, startOfDay } from './time-zone.js';

const DAY_MS = 86_400_000;
/** Whole days before today that give the rate. */
const RATE_DAYS = 7;

/** What was spent on a day, which begins at `startMs`. */
export interface DaySpent {
  readonly startMs: number;
  readonly units: number;
}

/** The moments between which spending must be known for a forecast of the month of `nowMs`. */
export function forecastSpan(nowMs: number, timeZone: string) {
  const { year, month, date } = dayOf(nowMs, timeZone);
  const at = (day: number): number => startOfDay({ year, month, date: day }, timeZone);
  const [monthMs, rateMs] = [at(1), at(date - RATE_DAYS)];
  const endMs = startOfDay({ year, month: month + 1, date: 1 }, timeZone);
  return { monthMs, rateMs, todayMs: at(date), endMs, fromMs: Math.min(monthMs, rateMs) };
}

/** What a month will have cost at its end. */
export interface Forecast {
  readonly spent: number;
  /** Of the whole days that the rate is taken of; units a day. */
  readonly perDay: number;
  /** How many those are: fewer than seven where spending is not known for so long. */
  readonly days: number;
  readonly total: number;
}

/**
 * What was spent in the month so far, and the rate of the last seven whole days for the rest of it. Where spending is known only
 * since `knownFromMs`, the days before do not count; on the first day of all, the rate is that of today.
 */
export function forecast(
  days: readonly DaySpent[],
  nowMs: number,
  timeZone: string,
  knownFromMs: number,
): Forecast {
  const startOf = (atMs: number): number => startOfDay(dayOf(atMs, timeZone), timeZone);
  return forecastBy(days, nowMs, { ...forecastSpan(nowMs, timeZone), startOf }, knownFromMs);
}

/** Where the month, the days of the rate and today begin, where the month ends, and where the day of a moment begins. */
export interface ForecastCalendar extends Omit<ReturnType<typeof forecastSpan>, 'fromMs'> {
  readonly startOf: (atMs: number) => number;
}

/** The same by a calendar that the caller brings: the browser has one of its own. */
export function forecastBy(
  days: readonly DaySpent[],
  nowMs: number,
  { monthMs, rateMs, todayMs, endMs, startOf }: ForecastCalendar,
  knownFromMs: number,
): Forecast {
  const between = (fromMs: number, toMs: number): number =>
    days
      .filter(({ startMs }) => startMs >= fromMs && startMs < toMs)
      .reduce((sum, { units }) => sum + units, 0);
  const spent = between(monthMs, endMs);
  const sinceMs = Math.max(rateMs, Math.min(knownFromMs, todayMs));
  const firstMs = startOf(sinceMs);
  const wholeDays = Math.round((todayMs - firstMs) / DAY_MS);
  const known = wholeDays > 0 ? wholeDays : Math.max(nowMs - todayMs, 1) / DAY_MS;
  const perDay = between(firstMs, wholeDays > 0 ? todayMs : endMs) / known;
  const total = spent + (perDay * (endMs - nowMs)) / DAY_MS;
  return { spent, perDay: Math.round(perDay), days: wholeDays, total: Math.round(total) };
}
