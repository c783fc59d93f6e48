import { describe, expect, it } from '@jest/globals';
import {
  budgetText,
  fitsBudget,
  standingOf,
  useAfter,
  windowOf,
  type BudgetMembers,
  type BudgetPeriod,
} from '../../src/core/budget.js';

/** From the text of a time with its offset. */
const at = (text: string): number => Date.parse(text);

describe('the window of a budget', () => {
  it.each<[BudgetPeriod, string, string, string, string]>([
    ['day', 'UTC', '2026-11-22T07:00Z', '2026-11-22T00:00Z', '2026-11-23T00:00Z'],
    ['day', 'UTC', '2026-11-22T00:00Z', '2026-11-22T00:00Z', '2026-11-23T00:00Z'],
    ['day', 'UTC', '2026-11-22T23:59:59.999Z', '2026-11-22T00:00Z', '2026-11-23T00:00Z'],
    ['week', 'UTC', '2026-11-22T07:00Z', '2026-11-16T00:00Z', '2026-11-23T00:00Z'],
    ['week', 'UTC', '2026-11-23T00:00Z', '2026-11-23T00:00Z', '2026-11-30T00:00Z'],
    ['week', 'UTC', '2027-01-01T12:00Z', '2026-12-28T00:00Z', '2027-01-04T00:00Z'],
    ['month', 'UTC', '2026-12-31T23:00Z', '2026-12-01T00:00Z', '2027-01-01T00:00Z'],
    ['month', 'UTC', '2028-02-29T12:00Z', '2028-02-01T00:00Z', '2028-03-01T00:00Z'],
    // The same moment is another day elsewhere.
    ['day', 'Asia/Tokyo', '2026-11-22T16:00Z', '2026-11-23T00:00+09:00', '2026-11-24T00:00+09:00'],
    [
      'month',
      'America/Los_Angeles',
      '2026-12-01T07:59Z',
      '2026-11-01T00:00-07:00',
      '2026-12-01T00:00-08:00',
    ],
    [
      'day',
      'Asia/Kathmandu',
      '2026-11-22T18:15Z',
      '2026-11-23T00:00+05:45',
      '2026-11-24T00:00+05:45',
    ],
    [
      'day',
      'Pacific/Kiritimati',
      '2026-11-22T10:00Z',
      '2026-11-23T00:00+14:00',
      '2026-11-24T00:00+14:00',
    ],
    // Days of 23 and 25 hours.
    [
      'day',
      'Europe/Berlin',
      '2026-03-29T12:00Z',
      '2026-03-29T00:00+01:00',
      '2026-03-30T00:00+02:00',
    ],
    [
      'day',
      'Europe/Berlin',
      '2026-10-25T12:00Z',
      '2026-10-25T00:00+02:00',
      '2026-10-26T00:00+01:00',
    ],
    [
      'month',
      'Europe/Berlin',
      '2026-10-31T23:30Z',
      '2026-11-01T00:00+01:00',
      '2026-12-01T00:00+01:00',
    ],
    // Clocks leap over midnight: the day begins at one.
    [
      'day',
      'Africa/Cairo',
      '2026-04-24T12:00Z',
      '2026-04-24T01:00+03:00',
      '2026-04-25T00:00+03:00',
    ],
    // Midnight comes twice: the day begins with the first.
    [
      'day',
      'America/Havana',
      '2026-11-01T12:00Z',
      '2026-11-01T00:00-04:00',
      '2026-11-02T00:00-05:00',
    ],
    // A day that was left out of the calendar.
    [
      'day',
      'Pacific/Apia',
      '2011-12-30T12:00Z',
      '2011-12-31T00:00+14:00',
      '2012-01-01T00:00+14:00',
    ],
    // Clocks went back over midnight: it is the new day's window in which the old date shows again.
    [
      'day',
      'America/St_Johns',
      '2010-11-07T02:45Z',
      '2010-11-07T00:00-02:30',
      '2010-11-08T00:00-03:30',
    ],
  ])('of a %s in %s at %s', (budgetPeriod, budgetTimeZone, now, from, until) => {
    const window = windowOf({ budgetPeriod, budgetTimeZone }, at(now));

    expect([iso(window.fromMs), iso(window.untilMs)]).toEqual([iso(at(from)), iso(at(until))]);
  });

  it.each(['UTC', 'Europe/Berlin', 'America/Sao_Paulo', 'Australia/Lord_Howe', 'Africa/Cairo'])(
    'leaves no moment out and none in two, through two years of %s',
    (budgetTimeZone) => {
      for (const budgetPeriod of ['day', 'week', 'month'] as const) {
        const terms = { budgetPeriod, budgetTimeZone };
        let window = windowOf(terms, at('2017-10-01T00:00Z'));
        while (window.untilMs < at('2019-04-01T00:00Z')) {
          expect(windowOf(terms, window.untilMs - 1)).toEqual(window);
          const next = windowOf(terms, window.untilMs);
          expect(next.fromMs).toBe(window.untilMs);
          window = next;
        }
      }
    },
  );
});

const DAILY: BudgetMembers = { budget: 500_000, budgetPeriod: 'day', budgetTimeZone: 'UTC' };
const NOW = at('2026-11-22T07:00Z');
const MIDNIGHT = at('2026-11-23T00:00Z');

describe('a budget', () => {
  it.each([
    [0, 100, true],
    [0, 101, false],
    [99, 1, true],
    [99, 0, true],
    [100, 0, false],
    [120, 0, false],
  ])('of 100, of which %i are spent, takes %i: %s', (spent, amount, expected) => {
    expect(fitsBudget({ budget: 100, spent }, amount)).toBe(expected);
  });

  it('stands at nothing spent once the window that was counted in has ended', () => {
    expect(standingOf(DAILY, { spent: 70, untilMs: NOW + 1 }, NOW)?.spent).toBe(70);
    expect(standingOf(DAILY, { spent: 70, untilMs: NOW }, NOW)).toEqual({
      budget: 500_000,
      period: 'day',
      timeZone: 'UTC',
      spent: 0,
      renewsAtMs: MIDNIGHT,
    });
    expect(standingOf({ ...DAILY, budget: 0 }, { spent: 70, untilMs: MIDNIGHT }, NOW)).toBe(
      undefined,
    );
  });

  it('keeps what is used when its amount changes alone', () => {
    const use = { spent: 70, untilMs: MIDNIGHT };

    expect(useAfter(DAILY, use, { ...DAILY, budget: 1 })).toBe(use);
    for (const other of [
      { budget: 0 },
      { budgetPeriod: 'week' },
      { budgetTimeZone: 'Asia/Tokyo' },
    ] as const) {
      expect(useAfter(DAILY, use, { ...DAILY, ...other })).toEqual({ spent: 0, untilMs: 0 });
    }
  });

  it('says what is spent, what was asked and when it renews by the clocks of its zone', () => {
    const standing = {
      budget: 500_000,
      period: 'week',
      timeZone: 'Asia/Tokyo',
      spent: 499_000,
      renewsAtMs: at('2026-11-22T15:00Z'),
    } as const;

    expect(budgetText(standing, 'this API key', 5_000)).toBe(
      'The weekly budget of this API key does not cover this request, which may cost $0.01: ' +
        '$0.998000 of $1.00 are spent. It renews on 2026-11-23 at 00:00 (Asia/Tokyo).',
    );
    expect(budgetText(standing, 'the account', 600_000)).toBe(
      'This request may cost $1.20, more than the weekly budget of the account: $1.00.',
    );
  });
});

function iso(ms: number): string {
  return new Date(ms).toISOString();
}
