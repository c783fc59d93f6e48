import { describe, expect, it } from '@jest/globals';
import { Gathering } from '../../src/bytes/gathering.js';
import { Owned } from '../../src/bytes/memory.js';
import { takeUncounted, timesLeft } from '../support/memory.js';
import { fc } from '../support/property.js';

const BLOCK = 524_288;

takeUncounted();

/** Fewer bytes are kept as they came. */
const APART = 100_000;

/** What has gathered one piece that is not kept as it came. */
function gathered(piece: Buffer): Gathering {
  const gathering = new Gathering(0);
  gathering.add(piece);
  return gathering;
}

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
        const gathering = new Gathering(APART);
        for (const piece of [...one, ...two]) gathering.add(piece);

        const { bytes } = await gathering.joined();

        expect(bytes.equals(Buffer.concat([...one, ...two]))).toBe(true);
      }),
      { numRuns: 30 },
    );
  });

  it('leave their memory to others once they are joined', async () => {
    const gathering = gathered(Buffer.alloc(600_000, 'marked'));
    await gathering.joined();

    expect(timesLeft('marked', BLOCK)).toBe(2);
  });

  it('leave their memory to others once they are given up', () => {
    const gathering = gathered(Buffer.alloc(1_500_000, 'abcd'));
    gathering.giveBack();
    gathering.giveBack();

    expect(timesLeft('abcd', BLOCK)).toBe(3);
  });

  it('keep their memory while they are joined, although they are given up', async () => {
    const gathering = gathered(Buffer.alloc(2_000_000, 'efgh'));
    const joined = gathering.joined();
    gathering.giveBack();

    expect(timesLeft('efgh', BLOCK)).toBe(0);
    expect((await joined).bytes.equals(Buffer.alloc(2_000_000, 'efgh'))).toBe(true);
    expect(timesLeft('efgh', BLOCK)).toBe(4);
  });

  it('write nothing into memory that they have given up', () => {
    const gathering = gathered(Buffer.alloc(1_000, 'ijkl'));
    gathering.giveBack();
    const taken = Owned.uncleared(BLOCK).bytes.fill(0);

    gathering.add(Buffer.alloc(1_000, 'ijkl'));

    expect(taken.includes('ijkl')).toBe(false);
  });
});
