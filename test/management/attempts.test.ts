import { expect, it } from '@jest/globals';
import { awaitTurn, rememberPlace } from '../../src/management/attempts.js';
import { freshManagement } from '../support/management.js';

const management = freshManagement();

it('strangers wait their turn on an account that many attack, but not who was there before', async () => {
  const { id } = await management.createUser('ann');
  const accounts = { attemptsPerAccount: 2, attemptsWindowMs: 60_000 };
  const deps = { ...management.deps, accounts };
  await rememberPlace(deps, id, 'home');
  const attempt = (block: string) => awaitTurn(deps, 'ann', id, block);
  // Three times what one address has is let on at once.
  for (let count = 0; count < 6; count += 1) await attempt(`stranger ${count}`);

  const startedMs = performance.now();
  await attempt('home');
  const knownMs = performance.now() - startedMs;
  const strangers = await Promise.allSettled(
    Array.from({ length: 7 }, async (_, index) => {
      await attempt(`another stranger ${index}`);
      return performance.now() - startedMs;
    }),
  );

  const waited = strangers.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
  expect(knownMs).toBeLessThan(900);
  expect(waited.map((ms) => Math.floor((ms + 50) / 1000))).toEqual([1, 2, 3, 4, 5]);
  expect(strangers.filter(({ status }) => status === 'rejected')).toHaveLength(2);
  expect(strangers.at(-1)).toMatchObject({
    reason: { code: 'rate_limited', retryAfterMs: 5_000 },
  });
});
