import { beforeEach, describe, expect, it } from '@jest/globals';
import { awaitTurn, countAttempt } from '../../src/management/attempts.js';
import { logIn, newPlaceEvent } from '../../src/management/log-in.js';
import { hashPassword } from '../../src/management/passwords.js';
import { knownUser, OURSELVES } from '../../src/management/scrypt-thread.js';
import { freshManagement, NOW } from '../support/management.js';

const PASSWORD = 'a long and winding password';
const HOUR = 3_600_000;
const accounts = {
  ...{ sessionIdleMs: HOUR, sessionMaxMs: HOUR, accessTokenMs: HOUR },
  ...{ attemptsPerAccount: 2, attemptsWindowMs: HOUR },
};

const management = freshManagement();
let userId = 0;
beforeEach(async () => {
  ({ id: userId } = await management.createUser('ann'));
  const passwordHash = await hashPassword(PASSWORD, management.deps.randomBytes, OURSELVES);
  await management.store.updateUser(userId, { passwordHash }, NOW);
});

const deps = () => ({ ...management.deps, accounts });
const countWrong = (block: string) => countAttempt(deps(), 'login', 'ann', block);

describe('a right password', () => {
  it('makes its address known, and clears the attempts from there', async () => {
    await countWrong('home');
    await countWrong('home');

    const { user } = await logIn(deps(), ' Ann ', PASSWORD, 'home', { address: '192.0.2.1' });

    expect(user.id).toBe(userId);
    expect(await awaitTurn(deps(), 'ann', userId, 'home')).toEqual(knownUser(userId));
    await expect(countWrong('home')).resolves.toBeUndefined();
  });

  it('is from a new place where an admin has logged in before, and only from elsewhere', async () => {
    await management.store.updateUser(userId, { role: 10 }, NOW);
    const isNew = async (block: string): Promise<boolean> =>
      (await logIn(deps(), 'ann', PASSWORD, block)).isNewPlace;

    expect([await isNew('home'), await isNew('home'), await isNew('office')]).toEqual([
      ...[false, false, true],
    ]);
  });

  it('alerts once a day to logins from the same place', async () => {
    const ann = await management.store.getUser(userId, NOW);
    if (ann === undefined) throw new Error('the account is there');
    const idOf = (block: string, nowMs: number): string =>
      newPlaceEvent(ann, '192.0.2.1', block, nowMs).id;

    const [first, later, elsewhere, tomorrow] = [
      ...[idOf('office', NOW), idOf('office', NOW + HOUR)],
      ...[idOf('home', NOW), idOf('office', NOW + 24 * HOUR)],
    ];

    expect(later).toBe(first);
    expect(new Set([first, elsewhere, tomorrow]).size).toBe(3);
  });

  it('of a disabled account begins nothing', async () => {
    await management.store.updateUser(userId, { enabled: false }, NOW);

    await expect(logIn(deps(), 'ann', PASSWORD, 'home')).rejects.toMatchObject({
      code: 'user_disabled',
    });

    expect(await management.store.listSessions(userId, NOW)).toEqual([]);
  });
});

describe('a wrong password', () => {
  it.each([
    ['of an account', 'ann'],
    ['of no account', 'nobody'],
  ])('%s is refused in the same words, and makes no address known', async (_, login) => {
    await expect(logIn(deps(), login, 'a wrong one', 'elsewhere')).rejects.toMatchObject({
      code: 'unauthorized',
      message: 'The username or the password is wrong.',
    });

    expect(await management.store.listSessions(userId, NOW)).toEqual([]);
    expect(await awaitTurn(deps(), 'ann', userId, 'elsewhere')).toMatchObject({ isKnown: false });
  });
});
