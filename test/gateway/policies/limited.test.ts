import { describe, expect, it } from '@jest/globals';
import { limited } from '../../../src/gateway/policies/limited.js';
import type { Attempt, AttemptOutcome } from '../../../src/gateway/rank.js';
import { failed, job, offer, ranked } from '../../support/offers.js';

const bounded = offer(1, { requestsPerMinute: 5 });

/** The layer over an attempt, with limits that let calls through or not, and what these heard. */
function setUp(attempt: Attempt, isAllowed = true) {
  const heard: unknown[] = [];
  let asked = 0;
  let sent = 0;
  const layer = limited({
    take: () => {
      asked += 1;
      return Promise.resolve(isAllowed ? (outcome) => void heard.push(outcome) : undefined);
    },
  })((...given) => {
    sent += 1;
    return attempt(...given);
  });
  return { layer, heard, asked: () => asked, sent: () => sent };
}

describe('a call of a channel with limits', () => {
  it.each([ranked(bounded), failed('transient')])(
    'tells them how it ended, %#',
    async (outcome: AttemptOutcome) => {
      const { layer, heard } = setUp(() => Promise.resolve(outcome));

      expect(await layer(bounded, job())).toBe(outcome);

      expect(heard).toEqual([outcome]);
    },
  );

  it('that was abandoned tells them so', async () => {
    const { layer, heard } = setUp(() => Promise.reject(new Error('the caller left')));

    await expect(layer(bounded, job())).rejects.toThrow('the caller left');

    expect(heard).toEqual(['abandoned']);
  });

  it('is not sent if they do not allow it', async () => {
    const { layer, heard, sent } = setUp(() => Promise.resolve(ranked(bounded)), false);

    expect(await layer(bounded, job())).toEqual({ kind: 'withdrawn' });

    expect([sent(), heard]).toEqual([0, []]);
  });

  it('asks nobody if there are none', async () => {
    const { layer, asked, sent } = setUp(() => Promise.resolve(ranked(offer(2))));

    expect(await layer(offer(2), job())).toMatchObject({ kind: 'ranked' });

    expect([asked(), sent()]).toEqual([0, 1]);
  });
});
