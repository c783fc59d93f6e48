import { describe, expect, it } from '@jest/globals';
import { dayOf, isTimeZone, startOfDay, timeOf } from '../../src/core/time-zone.js';
import { fc } from '../support/property.js';

const utc = (text: string): number => Date.parse(`${text}Z`);
const day = (year: number, month: number, date: number) => ({ year, month, date });

it.each([
  ['Europe/Berlin', true],
  ['America/Argentina/Buenos_Aires', true],
  ['UTC', true],
  ['Etc/GMT+5', true],
  ['Europe/Atlantis', false],
  ['', false],
  // Offsets are not names: they know no summer.
  ['+02:00', false],
  ['Europe/Berlin; x', false],
])('%j is the name of a zone: %s', (name, is) => {
  expect(isTimeZone(name)).toBe(is);
});

describe('a day in a zone', () => {
  it.each([
    ['UTC', '2026-05-17T23:59:59.999', day(2026, 5, 17)],
    ['Europe/Berlin', '2026-05-17T22:00', day(2026, 5, 18)],
    ['America/New_York', '2026-01-01T04:59', day(2025, 12, 31)],
    ['Pacific/Kiritimati', '2026-12-31T10:00', day(2027, 1, 1)],
  ])('of %s at %s is what its calendars show', (zone, at, shown) => {
    expect(dayOf(utc(at), zone)).toEqual(shown);
  });

  it.each([
    ['UTC', day(2026, 5, 17), '2026-05-17T00:00'],
    ['Europe/Berlin', day(2026, 5, 17), '2026-05-16T22:00'],
    // Both days on which clocks change begin at midnight.
    ['Europe/Berlin', day(2026, 3, 29), '2026-03-28T23:00'],
    ['Europe/Berlin', day(2026, 10, 25), '2026-10-24T22:00'],
    // Clocks leap from midnight to one: the day begins where the gap ends.
    ['Africa/Cairo', day(2026, 4, 24), '2026-04-23T22:00'],
    // Midnight comes twice: the first one counts.
    ['Atlantic/Azores', day(2026, 10, 25), '2026-10-25T00:00'],
    // Beyond the end of a month.
    ['UTC', day(2026, 2, 30), '2026-03-02T00:00'],
  ])('of %s begins at %j', (zone, of, at) => {
    expect(new Date(startOfDay(of, zone)).toISOString().slice(0, 16)).toBe(at);
  });

  it('begins at or before each of its moments, and in itself', () => {
    const zones = ['UTC', 'Europe/Berlin', 'Africa/Cairo', 'Australia/Lord_Howe', 'Pacific/Apia'];
    fc.assert(
      fc.property(
        fc.constantFrom(...zones),
        fc.integer({ min: utc('2000-01-01T00:00'), max: utc('2035-01-01T00:00') }),
        (zone, atMs) => {
          const shown = dayOf(atMs, zone);
          const start = startOfDay(shown, zone);
          expect(start).toBeLessThanOrEqual(atMs);
          expect(dayOf(start, zone)).toEqual(shown);
          expect(dayOf(start - 1, zone)).not.toEqual(shown);
        },
      ),
    );
  });

  it('is written as people of the zone read it', () => {
    expect(timeOf(utc('2026-11-22T23:05:59'), 'Europe/Berlin')).toBe('2026-11-23 at 00:05');
  });
});
