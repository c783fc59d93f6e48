import { describe, expect, it } from '@jest/globals';
import { lastUse } from '../../src/cli/key-list.js';
import { confirm, type CliIo } from '../../src/cli/session.js';
import { expiry, pair, past, units } from '../../src/cli/values.js';

const NOW_SECONDS = 1_800_000_000;

describe('what is typed', () => {
  it('is an amount in whole units, whether in units or in dollars', () => {
    expect(['1_000', '1.50usd', '-0.000002USD'].map(units)).toEqual([1_000, 750_000, -1]);
    for (const text of ['1.5', '0.000001usd', 'usd', '']) {
      expect(() => units(text)).toThrow('Give whole units such as 500000');
    }
  });

  it('is a name with its value, which may be empty and is left as it is', () => {
    expect(pair(' b = c=d', pair('a='))).toEqual({ a: '', b: ' c=d' });
    for (const wrong of ['=x', 'x']) expect(() => pair(wrong)).toThrow('name=value');
  });

  it('is a time before now, or a date', () => {
    const read = past(() => NOW_SECONDS * 1_000);

    expect(read('7d')).toBe(NOW_SECONDS - 7 * 86_400);
    expect(read('8760h')).toBe(NOW_SECONDS - 365 * 86_400);
    expect(read('2026-01-31')).toBe(Date.UTC(2026, 0, 31) / 1_000);
    for (const wrong of ['never', '3', 'yesterday']) {
      expect(() => read(wrong)).toThrow('Give a time before now such as 12h or 7d, or a date');
    }
  });

  it('is a date that there is, with a time of day at most', () => {
    const read = expiry(() => NOW_SECONDS * 1_000);

    expect(read('2030-01-31T12:00:00Z')).toBe(Date.UTC(2030, 0, 31, 12) / 1_000);
    expect(read('2030-01-31 12:00+01:00')).toBe(Date.UTC(2030, 0, 31, 11) / 1_000);
    for (const wrong of ['2030-01-31junk', '2030-02-31', '2030-01-31 x', '2030-01-31T25:00Z']) {
      expect(() => read(wrong)).toThrow('Give a time from now such as');
    }
  });

  it('is in UTC without a zone, wherever the machine is', () => {
    const before = process.env.TZ;
    process.env.TZ = 'Asia/Tokyo';
    try {
      const read = expiry(() => NOW_SECONDS * 1_000);

      expect(read('2030-01-31T12:00')).toBe(Date.UTC(2030, 0, 31, 12) / 1_000);
      expect(read('2030-01-31 12:00:30')).toBe(Date.UTC(2030, 0, 31, 12, 0, 30) / 1_000);
      expect(read('2030-01-31')).toBe(Date.UTC(2030, 0, 31) / 1_000);
    } finally {
      if (before === undefined) delete process.env.TZ;
      else process.env.TZ = before;
    }
  });

  it.each([
    ['y', true],
    [' YES ', true],
    ['', false],
    ['no', false],
    ['yesterday', false],
  ])('as the answer "%s" agrees: %s', async (answer, agrees) => {
    const io = { ask: () => Promise.resolve(answer) } as Partial<CliIo> as CliIo;

    const asked = confirm({ io, isAgreed: false }, 'All of it will go.');

    if (agrees) await expect(asked).resolves.toBeUndefined();
    else await expect(asked).rejects.toThrow('Nothing was done.');
  });
});

it.each([
  [5, 0, 'never'],
  [5, 3, undefined],
  [9, 0, undefined],
])('a key made at 5 and last used at %i for %i units was used: %s', (accessed, used, none) => {
  const times = { accessed_time: accessed, created_time: 5 };
  const key = { ...times, used_quota: used } as Parameters<typeof lastUse>[0];

  expect(lastUse(key).none).toBe(none);
});
