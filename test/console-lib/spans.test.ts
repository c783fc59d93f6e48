import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { forecastSpan } from '../../src/core/forecast.js';
import { startOfDay, type CalendarDay } from '../../src/core/time-zone.js';

const run = promisify(execFile);
const SPANS = fileURLToPath(new URL('../../src/console/lib/spans.ts', import.meta.url));

const ZONES = [
  ...['America/New_York', 'Asia/Kolkata', 'Asia/Shanghai', 'Pacific/Auckland', 'UTC'],
  'Europe/Berlin',
];

/** What an expression over the module is to a reader in a zone, which a process has from its beginning to its end. */
async function inZone<T>(zone: string, expression: string): Promise<T> {
  const script = `import * as spans from ${JSON.stringify(SPANS)};
    const { spanOf, spanBeside, byDay } = spans;
    const at = (...parts) => new Date(...parts).getTime() / 1_000;
    console.log(JSON.stringify(${expression}));`;
  const { stdout } = await run(
    process.execPath,
    ['--import', 'tsx', '--input-type=module', '--eval', script],
    { env: { ...process.env, TZ: zone, NODE_OPTIONS: '' } },
  );
  return JSON.parse(stdout) as T;
}

describe.each(ZONES)('a time range of a reader in %s', (zone) => {
  const day = (year: number, month: number, date: number): number =>
    startOfDay({ year, month, date } satisfies CalendarDay, zone) / 1_000;

  it('begins and ends with days and months there, and so does the one beside it', async () => {
    // Clocks change in the United States and in Europe between these days and the weeks before them.
    const spans = await inZone<Record<string, { start: number; end: number }>>(
      zone,
      `(() => {
        const now = new Date(2026, 10, 3, 13, 30);
        const nowS = now.getTime() / 1_000;
        const [month, last, week] = ['this_month', 'last_month', '7d'].map((name) => spanOf(name, now));
        const earlier = (span) => spanBeside(span, -1, nowS);
        const later = (span) => spanBeside(span, 1, nowS);
        return {
          month, last, week,
          beforeMonth: earlier(month), beforeLast: earlier(last), beforeThat: earlier(earlier(last)),
          afterLast: later(last), andBack: later(earlier(last)), afterMonth: later(month),
          beforeWeek: earlier(week),
        };
      })()`,
    );

    const october = { start: day(2026, 10, 1), end: day(2026, 11, 1) };
    const september = { start: day(2026, 9, 1), end: day(2026, 10, 1) };
    const month = { start: day(2026, 11, 1), end: day(2026, 11, 4) };
    expect(spans).toEqual({
      ...{ month, last: october, week: { start: day(2026, 10, 28), end: day(2026, 11, 4) } },
      ...{ beforeMonth: october, beforeLast: september },
      beforeThat: { start: day(2026, 8, 1), end: day(2026, 9, 1) },
      afterLast: { start: day(2026, 11, 1), end: day(2026, 12, 1) },
      ...{ andBack: october, afterMonth: month },
      beforeWeek: { start: day(2026, 10, 21), end: day(2026, 10, 28) },
    });
  }, 30_000);

  it('moves by its length where it is not of days, up to now, and has a value for each of its days', async () => {
    const { moved, clipped, days } = await inZone<{
      moved: unknown;
      clipped: unknown;
      days: unknown;
    }>(
      zone,
      `{
        moved: spanBeside({ start: 1_000, end: 1_600 }, -1, 9_000),
        clipped: spanBeside({ start: 1_000, end: 1_600 }, 1, 1_900),
        days: byDay({ start: at(2026, 9, 24), end: at(2026, 9, 27) },
          [{ day: at(2026, 9, 25), quota: 7 }, { day: at(2026, 9, 24), quota: 3 }]),
      }`,
    );

    expect(moved).toEqual({ start: 400, end: 1_000 });
    expect(clipped).toEqual({ start: 1_300, end: 1_900 });
    const times = [day(2026, 10, 24), day(2026, 10, 25), day(2026, 10, 26)];
    expect(days).toEqual({ times, values: [3, 7, 0] });
  }, 30_000);

  it('forecasts by the same days as the command line', async () => {
    const nowMs = day(2026, 10, 28) * 1_000 + 50_000_000;
    const calendar = await inZone<Record<string, number>>(
      zone,
      `spans.calendarAt(new Date(${nowMs}))`,
    );

    const { fromMs: _, ...expected } = forecastSpan(nowMs, zone);
    expect(calendar).toEqual(expected);
  }, 30_000);
});
