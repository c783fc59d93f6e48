import { describe, expect, it } from '@jest/globals';
import { GatewayError } from '../../src/core/errors.js';
import {
  accountNamed,
  awaitTurn,
  countAttempt,
  forgetAttempts,
  rememberPlace,
} from '../../src/management/attempts.js';
import { knownUser } from '../../src/management/scrypt-thread.js';
import { freshManagement } from '../support/management.js';

const management = freshManagement();
const WINDOW_MS = 60_000;
const accounts = { attemptsPerAccount: 2, attemptsWindowMs: WINDOW_MS };

describe('attempts on an account from an address block', () => {
  const count = (kind: string, account: string, block: string) =>
    countAttempt({ ...management.deps, accounts }, kind, account, block);

  it('are refused beyond their number, with when the next one counts', async () => {
    await count('login', 'ann', 'home');
    management.pass(10_000);
    await count('login', 'ann', 'home');

    const refusal: unknown = await count('login', 'ann', 'home').catch((error: unknown) => error);

    expect(refusal).toMatchObject({ code: 'rate_limited' });
    const { retryAfterMs = 0 } = refusal as GatewayError;
    management.pass(retryAfterMs - 1_000);
    await expect(count('login', 'ann', 'home')).rejects.toBeInstanceOf(GatewayError);
    management.pass(1_000);
    await expect(count('login', 'ann', 'home')).resolves.toBeUndefined();
  });

  it('of another kind, on another account or from elsewhere have a count of their own', async () => {
    for (let times = 0; times < 2; times += 1) await count('login', 'ann', 'home');

    await expect(count('reset', 'ann', 'home')).resolves.toBeUndefined();
    await expect(count('login', 'ben', 'home')).resolves.toBeUndefined();
    await expect(count('login', 'ann', 'work')).resolves.toBeUndefined();
    await expect(count('login', 'ann', 'home')).rejects.toMatchObject({ code: 'rate_limited' });
  });

  it('are forgotten after a right one, there and of that kind alone', async () => {
    for (const kind of ['login', 'reset']) {
      for (const block of ['home', 'work']) {
        for (let times = 0; times < 2; times += 1) await count(kind, 'ann', block);
      }
    }

    await forgetAttempts(management.deps, 'login', 'ann', 'home');

    await expect(count('login', 'ann', 'home')).resolves.toBeUndefined();
    await expect(count('login', 'ann', 'work')).rejects.toMatchObject({ code: 'rate_limited' });
    await expect(count('reset', 'ann', 'home')).rejects.toMatchObject({ code: 'rate_limited' });
  });

  it('count for one account however its name is typed', () => {
    expect(accountNamed('  ANN ')).toBe(accountNamed('ann'));
    expect(accountNamed('ann')).not.toBe(accountNamed('anna'));
  });
});

it('strangers wait their turn on an account that many attack, but not who was there before', async () => {
  const { id } = await management.createUser('ann');
  const deps = { ...management.deps, accounts };
  await rememberPlace(deps, id, 'home');
  const attempt = (block: string) => awaitTurn(deps, 'ann', id, block);
  // Three times what one address has is let on at once.
  for (let count = 0; count < 6; count += 1) {
    const owner = `stranger ${count}`;
    expect(await attempt(owner)).toEqual({ owner, isKnown: false });
  }
  expect(await attempt('home')).toEqual(knownUser(id));

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
