import { expect, it, jest } from '@jest/globals';
import { textDocuments } from '../../../src/bytes/documents.js';
import { largeWork } from '../../../src/bytes/turns.js';
import { counted } from '../../../src/gateway/policies/counted.js';
import type { Outcome } from '../../../src/gateway/rank.js';
import { job, offer } from '../../support/offers.js';

const NONE: Outcome = { kind: 'none', why: { kind: 'switched_off' } };
const SMALL = textDocuments(['a', 'b']);
const LARGE = textDocuments(Array.from({ length: 30 }, () => 'word '.repeat(10_000)));
const { room } = offer(1);
const NARROW = { room: { ...room, documentCharacters: 1_000 } };
const WIDE = { room: { ...room, documentCharacters: undefined, requestTokens: undefined } };

/** Whether a list is passed on in the same turn, and whether others had one before it was. */
async function passedOn(documents: typeof SMALL, offers: Parameters<typeof counted>[0]) {
  const log: string[] = [];
  const rank = counted(offers)(() => {
    log.push('ranked');
    return Promise.resolve(NONE);
  });
  const ranked = rank(job({ documents }));
  log.push('returned');
  setImmediate(() => log.push('another turn'));
  expect(await ranked).toBe(NONE);
  return log;
}

it('a large list is counted in steps where a channel limits its texts: others get their turns', async () => {
  // However many of the steps this machine makes in the time that they have in a turn: each is the last one.
  const spent = jest.spyOn(largeWork, 'isSpent').mockReturnValue(true);

  const log = await passedOn(LARGE, [WIDE, NARROW]);
  spent.mockRestore();

  expect(log).toEqual(['returned', 'another turn', 'ranked']);
});

it.each([
  ['a small list', SMALL, [NARROW]],
  ['a list that is quickly counted', textDocuments(['word '.repeat(10_000)]), [NARROW]],
  ['a large list without limits', LARGE, [WIDE]],
] as const)('%s is passed on at once', async (_what, documents, offers) => {
  expect(await passedOn(documents, offers)).toEqual(['ranked', 'returned']);
});
