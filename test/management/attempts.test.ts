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
  const letOn: { readonly who: string; readonly afterMs: number }[] = [];
  const enter = async (who: string) => {
    await attempt(who);
    letOn.push({ who, afterMs: performance.now() - startedMs });
  };
  const strangers = Promise.allSettled(
    Array.from({ length: 7 }, (_, index) => enter(`another stranger ${index}`)),
  );
  await enter('home');
  const outcomes = await strangers;

  // A slow machine lets them on later, never sooner.
  const waited = letOn.filter(({ who }) => who !== 'home').map(({ afterMs }) => afterMs + 50);
  expect(waited.map((ms, index) => ms >= (index + 1) * 1_000)).toEqual(Array(5).fill(true));
  expect(letOn.at(-1)?.who).not.toBe('home');
  expect(outcomes.filter(({ status }) => status === 'rejected')).toHaveLength(2);
  expect(outcomes.at(-1)).toMatchObject({
    reason: { code: 'rate_limited', retryAfterMs: 5_000 },
  });
});
