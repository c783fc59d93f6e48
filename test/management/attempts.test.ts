import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
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

describe('an account that strangers attack', () => {
  const TURN_MS = 1_000;

  beforeEach(() => {
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] });
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  /** Long enough for the store to answer. */
  async function turns(): Promise<void> {
    for (let turn = 0; turn < 50; turn += 1) await nextTurn();
  }

  async function pass(ms: number): Promise<void> {
    await jest.advanceTimersByTimeAsync(ms);
    await turns();
  }

  /** Attempts on ann's account, after so many that nobody else is let in at once. */
  async function givenAttack() {
    const { id } = await management.createUser('ann');
    const deps = { ...management.deps, accounts };
    await rememberPlace(deps, id, 'home');
    const letIn: string[] = [];
    const refused: unknown[] = [];
    const enter = (block: string) =>
      awaitTurn(deps, 'ann', id, block).then(
        (asker) => {
          letIn.push(block);
          return asker;
        },
        (error: unknown) => void refused.push(error),
      );
    // Three times as many as one address may make.
    for (let count = 0; count < 6; count += 1) {
      expect(await enter(`stranger ${count}`)).toEqual({
        owner: `stranger ${count}`,
        isKnown: false,
      });
    }
    letIn.length = 0;
    const enterAll = async (blocks: readonly string[]) => {
      for (const block of blocks) void enter(block);
      await turns();
    };
    return { id, letIn, refused, enter, enterAll };
  }

  it('lets five of them wait their turn, and its owner in at once', async () => {
    const { id, letIn, refused, enter, enterAll } = await givenAttack();

    await enterAll(['a', 'b', 'c', 'd', 'e', 'f', 'g']);
    expect(await enter('home')).toEqual(knownUser(id));
    expect(letIn).toEqual(['home']);
    expect(refused).toHaveLength(2);
    expect(refused[0]).toMatchObject({ code: 'rate_limited', retryAfterMs: 5 * TURN_MS });
    await pass(TURN_MS - 1);
    expect(letIn).toEqual(['home']);
    await pass(1);
    expect(letIn).toEqual(['home', 'a']);
    await pass(4 * TURN_MS);
    expect(letIn).toEqual(['home', 'a', 'b', 'c', 'd', 'e']);
  });

  it('lets others wait as soon as a turn has come, for as long as the attack goes on', async () => {
    const { letIn, refused, enterAll } = await givenAttack();
    await enterAll(['a', 'b', 'c', 'd', 'e']);

    for (const block of ['f', 'g', 'h']) {
      await pass(TURN_MS);
      await enterAll([block]);
    }
    await pass(5 * TURN_MS);

    expect(refused).toEqual([]);
    expect(letIn).toEqual(['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']);
  });

  it('remembers for half a year where its owner logged in', async () => {
    const { id, enter } = await givenAttack();
    const day = 24 * 60 * 60 * 1_000;

    management.pass(180 * day - 1);
    expect(await enter('home')).toEqual(knownUser(id));
    management.pass(1);
    expect(await enter('home')).toEqual({ owner: 'home', isKnown: false });
  });
});
