import { describe, expect, it } from '@jest/globals';
import { WrittenTexts } from '../../src/bytes/written-texts.js';
import { Owned } from '../../src/bytes/memory.js';
import { takeUncounted, timesLeft } from '../support/memory.js';
import { fc } from '../support/property.js';

describe('written texts', () => {
  takeUncounted();

  it('are the JSON of each, whatever their lengths', () => {
    const long = fc.tuple(fc.string({ unit: 'grapheme' }), fc.integer({ min: 1, max: 400_000 }));
    const text = long.map(([seed, units]) => seed.padEnd(units, `${seed}签\n"\ud83d`));
    fc.assert(
      fc.property(fc.array(text, { maxLength: 12 }), (texts) => {
        const written = new WrittenTexts();
        const json = texts.map((one) => written.add(one));

        expect(json.map((one) => one.toString())).toEqual(
          texts.map((one) => JSON.stringify(one.toWellFormed())),
        );
      }),
      { numRuns: 20 },
    );
  });

  it('share memory where there are many', () => {
    const written = new WrittenTexts();
    const json = Array.from({ length: 2_000 }, (_, at) => written.add(`${at}`.repeat(100)));

    const shared = json.filter(({ buffer }) => buffer instanceof SharedArrayBuffer);
    expect(shared.length).toBeGreaterThan(1_500);
    expect(new Set(shared.map(({ buffer }) => buffer)).size).toBeLessThan(3);
  });

  it('leave their memory to others', () => {
    const written = new WrittenTexts();
    for (let at = 0; at < 3; at += 1) written.add(`marked texts ${'x'.repeat(600_000)}`);

    written.giveBack();

    // The first lies apart.
    expect(timesLeft('marked texts', 600_000)).toBe(2);
  });

  it('leave it once', () => {
    const written = new WrittenTexts();
    for (let at = 0; at < 2; at += 1) written.add('x'.repeat(700_000));
    written.giveBack();
    const { buffer } = Owned.uncleared(700_000).bytes;

    written.giveBack();

    expect(Owned.uncleared(700_000).bytes.buffer).not.toBe(buffer);
  });
});
