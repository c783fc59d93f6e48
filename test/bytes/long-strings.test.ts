import { describe, expect, it } from '@jest/globals';
import { withoutLongStrings } from '../../src/bytes/long-strings.js';
import { fc } from '../support/property.js';

const LEAST = 512;
const NUMERIC = /^[\d\s.+e-]*$/i;

async function read(json: string): Promise<string> {
  const kept = await withoutLongStrings(Buffer.from(json), () => Promise.resolve());
  return kept.toString();
}

/** What should be left, by the plain parser: long strings are empty wherever an array holds them. */
function emptied(value: unknown, isInArray = false): unknown {
  if (typeof value === 'string') {
    const json = JSON.stringify(value);
    const isLong = isInArray && Buffer.byteLength(json) >= LEAST;
    return isLong && !NUMERIC.test(json.slice(1, 65)) ? '' : value;
  }
  if (Array.isArray(value)) return value.map((item) => emptied(item, true));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, emptied(item, isInArray)]),
  );
}

describe('a reply without long strings', () => {
  const long = fc
    .tuple(fc.constantFrom('a', '"', '\n', '汉', '🪐', '\\', '7', '7.5e1', ' '), fc.nat(700))
    .map(([part, times]) => part.repeat(times));
  const { json } = fc.letrec((tie) => ({
    json: fc.oneof(
      { maxDepth: 4 },
      long,
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.constantFrom(true, null, '0.5'),
      fc.array(tie('json'), { maxLength: 4 }),
      fc.dictionary(fc.string({ minLength: 1 }), tie('json'), {
        maxKeys: 4,
        noNullPrototype: true,
      }),
    ),
  }));

  it('has everything else, in order', async () => {
    let shorter = 0;
    await fc.assert(
      fc.asyncProperty(json, fc.nat(2), async (value, indent) => {
        const whole = JSON.stringify({ value }, null, indent);
        const left = await read(whole);
        expect(JSON.parse(left)).toEqual(emptied(JSON.parse(whole)));
        if (left.length < whole.length) shorter += 1;
      }),
      { numRuns: 1_000 },
    );
    expect(shorter).toBeGreaterThan(50);
  });

  it('is found wherever a window ends', async () => {
    const results = [{ text: 'b\n'.repeat(300), index: 0 }, 'c'.repeat(510), 'd'.repeat(509)];
    const tail = JSON.stringify({ note: 'n'.repeat(600), results });
    const want = JSON.stringify({
      note: 'n'.repeat(600),
      results: [{ text: '', index: 0 }, '', results[2]],
    });
    for (let shift = 0; shift <= tail.length + 1; shift += 7) {
      const blank = ' '.repeat(65_536 - shift);
      expect((await read(blank + tail)) === blank + want).toBe(true);
    }
  });

  it.each([
    ['a cut reply', `{"results":[{"text":"${'x'.repeat(600)}"}`],
    ['a bad escape', `["${'x'.repeat(600)}\\x"]`],
    ['a page', `<html>${'x'.repeat(600)}`],
    ['nothing', ''],
    ['short strings', '["a",{"b":"c"}]'],
    ['long strings in no array', JSON.stringify({ a: { b: 'x'.repeat(600) } })],
    ['a number of many digits', JSON.stringify([`0.${'3'.repeat(600)}`])],
    ['a long key', JSON.stringify([{ ['k'.repeat(600)]: 1 }])],
  ])('leaves %s as it is', async (_what, text) => {
    expect(await read(text)).toBe(text);
  });

  it('pauses after each of its steps', async () => {
    const rows = Array.from({ length: 5_000 }, (_, index) => ({ index, text: 'x'.repeat(1_000) }));
    let pauses = 0;
    const left = await withoutLongStrings(Buffer.from(JSON.stringify(rows)), () => {
      pauses += 1;
      return Promise.resolve();
    });
    expect(JSON.parse(left.toString())).toEqual(rows.map(({ index }) => ({ index, text: '' })));
    expect(pauses).toBeGreaterThanOrEqual(6);
  });
});
