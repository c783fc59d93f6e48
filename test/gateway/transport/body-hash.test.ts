import { createHash } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { sha256Of } from '../../../src/gateway/transport/body-hash.js';
import { fc } from '../../support/property.js';

const MEGABYTE = 1_048_576;

describe('the hash of a body', () => {
  it('is the same in steps', async () => {
    const sizes = fc.oneof(fc.nat(1_000), fc.nat(3 * MEGABYTE), fc.constantFrom(MEGABYTE, 0));
    await fc.assert(
      fc.asyncProperty(sizes, fc.boolean(), async (size, isShared) => {
        const body = isShared ? Buffer.from(new SharedArrayBuffer(size)) : Buffer.alloc(size);
        for (let at = 0; at < size; at += 997) body[at] = at % 251;

        const hash = await sha256Of(body, () => Promise.resolve());

        expect(hash.equals(createHash('sha256').update(body).digest())).toBe(true);
      }),
      { numRuns: 40 },
    );
  });

  it('of a large one takes several turns, that of another none', async () => {
    let turns = 0;
    const pause = () => {
      turns += 1;
      return Promise.resolve();
    };
    expect(Buffer.isBuffer(sha256Of(Buffer.alloc(MEGABYTE), pause))).toBe(true);
    expect(turns).toBe(0);

    await sha256Of(Buffer.alloc(8 * MEGABYTE), pause);
    expect(turns).toBe(32);
  });
});
