import { describe, expect, it } from '@jest/globals';
import { checkBelow, checkOwner, isOperator } from '../../src/management/rank.js';
import type { Actor, ManagementDeps } from '../../src/management/audit.js';
import type { Role, User } from '../../src/store/store.js';

const USER = 1;
const AUDITOR = 5;
const ADMIN = 10;
const ROOT = 100;

const actor = (id: number | undefined, role: Role): Actor => ({
  id,
  name: 'who',
  role,
  address: undefined,
});
const OPERATOR = actor(undefined, ROOT);

/** A store in which account 5 is a user, 6 and 7 are admins, and 8 is root. */
const roles = new Map<number, Role>([
  [5, USER],
  [6, ADMIN],
  [7, ADMIN],
  [8, ROOT],
]);
const deps = {
  store: {
    getUser: (id: number) =>
      Promise.resolve(roles.has(id) ? ({ id, role: roles.get(id) } as User) : undefined),
  },
  now: () => 0,
} as unknown as ManagementDeps;

describe('an operator', () => {
  it.each<[Actor, boolean]>([
    [OPERATOR, true],
    [actor(8, ROOT), false],
    [actor(undefined, ADMIN), false],
  ])('is %j: %s', (who, expected) => {
    expect(isOperator(who)).toBe(expected);
  });
});

describe('an account', () => {
  it.each<[Role, Actor, boolean]>([
    [USER, actor(6, ADMIN), true],
    [AUDITOR, actor(6, ADMIN), true],
    [USER, actor(4, AUDITOR), false],
    [ADMIN, actor(6, ADMIN), false],
    [ROOT, actor(6, ADMIN), false],
    [ADMIN, actor(8, ROOT), true],
    [ROOT, actor(8, ROOT), false],
    [ROOT, OPERATOR, true],
  ])('of role %d changed by %j: %s', (role, who, allowed) => {
    const check = () => checkBelow(role, who, 'The role of this account');

    if (allowed) expect(check).not.toThrow();
    else expect(check).toThrow('The role of this account is not below yours');
  });
});

describe('what belongs to an account', () => {
  it.each<[string, number, Actor, boolean]>([
    ['one’s own', 6, actor(6, ADMIN), true],
    ['a user’s, by an admin', 5, actor(6, ADMIN), true],
    ['another admin’s, by an admin', 7, actor(6, ADMIN), false],
    ['root’s, by an admin', 8, actor(6, ADMIN), false],
    ['an admin’s, by root', 7, actor(8, ROOT), true],
    ['root’s, by the operator', 8, OPERATOR, true],
    ['nobody’s any more, by an admin', 9, actor(6, ADMIN), true],
    ['nobody’s any more, by a user', 9, actor(5, USER), false],
    ['nobody’s any more, by an auditor', 9, actor(4, AUDITOR), false],
  ])('%s', async (_what, owner, who, allowed) => {
    const check = checkOwner(deps, owner, who, 'key');

    if (allowed) await expect(check).resolves.toBeUndefined();
    else await expect(check).rejects.toMatchObject({ code: 'permission_denied' });
  });
});
