import { describe, expect, it } from '@jest/globals';
import type { Channel } from '../../../src/core/channel.js';
import { lastResort } from '../../../src/gateway/policies/last-resort.js';
import type { Job, Offer } from '../../../src/gateway/rank.js';
import { job, offer, ranking } from '../../support/offers.js';

const LOCAL = { provider: 'local', baseUrl: undefined } as const;

function offersOf(...channels: readonly Partial<Channel>[]): Offer[] {
  return channels.map((channel, at) => offer(at + 1, channel));
}

/** Whether a ranking that the last of these channels gave is marked. */
async function isMarked(offers: readonly Offer[], given: Partial<Job> = {}): Promise<boolean> {
  const last = offers.at(-1);
  const layer = lastResort(offers);
  if (last === undefined || layer === false) return false;
  const outcome = await layer(() =>
    Promise.resolve({ kind: 'ranked', ranking: ranking(last) } as const),
  )(job(given));
  return outcome.kind === 'ranked' && outcome.ranking.isDegraded === true;
}

describe('a ranking of the lexical ranker', () => {
  it.each<[string, readonly Partial<Channel>[], boolean]>([
    ['in place of a channel of a higher priority', [{ priority: 9 }, LOCAL], true],
    ['in place of one of its own priority', [{}, LOCAL], true],
    ['in place of one that is switched off', [{ status: 2, priority: 9 }, LOCAL], true],
    ['ahead of a channel of a lower priority', [{}, { ...LOCAL, priority: 1 }], false],
    ['of a model that nothing else serves', [LOCAL, LOCAL], false],
  ])('%s: marked %#', async (_where, channels, expected) => {
    expect(await isMarked(offersOf(...channels))).toBe(expected);
  });

  it('is not marked for a job that may reach no better channel', async () => {
    const offers = offersOf({ priority: 9, tag: 'a' }, { ...LOCAL, tag: 'b' });

    expect(await isMarked(offers, { admits: ({ channel }) => channel.tag === 'b' })).toBe(false);
    expect(await isMarked(offers, { admits: ({ channel }) => channel.tag !== 'c' })).toBe(true);
  });

  it('is told from one of the better channel', async () => {
    expect(await isMarked(offersOf(LOCAL, { priority: 9 }))).toBe(false);
  });
});
