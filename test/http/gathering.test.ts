import { describe, expect, it } from '@jest/globals';
import { uncleared } from '../../src/core/memory.js';
import { Gathering } from '../../src/http/gathering.js';
import { fc } from '../support/property.js';

describe('the pieces of a body whose length is not known', () => {
  it('are all there, in order', async () => {
    const sizes = fc.array(fc.oneof(fc.nat(4_096), fc.nat(70_000), fc.nat(1_200_000)), {
      maxLength: 60,
    });
    await fc.assert(
      fc.asyncProperty(sizes, sizes, async (before, after) => {
        const [one, two] = [before, after].map((list) =>
          list.map((size, at) => Buffer.alloc(size, at + 1)),
        ) as [Buffer[], Buffer[]];
        const gathering = new Gathering(one);
        for (const piece of two) gathering.add(piece);

        const whole = await gathering.joined();

        expect(whole.equals(Buffer.concat([...one, ...two]))).toBe(true);
      }),
      { numRuns: 30 },
    );
  });

  it('leave their memory to others once they are joined', async () => {
    const gathering = new Gathering([Buffer.alloc(600_000, 'marked')]);
    await gathering.joined();

    // Others may have left theirs before.
    const next = Array.from({ length: 300 }, () =>
      uncleared(524_288, () => 0).toString('latin1', 0, 6),
    );
    expect(next).toContain('marked');
  });
});
