import { describe, expect, it } from '@jest/globals';
import { forecast, forecastSpan, type DaySpent } from '../../src/core/forecast.js';
import { startOfDay } from '../../src/core/time-zone.js';

const ZONE = 'Europe/Berlin';
const at = (month: number, date: number): number => startOfDay({ year: 2026, month, date }, ZONE);
const days = (from: number, units: number[]): DaySpent[] =>
  units.map((each, index) => ({ startMs: at(10, from + index), units: each }));

describe('the forecast of a month', () => {
  it('is what was spent, and the rate of the last seven whole days for what is left', () => {
    const spent = [
      ...days(1, [999, 0, 0]),
      ...days(4, Array<number>(7).fill(10)),
      ...days(11, [3]),
    ];

    // At noon of 11 October, 20.5 days are left, and the hour that clocks go back.
    expect(forecast(spent, at(10, 11) + 12 * 3_600_000, ZONE, 0)).toEqual({
      ...{ spent: 1_072, perDay: 10, days: 7 },
      total: Math.round(1_072 + 10 * (20.5 + 1 / 24)),
    });
  });

  it('takes the rate from the month before at the beginning of a month', () => {
    const nowMs = at(10, 2);
    const spent = [{ startMs: at(9, 25), units: 700 }, ...days(1, [70])];

    expect(forecastSpan(nowMs, ZONE)).toMatchObject({ fromMs: at(9, 25), monthMs: at(10, 1) });
    expect(forecast(spent, nowMs, ZONE, 0)).toMatchObject({ spent: 70, perDay: 110, days: 7 });
  });

  it('takes fewer days where no more are known, and today where none is', () => {
    const spent = days(9, [20, 40, 5]);
    const noonMs = at(10, 11) + 12 * 3_600_000;

    expect(forecast(spent, noonMs, ZONE, at(10, 9) + 5)).toMatchObject({ perDay: 30, days: 2 });
    expect(forecast(days(11, [5]), noonMs, ZONE, noonMs)).toMatchObject({ perDay: 10, days: 0 });
    expect(forecast([], noonMs, ZONE, noonMs).total).toBe(0);
    // The clock of the gateway may be ahead.
    expect(forecast(days(11, [5]), noonMs, ZONE, at(10, 12))).toMatchObject({
      perDay: 10,
      days: 0,
    });
  });
});
