import { describe, expect, it } from '@jest/globals';
import { effectiveStatus, nextChannel, type Candidate } from '../../src/core/channel.js';

const candidate = (id: number, priority: number, weight: number): Candidate => ({
  id,
  priority,
  weight,
});

describe('nextChannel', () => {
  it('exhausts the highest priority before the next one', () => {
    const candidates = [candidate(1, 0, 1), candidate(2, 5, 1), candidate(3, 5, 1)];
    const tried = new Set<number>();
    const order: number[] = [];

    for (;;) {
      const next = nextChannel(candidates, tried, () => 0.99);
      if (next === undefined) break;
      tried.add(next.id);
      order.push(next.id);
    }

    expect(order).toEqual([3, 2, 1]);
  });

  it('draws by weight', () => {
    const candidates = [candidate(1, 0, 1), candidate(2, 0, 3)];

    const drawn = [0, 0.24, 0.26, 0.99].map(
      (point) => nextChannel(candidates, new Set(), () => point)?.id,
    );

    expect(drawn).toEqual([1, 1, 2, 2]);
  });

  it('takes weight 0 only when nothing else is left in the tier', () => {
    const candidates = [candidate(1, 0, 0), candidate(2, 0, 1)];

    expect(nextChannel(candidates, new Set(), () => 0)?.id).toBe(2);
    expect(nextChannel(candidates, new Set([2]), () => 0)?.id).toBe(1);
  });

  it('has nothing when all were tried', () => {
    expect(nextChannel([candidate(1, 0, 1)], new Set([1]), () => 0)).toBeUndefined();
  });
});

describe('effectiveStatus', () => {
  const off = new Map([
    ['eu', { tag: 'eu', disabled: true, reason: 'incident', changedTime: 0, changedBy: 'root' }],
  ]);

  it.each([
    [{ status: 1 as const, tag: 'us' }, { live: true }],
    [{ status: 1 as const, tag: undefined }, { live: true }],
    [
      { status: 1 as const, tag: 'eu' },
      { live: false, because: 'tag_disabled', reason: 'incident' },
    ],
    [
      { status: 2 as const, tag: 'eu' },
      { live: false, because: 'disabled' },
    ],
    [
      { status: 3 as const, tag: undefined },
      { live: false, because: 'auto_disabled' },
    ],
  ])('of %j is %j', (channel, expected) => {
    expect(effectiveStatus(channel, off)).toEqual(expected);
  });
});
