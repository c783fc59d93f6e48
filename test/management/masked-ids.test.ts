import { describe, expect, it } from '@jest/globals';
import { MASK_KEY_BYTES, MaskedIds } from '../../src/management/masked-ids.js';
import { fc } from '../support/property.js';

const ids = new MaskedIds(Buffer.alloc(MASK_KEY_BYTES, 7));

describe('masked ids', () => {
  it('lead back to the ids that they stand for, and are exact', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 2 ** 52 - 1 }), (id) => {
        const masked = ids.mask(id);
        expect(Number.isSafeInteger(masked) && masked >= 0 && masked < 2 ** 52).toBe(true);
        expect(ids.unmask(masked)).toBe(id);
        expect(ids.mask(ids.unmask(id))).toBe(id);
      }),
    );
  });

  it('tell nothing of the order or the distance of ids', () => {
    const masked = Array.from({ length: 1_000 }, (_, at) => ids.mask(at + 1));
    expect(new Set(masked).size).toBe(masked.length);
    const rising = masked.filter((id, at) => at > 0 && id > (masked[at - 1] ?? 0)).length;
    expect(rising).toBeGreaterThan(400);
    expect(rising).toBeLessThan(600);
    // Neighbours are as far apart as strangers.
    const near = masked.filter((id, at) => Math.abs(id - (masked[at - 1] ?? 0)) < 2 ** 40);
    expect(near.length).toBeLessThan(20);
  });

  it('are others with another key', () => {
    const others = new MaskedIds(Buffer.alloc(MASK_KEY_BYTES, 8));
    expect(others.mask(1)).not.toBe(ids.mask(1));
  });

  it('leave alone what no log has', () => {
    expect(ids.unmask(Number.MAX_SAFE_INTEGER)).toBe(Number.MAX_SAFE_INTEGER);
    expect(ids.mask(2 ** 52)).toBe(2 ** 52);
  });
});
