import { NO_CHANNELS } from '../../../src/gateway/channels/routing-table.js';
import { describe, expect, it } from '@jest/globals';
import { judgeTrial, rankOnTrial } from '../../../src/gateway/look/trial.js';
import type { Attempt, Job } from '../../../src/gateway/rank.js';
import { failed, job, offer, plan, ranked } from '../../support/offers.js';

const ONE = offer(1);
const OFF = offer(2, { status: 2 });
const ROUTING = {
  aliases: {},
  channels: {
    current: {
      ...NO_CHANNELS,
      version: 1,
      plans: new Map([['m', plan([ONE, OFF])]]),
      unusable: new Map([['m', [{ channel: offer(3).route.channel, why: 'it has no key' }]]]),
    },
  },
};
const TARGET = { model: 'm', tag: undefined };
const on = (channelId: number, ignoresSwitches = false) => ({ channelId, ignoresSwitches });

describe('a trial', () => {
  it('goes to its channel, off ones included where it may', () => {
    expect(judgeTrial(ROUTING, on(1), TARGET)).toBe(TARGET);
    expect(judgeTrial(ROUTING, on(2, true), TARGET)).toBe(TARGET);
  });

  it.each([
    ['is off', on(2), 'no_channel_available'],
    ['cannot be used', on(3), 'no_channel_available'],
    ['does not serve the model', on(4), 'model_not_found'],
  ])('is refused where its channel %s', (_what, trial, code) => {
    expect(() => judgeTrial(ROUTING, trial, TARGET)).toThrow(expect.objectContaining({ code }));
  });

  const outcomeOf = (ask: Attempt, given: Partial<Job> = {}, trial = on(1)) =>
    rankOnTrial(plan([ONE, OFF], { ask }), trial, job(given));

  it('asks its channel alone, and passes on that switches do not count', async () => {
    const asked: [number, boolean | undefined][] = [];
    const outcome = await outcomeOf(
      (to, { ignoresSwitches }) => {
        asked.push([to.id, ignoresSwitches]);
        return Promise.resolve(ranked(to));
      },
      {},
      on(2, true),
    );

    expect(outcome.kind).toBe('ranked');
    expect(asked).toEqual([[2, true]]);
  });

  it.each([
    ['refused', failed('caller'), 'refused'],
    ['failed', failed('transient'), 'exhausted'],
    ['not sent', { kind: 'withdrawn' as const }, 'switched_off'],
  ])('that is %s has that as its outcome', async (_what, end, kind) => {
    expect(await outcomeOf(() => Promise.resolve(end))).toMatchObject({
      kind: 'none',
      why: { kind },
    });
  });

  it('asks no channel that the tags of request and key exclude, or that is gone', async () => {
    const never: Attempt = () => Promise.reject(new Error('asked'));
    const none = { kind: 'none', why: { kind: 'switched_off' } };

    expect(await outcomeOf(never, { admits: () => false })).toEqual(none);
    expect(await outcomeOf(never, {}, on(9))).toEqual(none);
  });
});
