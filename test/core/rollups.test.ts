import { describe, expect, it } from '@jest/globals';
import {
  bucketOf,
  bucketsIn,
  otherSpendKey,
  otherTrafficKey,
  readSpendKey,
  readTrafficKey,
  ROLLUPS,
  stepOf,
  writeSpendKey,
  writeTrafficKey,
  type RollupName,
} from '../../src/core/rollups.js';
import { startOfDay } from '../../src/core/time-zone.js';
import { fc } from '../support/property.js';

const AT = Date.UTC(2026, 4, 17, 13, 47, 31, 250);

it.each<[RollupName, number]>([
  ['traffic_minute', Date.UTC(2026, 4, 17, 13, 47)],
  ['traffic_5_minutes', Date.UTC(2026, 4, 17, 13, 45)],
  ['traffic_hour', Date.UTC(2026, 4, 17, 13)],
  ['spend_hour', Date.UTC(2026, 4, 17, 13, 30)],
  ['spend_day', Date.UTC(2026, 4, 17)],
])(
  'a bucket of %s begins at its boundary, and contains what comes before the next',
  (name, start) => {
    expect(bucketOf(name, AT)).toBe(start);
    expect(bucketOf(name, start)).toBe(start);
    const endMs = stepOf(name, AT) + ROLLUPS[name].stepMs;
    expect(bucketOf(name, endMs - 1)).toBe(start);
    expect(bucketOf(name, endMs)).toBe(endMs);
    expect(bucketsIn(name, start, endMs)).toEqual([start, endMs]);
  },
);

it('a bucket of spending begins wherever a day begins in some time zone', () => {
  for (const zone of Intl.supportedValuesOf('timeZone')) {
    for (const month of [1, 7]) {
      const startMs = startOfDay({ year: 2026, month, date: 17 }, zone);
      expect([zone, bucketOf('spend_hour', startMs)]).toEqual([zone, startMs]);
      expect(bucketOf('spend_hour', startMs - 1)).toBeLessThan(startMs);
    }
  }
});

it('the buckets of a day of spending follow each other', () => {
  const dayMs = Date.UTC(2026, 4, 17);
  const starts = bucketsIn('spend_hour', dayMs, dayMs + ROLLUPS.spend_day.stepMs - 1);

  expect(starts).toHaveLength(37);
  expect(starts).toEqual([...new Set(starts)].sort((one, other) => one - other));
  for (const startMs of starts) expect(bucketOf('spend_hour', startMs)).toBe(startMs);
});

const id = fc.option(fc.integer({ min: 1 }), { nil: undefined });
const text = fc.option(fc.string(), { nil: undefined });

describe('the key of a row', () => {
  it('of traffic says what it was made from', () => {
    const of = fc.constantFrom('request' as const, 'attempt' as const);
    const about = {
      of,
      channelId: id,
      provider: text,
      tag: text,
      model: text,
      outcome: fc.string(),
    };
    fc.assert(
      fc.property(fc.record(about), (key) => {
        expect(readTrafficKey(writeTrafficKey(key))).toEqual(key);
      }),
    );
  });

  it('of spending says what it was made from', () => {
    const about = { channelId: id, provider: text, tag: text, model: fc.string() };
    fc.assert(
      fc.property(fc.record({ ...about, tokenId: fc.integer({ min: 1 }) }), (key) => {
        expect(readSpendKey(writeSpendKey(key))).toEqual(key);
      }),
    );
  });

  it('that gathers the rest keeps what it was and how it ended, and no names', () => {
    const names = { channelId: 1, provider: 'tei', tag: 'eu', model: 'm' };
    const none = { channelId: undefined, provider: undefined, tag: undefined };
    const traffic = (of: 'request' | 'attempt') =>
      readTrafficKey(otherTrafficKey({ ...names, of, outcome: 'ok' }));

    expect(traffic('request')).toEqual({ ...none, of: 'request', model: '*', outcome: 'ok' });
    expect(traffic('attempt')).toEqual({ ...none, of: 'attempt', model: undefined, outcome: 'ok' });
    expect(readSpendKey(otherSpendKey())).toEqual({ ...none, tokenId: 0, model: '*' });
  });
});
