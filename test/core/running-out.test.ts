import { describe, expect, it } from '@jest/globals';
import { runningOut } from '../../src/core/running-out.js';

describe('runningOut', () => {
  it('names whoever will have nothing left within three days at the rate of one, the soonest first', () => {
    const out = runningOut(
      [
        { userId: 1, tokenId: 1, quota: 10 },
        { userId: 1, tokenId: 2, quota: 30 },
        { userId: 2, tokenId: 3, quota: 5 },
        { userId: undefined, tokenId: undefined, quota: 1_000 },
      ],
      [
        { id: 1, name: 'lasts', unlimitedQuota: false, remainQuota: 30 },
        { id: 2, name: 'spent', unlimitedQuota: false, remainQuota: 60 },
        { id: 3, name: 'as its account', unlimitedQuota: true, remainQuota: 0 },
        { id: 4, name: 'rests', unlimitedQuota: false, remainQuota: 1 },
      ],
      [
        { id: 1, username: 'ada', quota: 40 },
        { id: 2, username: 'bob', quota: 15 },
      ],
    );

    expect(out).toEqual([
      { of: 'account', id: 1, name: 'ada', hours: 24 },
      { of: 'key', id: 2, name: 'spent', hours: 48 },
    ]);
  });

  it('names whoever owes something as out now, and not as out long ago', () => {
    const owes = { id: 1, name: 'owes', unlimitedQuota: false, remainQuota: -20 };

    const out = runningOut([{ userId: 1, tokenId: 1, quota: 10 }], [owes], []);

    expect(out).toEqual([{ of: 'key', id: 1, name: 'owes', hours: 0 }]);
  });
});
