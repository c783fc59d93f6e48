import { expect, it } from '@jest/globals';
import { leased } from '../../../src/gateway/policies/leased.js';
import type { Attempt } from '../../../src/gateway/rank.js';
import { failed, job, offer, ranked } from '../../support/offers.js';

function setUp(attempt: Attempt) {
  const log: unknown[] = [];
  let nowMs = 100;
  const health: Parameters<typeof leased>[0] = {
    begin: ({ id }, atMs) => {
      log.push(['begin', id, atMs]);
      return (outcome, endMs) => {
        log.push(['end', typeof outcome === 'string' ? outcome : outcome.kind, endMs]);
      };
    },
  };
  const layer = leased(
    health,
    () => nowMs,
    ({ id }) => log.push(['free', id]),
  );
  const next: Attempt = (...asked) => {
    nowMs += 7;
    return attempt(...asked);
  };
  return { log, ask: () => layer(next)(offer(1), job()) };
}

it.each([ranked(offer(1)), failed('timeout'), { kind: 'withdrawn' as const }])(
  'tells the channel’s health when a call begins and how it ends, and then that there is room: $kind',
  async (outcome) => {
    const { log, ask } = setUp(() => Promise.resolve(outcome));

    expect(await ask()).toBe(outcome);
    expect(log).toEqual([
      ['begin', 1, 100],
      ['end', outcome.kind, 107],
      ['free', 1],
    ]);
  },
);

it('gives the place back where the request ends first', async () => {
  const { log, ask } = setUp(() => Promise.reject(new Error('gone')));

  await expect(ask()).rejects.toThrow('gone');
  expect(log.slice(1)).toEqual([
    ['end', 'abandoned', 107],
    ['free', 1],
  ]);
});
