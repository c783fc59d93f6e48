import { expect, it } from '@jest/globals';
import { signOn, type SignOnDeps } from '../../src/management/sign-on.js';
import type { Store } from '../../src/store/store.js';
import { freshManagement } from '../support/management.js';

const HOUR = 3_600_000;
const management = freshManagement();

const vouched = (groups: readonly string[]) => ({
  ...{ by: 'https://id.example.com', subject: '1', name: 'ann', email: undefined, groups },
  ...{ owns: undefined, source: 'a session there' },
});
const ORIGIN = { address: '192.0.2.1', agent: '', block: '192.0.2.1' };

function depsOn(store: Store): SignOnDeps {
  const lives = { sessionIdleMs: HOUR, sessionMaxMs: HOUR, accessTokenMs: HOUR };
  return {
    ...{ ...management.deps, store, alerting: { deliver: () => undefined } },
    accounts: { ...lives, registration: false, initialQuota: 0 },
    logins: {
      ...{ passwords: true, create: true, link: false, sessionMaxMs: HOUR },
      ...{ accounts: {}, roles: { staff: 'admin', '*': 'user' } },
    },
  };
}

it('the role is the highest that any of the groups gives', async () => {
  const deps = depsOn(management.store);
  const logins = {
    ...deps.logins,
    roles: { readers: 'auditor', staff: 'admin', '*': 'user' },
  } as const;

  const { user } = await signOn({ ...deps, logins }, vouched(['readers', 'staff']), ORIGIN);

  expect(user.role).toBe(10);
});

it('no session begins for an account that is deleted at the same moment', async () => {
  const { store } = management;
  const during: Store = {
    ...store,
    async createSession(session) {
      await store.createSession(session);
      await store.deleteUser(session.userId);
    },
  };

  const login = signOn(depsOn(during), vouched([]), ORIGIN);

  await expect(login).rejects.toMatchObject({ code: 'user_disabled' });
});

it('the role of the groups is not given to an account that root changes at the same moment', async () => {
  const { store, deps } = management;
  const { user } = await signOn(depsOn(store), vouched(['staff']), ORIGIN);
  expect(user.role).toBe(10);
  const during: Store = {
    ...store,
    async updateUser(id, change, ...rest) {
      if (change.role !== undefined) await store.updateUser(id, { role: 5 }, deps.now());
      return store.updateUser(id, change, ...rest);
    },
  };

  const login = signOn(depsOn(during), vouched([]), ORIGIN);

  await expect(login).rejects.toMatchObject({ code: 'conflict' });
  expect((await store.getUser(user.id, deps.now()))?.role).toBe(5);
});
