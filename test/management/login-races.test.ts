import { scryptSync } from 'node:crypto';
import { beforeEach, describe, expect, it } from '@jest/globals';
import type { AccountSettings } from '../../src/management/accounts.js';
import { logIn } from '../../src/management/log-in.js';
import { hashPassword } from '../../src/management/passwords.js';
import { OURSELVES } from '../../src/management/scrypt-thread.js';
import { findLogin, issueAccessToken, startSession } from '../../src/management/sessions.js';
import { actorOf, updateSelf } from '../../src/management/users.js';
import type { Store } from '../../src/store/store.js';
import { freshManagement, NOW } from '../support/management.js';

/** What somebody who knows an old password, or has an old login, does in the middle of its end. */

const OLD = 'the password until now';
const NEW = 'the password from now on';
const HOUR = 3_600_000;
const accounts = {
  sessionIdleMs: HOUR,
  sessionMaxMs: HOUR,
  accessTokenMs: HOUR,
  attemptsPerAccount: 10,
  attemptsWindowMs: HOUR,
} as AccountSettings;

const given = freshManagement();
let userId = 0;
let newHash = '';
beforeEach(async () => {
  const { deps, store } = given;
  ({ id: userId } = await given.createUser('ann'));
  const passwordHash = await hashPassword(OLD, deps.randomBytes, OURSELVES);
  newHash = await hashPassword(NEW, deps.randomBytes, OURSELVES);
  await store.updateUser(userId, { passwordHash }, NOW);
});

/** The store, but that something happens right before a method of it. */
function interrupted(method: keyof Store, event: () => Promise<unknown>): Store {
  let happened = false;
  return new Proxy(given.store, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== 'function') return value;
      return async (...args: unknown[]): Promise<unknown> => {
        if (name === method && !happened) {
          happened = true;
          await event();
        }
        return Reflect.apply(value, target, args) as unknown;
      };
    },
  });
}

/** A hash of the old password at the cost of an older release. */
function cheapHash(): string {
  const salt = Buffer.alloc(16, 1);
  const hash = scryptSync(OLD, salt, 32, { N: 2 ** 10, r: 8, p: 1 });
  return `$scrypt$ln=10,r=8,p=1$${salt.toString('base64url')}$${hash.toString('base64url')}`;
}

/** A password reset by the owner. */
async function reset(): Promise<void> {
  await given.store.updateUser(userId, { passwordHash: newHash }, NOW);
  await given.store.deleteUserSessions(userId);
}

describe('in the middle of a password reset', () => {
  it('no access token is made that outlives it', async () => {
    const deps = { ...given.deps, accounts };
    const secret = await startSession(deps, userId);
    const login = await findLogin(deps, secret, 'session');
    if (login === undefined) throw new Error('there is no login');
    const during = { ...deps, store: interrupted('deriveSession', reset) };

    const made = issueAccessToken(during, login, actorOf(login.user, undefined));

    await expect(made).rejects.toMatchObject({ code: 'unauthorized' });
  });

  it('the old password does not set another one', async () => {
    const { deps, store } = given;
    const user = await store.getUser(userId, NOW);
    if (user === undefined) throw new Error('there is no user');
    const edit = { password: 'what an intruder likes', originalPassword: OLD };
    const during = { ...deps, store: interrupted('updateUser', reset) };

    const changed = updateSelf(during, user, edit, actorOf(user, undefined));

    await expect(changed).rejects.toMatchObject({ code: 'conflict' });
    expect(await store.getPasswordHash(userId)).toBe(newHash);
  });

  it('a login with the old password neither lives nor brings its hash back', async () => {
    const deps = { ...given.deps, accounts };
    const passwordHash = cheapHash();
    await deps.store.updateUser(userId, { passwordHash }, NOW);
    const during = { ...deps, store: interrupted('updateUser', reset) };

    await expect(logIn(during, 'ann', OLD, '192.0.2.1')).rejects.toMatchObject({
      code: 'unauthorized',
    });

    expect(await deps.store.getPasswordHash(userId)).toBe(newHash);
    expect(await deps.store.deleteUserSessions(userId)).toBe(0);
  });
});

it('two logins at once, each of which renews the hash of the same password, both begin', async () => {
  const deps = { ...given.deps, accounts };
  await deps.store.updateUser(userId, { passwordHash: cheapHash() }, NOW);
  const other = () => logIn(deps, 'ann', OLD, '192.0.2.2');
  const during = { ...deps, store: interrupted('updateUser', other) };

  await logIn(during, 'ann', OLD, '192.0.2.1');

  expect(await deps.store.deleteUserSessions(userId)).toBe(2);
});

it('a login in the middle of disabling leaves no session for the day of enabling', async () => {
  const deps = { ...given.deps, accounts };
  const disable = async () => {
    await given.store.updateUser(userId, { enabled: false }, NOW);
    await given.store.deleteUserSessions(userId);
  };
  const during = { ...deps, store: interrupted('createSession', disable) };

  await expect(logIn(during, 'ann', OLD, '192.0.2.1')).rejects.toMatchObject({
    code: 'unauthorized',
  });

  expect(await deps.store.deleteUserSessions(userId)).toBe(0);
});
