import { beforeEach, describe, expect, it } from '@jest/globals';
import { BUDGET_DEFAULTS } from '../../src/core/budget.js';
import { tokenStatus, type TokenPolicy } from '../../src/core/token.js';
import type { Actor, ManagementDeps } from '../../src/management/audit.js';
import { hashSecret } from '../../src/management/secrets.js';
import {
  createToken,
  deleteToken,
  deleteTokens,
  findTokenByKey,
  getToken,
  listTokens,
  updateToken,
  type TokenDraft,
} from '../../src/management/tokens.js';
import type { TokenChange } from '../../src/store/store.js';
import { freshManagement, NOW, NOW_SECONDS, OPERATOR } from '../support/management.js';

const EVERYTHING = { offset: 0, limit: 100 };

const names = (count: number): string[] => Array.from({ length: count }, (_, at) => `n${at}`);

describe('keys', () => {
  const management = freshManagement();
  let owner: Actor & { readonly id: number };
  let stranger: Actor & { readonly id: number };

  beforeEach(async () => {
    owner = await management.createUser('owner');
    stranger = await management.createUser('stranger');
  });

  function draft(given: Partial<TokenDraft> = {}): TokenDraft {
    return { userId: owner.id, name: 'a key', remainQuota: 1_000, ...given };
  }

  it('are shown once and kept as a hash and a hint', async () => {
    const { deps, store } = management;

    const { key, token } = await createToken(deps, draft(), owner);

    expect(key).toMatch(/^sk-[A-Za-z0-9]{48}$/);
    expect(token.keyHint).toBe(`sk-${key.slice(3, 7)}…${key.slice(-4)}`);
    expect((await store.findToken(hashSecret(key)))?.token.id).toBe(token.id);
    expect(JSON.stringify(await getToken(deps, token.id, owner))).not.toContain(key);
    expect(JSON.stringify(await management.audited())).not.toContain(key);
  });

  it('are found by the key in hand', async () => {
    const { deps } = management;
    const { key, token } = await createToken(deps, draft(), owner);

    expect((await findTokenByKey(deps, key, OPERATOR))?.id).toBe(token.id);
    expect(await findTokenByKey(deps, key, stranger)).toBeUndefined();
    expect(await findTokenByKey(deps, 'sk-nobody-has-this', OPERATOR)).toBeUndefined();
  });

  it('belong to their user: others see none of them, admins all', async () => {
    const { deps } = management;
    const { token } = await createToken(deps, draft(), owner);
    const admin = await management.createUser('admin', 10);

    await expect(getToken(deps, token.id, stranger)).rejects.toMatchObject({ code: 'not_found' });
    await expect(updateToken(deps, token.id, { name: 'mine' }, stranger)).rejects.toMatchObject({
      code: 'not_found',
    });
    await expect(deleteToken(deps, token.id, stranger)).rejects.toMatchObject({
      code: 'not_found',
    });
    await expect(createToken(deps, draft(), stranger)).rejects.toMatchObject({ code: 'not_found' });
    expect((await listTokens(deps, EVERYTHING, stranger)).total).toBe(0);
    expect((await listTokens(deps, { ...EVERYTHING, userId: owner.id }, stranger)).total).toBe(0);
    expect((await listTokens(deps, EVERYTHING, admin)).total).toBe(1);
    expect((await getToken(deps, token.id, admin)).userId).toBe(owner.id);
  });

  it.each([
    ['root', 100],
    ['another admin', 10],
  ] as const)('of %s are not for an admin to touch', async (name, role) => {
    const { deps, store } = management;
    const admin = await management.createUser('admin', 10);
    const holder = await management.createUser(name.replace(' ', '-'), role);
    const { token } = await createToken(deps, draft({ userId: holder.id }), holder);
    const { token: lower } = await createToken(deps, draft(), owner);
    const refused = { code: 'permission_denied' };

    await expect(createToken(deps, draft({ userId: holder.id }), admin)).rejects.toMatchObject(
      refused,
    );
    await expect(updateToken(deps, token.id, { enabled: false }, admin)).rejects.toMatchObject(
      refused,
    );
    await expect(deleteToken(deps, token.id, admin)).rejects.toMatchObject(refused);
    await expect(deleteTokens(deps, [lower.id, token.id], admin)).rejects.toMatchObject(refused);

    expect(await store.getToken(token.id, NOW)).toEqual(token);
    expect(await store.getToken(lower.id, NOW)).toEqual(lower);
    expect(await deleteTokens(deps, [lower.id], admin)).toBe(1);
    expect((await updateToken(deps, token.id, { name: 'x' }, OPERATOR)).name).toBe('x');
  });

  it.each<[string, string, Partial<TokenDraft>]>([
    ['an empty name', 'name', { name: ' ' }],
    ['a name with control characters', 'name', { name: 'a\u001b[31mkey' }],
    ['an expiry in the past', 'expired_time', { expiredTime: NOW_SECONDS - 1 }],
    ['an expiry in milliseconds and a half', 'expired_time', { expiredTime: NOW_SECONDS + 0.5 }],
    ['negative quota', 'remain_quota', { remainQuota: -1 }],
    ['more quota than is kept exactly', 'remain_quota', { remainQuota: 5e15 }],
    ['no model at all', 'model_limits', { policy: { models: [] } }],
    ['more models than fit', 'model_limits', { policy: { models: names(1_001) } }],
    [
      'more addresses than fit',
      'allow_ips',
      { policy: { allowIps: Array(1_001).fill('10.0.0.1') } },
    ],
    ['more tags than fit', 'tags', { policy: { tags: names(1_001) } }],
    ['more fallbacks than fit', 'fallbacks', { policy: { fallbacks: names(1_001) } }],
    [
      'a default model outside its models',
      'default_model',
      {
        policy: { models: ['a'], defaultModel: 'b' },
      },
    ],
    [
      'a default model with control characters',
      'default_model',
      { policy: { defaultModel: 'a\u001b[31m' } },
    ],
    ['an address that is none', 'allow_ips', { policy: { allowIps: ['10.1'] } }],
    ['a range that is too long', 'allow_ips', { policy: { allowIps: ['10.0.0.0/33'] } }],
    ['IPv4 in IPv6 form beyond IPv4', 'allow_ips', { policy: { allowIps: ['::ffff:10.0.0.0/8'] } }],
    ['an empty alias', 'aliases', { policy: { aliases: { ' ': 'a' } } }],
    [
      'a chain of too many models',
      'fallbacks',
      { policy: { fallbacks: Array.from({ length: 17 }, (_, at) => `m${at}`) } },
    ],
    ['an alias of nothing', 'aliases', { policy: { aliases: { a: '' } } }],
    ['an empty tag', 'tags', { policy: { tags: [''] } }],
    ['a negative rate', 'rate_limit', { policy: { rateLimit: -1 } }],
    ['half a place', 'max_concurrency', { policy: { maxConcurrency: 0.5 } }],
  ])('are refused with %s', async (_, param, given) => {
    const { deps } = management;

    await expect(createToken(deps, draft(given), owner)).rejects.toMatchObject({
      code: 'invalid_request',
      param,
    });

    expect((await listTokens(deps, EVERYTHING, OPERATOR)).total).toBe(0);
  });

  it('keep their policy without repetition', async () => {
    const policy: Partial<TokenPolicy> = {
      models: ['a', ' b ', 'a'],
      allowIps: ['192.0.2.7', ' 2001:db8::/32 '],
      tags: ['eu'],
      defaultModel: 'b',
      rateLimit: 60,
      maxConcurrency: 4,
    };

    const { token } = await createToken(management.deps, draft({ policy }), owner);

    expect(token.policy).toEqual({
      models: ['a', 'b'],
      aliases: {},
      fallbacks: [],
      replyCache: true,
      replyCacheTtlMs: 0,
      allowIps: ['192.0.2.7', '2001:db8::/32'],
      tags: ['eu'],
      defaultModel: 'b',
      rateLimit: 60,
      mayExplain: false,
      maxConcurrency: 4,
      dialect: 'auto',
      labels: '',
      ...BUDGET_DEFAULTS,
    });
  });

  it('change by merging', async () => {
    const { deps } = management;
    const { token } = await createToken(
      deps,
      draft({ policy: { models: ['a', 'b'], defaultModel: 'a', rateLimit: 60 } }),
      owner,
    );

    const renamed = await updateToken(deps, token.id, { name: 'renamed' }, owner);
    const topped = await updateToken(deps, token.id, { quota: { add: -400 } }, owner);
    const open = await updateToken(deps, token.id, { policy: { models: undefined } }, owner);

    expect(renamed).toEqual({ ...token, name: 'renamed' });
    expect(topped.remainQuota).toBe(600);
    expect(open.policy).toEqual({ ...token.policy, models: undefined });
  });

  it.each<[string, TokenChange, { readonly code: string; readonly param: string }]>([
    ['quota below zero', { quota: { add: -1_001 } }, { code: 'conflict', param: 'add_quota' }],
    ['half a unit', { quota: { set: 0.5 } }, { code: 'invalid_request', param: 'remain_quota' }],
    ['expiry 0', { expiredTime: 0 }, { code: 'invalid_request', param: 'expired_time' }],
    [
      'a default model outside the models that it has',
      { policy: { defaultModel: 'b' } },
      { code: 'invalid_request', param: 'default_model' },
    ],
    [
      'models without the default that it has',
      { policy: { models: ['b'] } },
      { code: 'invalid_request', param: 'default_model' },
    ],
  ])('refuse a change to %s and stay as they were', async (_, change, refused) => {
    const { deps } = management;
    const policy = { models: ['a'], defaultModel: 'a' };
    const { token } = await createToken(deps, draft({ policy }), owner);

    await expect(updateToken(deps, token.id, change, owner)).rejects.toMatchObject(refused);

    expect(await getToken(deps, token.id, owner)).toEqual(token);
  });

  it('are enabled only with the time and quota to be used', async () => {
    const { deps } = management;
    const { token } = await createToken(
      deps,
      draft({ expiredTime: NOW_SECONDS + 60, remainQuota: 0 }),
      owner,
    );
    management.pass(61_000);
    const enabled = true;

    await expect(updateToken(deps, token.id, { enabled }, owner)).rejects.toMatchObject({
      code: 'conflict',
      param: 'expired_time',
    });
    await expect(
      updateToken(deps, token.id, { enabled, expiredTime: -1 }, owner),
    ).rejects.toMatchObject({ code: 'conflict', param: 'remain_quota' });
    const mended = await updateToken(
      deps,
      token.id,
      { enabled, expiredTime: -1, quota: { add: 5 } },
      owner,
    );

    expect(tokenStatus(mended, deps.now())).toBe(1);
  });

  it('are audited with the quota before and after, whatever traffic spends meanwhile', async () => {
    const { deps } = management;
    const { token } = await createToken(deps, draft({ remainQuota: 100 }), owner);
    const busy: ManagementDeps['store'] = {
      ...deps.store,
      updateToken: async (id, change, nowMs, userId, when) => {
        when?.({ ...token, remainQuota: 107 });
        return deps.store.updateToken(id, change, nowMs, userId);
      },
    };

    await updateToken({ ...deps, store: busy }, token.id, { quota: { add: 50 } }, owner);

    const [entry] = (await management.audited()).slice(-1);
    expect(entry?.changes).toEqual([{ member: 'remain_quota', before: 100, after: 150 }]);
  });

  it('are gone once deleted', async () => {
    const { deps } = management;
    const { token } = await createToken(deps, draft(), owner);

    await deleteToken(deps, token.id, owner);

    await expect(getToken(deps, token.id, owner)).rejects.toMatchObject({ code: 'not_found' });
    await expect(deleteToken(deps, token.id, owner)).rejects.toMatchObject({ code: 'not_found' });
  });

  it('that somebody else deletes first are not counted, and not audited again', async () => {
    const { deps, store } = management;
    const ids: number[] = [];
    for (let made = 0; made < 2; made += 1)
      ids.push((await createToken(deps, draft(), owner)).token.id);
    const during = {
      ...store,
      deleteToken: async (id: number, userId?: number) => {
        if (id === ids[0]) await store.deleteToken(id, userId);
        return store.deleteToken(id, userId);
      },
    };

    expect(await deleteTokens({ ...deps, store: during }, ids, owner)).toBe(1);

    const deletions = (await management.audited()).filter(
      ({ action }) => action === 'token.delete',
    );
    expect(deletions.map(({ target }) => target)).toEqual([`token:${ids[1]}`]);
  });

  it('leave a trail of who did what, and none of what was refused', async () => {
    const { deps } = management;
    const { token } = await createToken(deps, draft(), owner);
    await updateToken(deps, token.id, { enabled: false }, OPERATOR);
    await expect(
      updateToken(deps, token.id, { quota: { add: -5_000 } }, owner),
    ).rejects.toMatchObject({ code: 'conflict' });
    await deleteToken(deps, token.id, owner);

    const entries = await management.audited();

    const target = `token:${token.id}`;
    expect(entries).toMatchObject([
      { action: 'token.create', target, actor: 'owner', actorId: owner.id, atMs: NOW },
      { action: 'token.update', target, actor: 'operator', detail: { enabled: false } },
      { action: 'token.delete', target, actor: 'owner', address: '192.0.2.1' },
    ]);
  });
});
