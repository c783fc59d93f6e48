import { describe, expect, it } from '@jest/globals';
import { Interleaved } from '../../src/bytes/interleaved.js';
import { LoneHalves } from '../../src/bytes/halves.js';
import { atOnce } from '../../src/bytes/steps.js';
import { fc } from '../support/property.js';

/** Too much for WebAssembly: parts of it are copied one by one. */
const MUCH = Buffer.alloc(1_400_000, 'x');

const text = fc.string({ unit: 'grapheme', maxLength: 30 });
const part = fc.record({
  before: fc.oneof(text, fc.constantFrom(0, 1, 2)),
  start: fc.nat(3_000),
  length: fc.oneof(fc.nat(20), fc.nat(300), fc.nat(2_000)),
});

interface Part {
  /** A text, or which of those that are kept. */
  readonly before: string | number;
  readonly start: number;
  readonly length: number;
}

function interleaved(body: Buffer, kept: readonly string[], parts: readonly Part[]): Interleaved {
  const whole = new Interleaved(body, 2);
  const places = kept.map((one) => whole.keep(one));
  for (const { before, start, length } of parts) {
    if (typeof before === 'string') whole.addBehind(before, start, start + length);
    else whole.add(places[before] ?? { start: 0, end: 0 }, start, start + length);
  }
  return whole;
}

describe('parts of a body with texts between them', () => {
  it('are the same whether they are woven or copied one by one, and what they ought to be', () => {
    const body = Buffer.from(Array.from({ length: 6_000 }, (_, at) => at % 251));
    fc.assert(
      fc.property(
        fc.array(text, { minLength: 3, maxLength: 3 }),
        fc.array(part, { maxLength: 40 }),
        (kept, parts) => {
          const expected = Buffer.concat(
            parts.flatMap(({ before, start, length }) => [
              Buffer.from(typeof before === 'string' ? before : (kept[before] ?? '')),
              body.subarray(start, start + length),
            ]),
          );
          for (const bytes of [body, Buffer.concat([body, MUCH])]) {
            const fragment = interleaved(bytes, kept, parts).fragment();

            expect(interleaved(bytes, kept, parts).size).toBe(expected.length);
            expect(fragment.size).toBe(expected.length);
            expect(Buffer.concat([...fragment.pieces()]).equals(expected)).toBe(true);
            expect(fragment.bytes.equals(expected)).toBe(true);
            expect(atOnce(interleaved(bytes, kept, parts).write()).equals(expected)).toBe(true);
          }
        },
      ),
      { numRuns: 300 },
    );
  });

  it('have put back what was replaced', () => {
    const original = 'a\\ud83db\\udc00c';
    for (const more of ['', MUCH.toString('latin1')]) {
      const body = Buffer.from(original + more);
      const replaced = atOnce(LoneHalves.replace(body, Uint32Array.of(1, 8)));

      const fragment = interleaved(
        body,
        [],
        [
          { before: '-', start: 0, length: 8 },
          { before: '-', start: 7, length: 8 },
        ],
      ).fragment(replaced);

      const expected = '-a\\ud83db-b\\udc00c';
      expect(Buffer.concat([...fragment.pieces()]).toString()).toBe(expected);
      expect(fragment.toString()).toBe(expected);
    }
  });

  it('may be more than there is room for in WebAssembly', () => {
    const body = Buffer.from('0123456789');
    const parts = Array.from({ length: 20_000 }, (_, at) => ({
      before: ',',
      start: at % 10,
      length: 1,
    }));

    const expected = parts.map(({ start }) => `,${start}`).join('');
    expect(interleaved(body, [], parts).fragment().toString()).toBe(expected);
  });

  it('are written in steps if they are large', () => {
    const body = Buffer.alloc(3_000_000, 'y');
    const work = interleaved(
      body,
      [],
      [
        { before: '[', start: 0, length: 2_000_000 },
        { before: ',', start: 0, length: 1_000_000 },
      ],
    ).write();
    let pauses = 0;
    let step = work.next();
    for (; step.done !== true; step = work.next()) pauses += 1;

    expect(pauses).toBeGreaterThanOrEqual(10);
    expect(step.value.length).toBe(3_000_002);
    expect([step.value[0], step.value[2_000_001]]).toEqual([0x5b, 0x2c]);
  });
});
