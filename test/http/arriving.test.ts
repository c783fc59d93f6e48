import { describe, expect, it } from '@jest/globals';
import { Arriving } from '../../src/http/arriving.js';
import { freeAtOnce } from '../../src/http/nodes-inside.js';
import { fc } from '../support/property.js';

const MIB = 1_048_576;

const PATTERN = Buffer.from(Array.from({ length: 251 }, (_, at) => at));

/** A buffer with its own memory, as a connection of HTTP/1 brings them. */
const piece = (bytes: number): Buffer => Buffer.allocUnsafeSlow(bytes).fill('a');

/** A body that has come in pieces of 64 KiB. */
function arrived(declared: number, bytes: number): Arriving {
  const body = new Arriving(declared);
  for (let at = 0; at < bytes; at += 65_536) body.add(piece(65_536));
  return body;
}

describe('a body on its way', () => {
  it('has the bytes that came, however they were cut and announced', () => {
    const cut = fc.oneof(
      fc.array(fc.integer({ min: 1, max: 400_000 }), { maxLength: 20 }),
      fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 200, maxLength: 1_200 }),
    );
    fc.assert(
      fc.property(cut, fc.boolean(), (sizes, isDeclared) => {
        const bytes = sizes.reduce((sum, size) => sum + size, 0);
        const sent = Buffer.alloc(bytes, PATTERN);
        const body = new Arriving(isDeclared ? bytes : 0);
        let at = 0;
        let reserved = 0;
        for (const size of sizes)
          reserved += body.add(Buffer.from(sent.subarray(at, (at += size))));

        expect([body.taken().equals(sent), reserved]).toEqual([true, bytes]);
      }),
      { numRuns: 60 },
    );
  });

  it.each([
    ['before half of it is there', 12 * MIB, 5 * MIB],
    ['after half of it is there', 12 * MIB, 7 * MIB],
    ['whose length was not announced', 0, 12 * MIB],
  ])('is freed at once if it is given up %s', (_, declared, bytes) => {
    const body = arrived(declared, bytes);
    const held = process.memoryUsage().arrayBuffers;

    body.giveUp();
    expect(held - process.memoryUsage().arrayBuffers).toBeGreaterThan(4 * MIB);
  });

  it('leaves alone what has been taken', () => {
    const body = arrived(2 * MIB, 2 * MIB);
    const whole = body.taken();

    body.giveUp();
    expect(whole.equals(Buffer.alloc(2 * MIB, 'a'))).toBe(true);
  });

  it('frees no memory that others have a part of', () => {
    const shared = Buffer.allocUnsafeSlow(200).fill('a');
    const [first, second] = [shared.subarray(0, 100), shared.subarray(100)];

    freeAtOnce(first);
    expect(second.toString()).toBe('a'.repeat(100));
  });
});
