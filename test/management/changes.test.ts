import { beforeEach, describe, expect, it } from '@jest/globals';
import { Secret } from '../../src/core/secret.js';
import { listAudit } from '../../src/management/audit-log.js';
import { recordAudit, type Actor } from '../../src/management/audit.js';
import { changesOf, keptDetail } from '../../src/management/changes.js';
import {
  createChannel,
  deleteChannel,
  deleteChannels,
  updateChannel,
} from '../../src/management/channels.js';
import { disableTag, enableTag } from '../../src/management/tags.js';
import { createToken, deleteToken, updateToken } from '../../src/management/tokens.js';
import { updateUser } from '../../src/management/users.js';
import type { AuditEntry } from '../../src/store/store.js';
import { freshManagement, NOW, OPERATOR } from '../support/management.js';

const management = freshManagement();
let owner: Actor & { readonly id: number };

beforeEach(async () => {
  owner = await management.createUser('owner');
});

async function last(): Promise<AuditEntry | undefined> {
  return (await management.audited()).at(-1);
}

describe('changes', () => {
  it('are the members that differ, whatever the order inside them', () => {
    const before = { name: 'a', models: { x: '1', y: '2' }, tag: 'eu', weight: 1 };
    const after = { name: 'a', models: { y: '2', x: '1' }, tag: undefined, weight: 2 };

    expect(changesOf(before, after)).toEqual([
      { member: 'tag', before: 'eu', after: null },
      { member: 'weight', before: 1, after: 2 },
    ]);
  });

  it('are bounded: what is too long is named, and not kept', () => {
    const long = 'x'.repeat(20_000);

    expect(changesOf({ name: 'a', models: long }, { name: 'b', models: '' })).toEqual([
      { member: 'name', before: 'a', after: 'b' },
      { member: 'models', before: null, after: null, omitted: true },
    ]);
    const half = { one: 'x'.repeat(9_000), other: 'y'.repeat(9_000) };
    expect(changesOf(undefined, half)).toMatchObject([{ after: half.one }, { omitted: true }]);
    expect(keptDetail({ models: long, name: 'b' })).toEqual({ name: 'b', omitted: ['models'] });
  });
});

describe('the audit log', () => {
  it('has what became of a channel, by its name, and no credential', async () => {
    const { deps } = management;
    const { channel } = await createChannel(
      deps,
      {
        name: 'hosted',
        provider: 'cohere',
        models: { 'rerank-v3.5': 'rerank-v3.5' },
        credentials: { apiKey: new Secret('the first secret') },
      },
      OPERATOR,
    );
    const edit = {
      name: 'renamed',
      weight: 7,
      baseUrl: 'https://rerank.example.com',
      credentials: { apiKey: new Secret('the second secret') },
    };
    await updateChannel(deps, channel.id, edit, OPERATOR);

    expect(await last()).toMatchObject({
      action: 'channel.update',
      name: 'hosted',
      changes: [
        { member: 'name', before: 'hosted', after: 'renamed' },
        { member: 'base_url', before: null, after: 'https://rerank.example.com' },
        { member: 'weight', before: 1, after: 7 },
      ],
    });

    await deleteChannel(deps, channel.id, OPERATOR);

    const gone = await last();
    expect(gone?.name).toBe('renamed');
    expect(gone?.changes).toContainEqual({
      member: 'credential_names',
      before: ['api_key'],
      after: null,
    });
    expect(JSON.stringify(await management.audited())).not.toContain('secret');
  });

  it('has no secret of a channel of earlier releases, which kept some among its settings', async () => {
    const { deps } = management;
    const earlier = async (name: string): Promise<number> => {
      const draft = {
        ...{ name, provider: 'portkey', models: { m: 'm' } },
        baseUrl: 'https://portkey.example.com',
        settings: { upstreamProvider: 'cohere' },
        credentials: { portkeyApiKey: new Secret('the key of portkey') },
      };
      const { channel } = await createChannel(deps, draft, OPERATOR);
      const settings = { ...channel.settings, config: '{"api_key":"hidden"}' };
      await deps.store.updateChannel(channel.id, { settings });
      return channel.id;
    };
    const first = await earlier('first');
    const again = { portkeyApiKey: new Secret('the key of portkey'), config: null };
    const edit = { settings: { upstreamProvider: 'voyage' }, credentials: again };
    await updateChannel(deps, first, edit, OPERATOR);

    expect((await last())?.changes).toContainEqual({
      member: 'settings',
      before: { upstream_provider: 'cohere' },
      after: { upstream_provider: 'voyage' },
    });

    await deleteChannel(deps, await earlier('second'), OPERATOR);
    await deleteChannels(deps, [await earlier('third')], OPERATOR);

    expect(JSON.stringify(await management.audited())).not.toContain('hidden');
  });

  it('has what became of a tag', async () => {
    const { deps } = management;
    const draft = { name: 'a', provider: 'cohere', models: { m: 'm' }, tag: 'hosted' };
    await createChannel(
      deps,
      { ...draft, credentials: { apiKey: new Secret('the secret of a') } },
      OPERATOR,
    );
    await disableTag(deps, 'hosted', 'answers 500', OPERATOR);

    const expected = [
      { member: 'disabled', before: false, after: true },
      { member: 'reason', before: null, after: 'answers 500' },
    ];
    expect(await last()).toMatchObject({ name: 'hosted', changes: expected });

    await enableTag(deps, 'hosted', OPERATOR);

    const back = expected.map(({ member, before, after }) => ({
      ...{ member, before: after, after: before },
    }));
    expect(await last()).toMatchObject({ name: 'hosted', changes: back });
  });

  it('has what became of a key, with its balance where that was changed', async () => {
    const { deps } = management;
    const draft = { userId: owner.id, name: 'search', remainQuota: 1_000 };
    const { token } = await createToken(deps, draft, owner);
    expect(await last()).toMatchObject({ action: 'token.create', name: 'search' });

    const change = {
      enabled: false,
      policy: { models: ['m'], rateLimit: 60 },
      quota: { add: 500 },
    };
    await updateToken(deps, token.id, change, owner);

    expect((await last())?.changes).toEqual([
      { member: 'status', before: 1, after: 2 },
      { member: 'model_limits_enabled', before: false, after: true },
      { member: 'model_limits', before: [], after: ['m'] },
      { member: 'rate_limit', before: 0, after: 60 },
      { member: 'remain_quota', before: 1_000, after: 1_500 },
    ]);

    await deleteToken(deps, token.id, owner);

    const gone = await last();
    expect(gone?.name).toBe('search');
    expect(gone?.changes).toContainEqual({ member: 'rate_limit', before: 60, after: null });
  });

  it('tells the balance that was added to, though some was spent meanwhile', async () => {
    const { deps } = management;
    const draft = { userId: owner.id, name: 'search', remainQuota: 1_000 };
    const { token } = await createToken(deps, draft, owner);
    const { store } = deps;
    const slow = {
      ...store,
      updateToken: async (...[id, change, nowMs]: Parameters<typeof store.updateToken>) => {
        await store.updateToken(token.id, { quota: { add: -100 } }, NOW);
        return store.updateToken(id, change, nowMs);
      },
    };

    await updateToken({ ...deps, store: slow }, token.id, { quota: { add: 500 } }, owner);

    expect((await last())?.changes).toEqual([
      { member: 'remain_quota', before: 900, after: 1_400 },
    ]);
  });

  it('tells what a change replaced when two happen at once', async () => {
    const { deps } = management;
    const draft = { userId: owner.id, name: 'search', unlimitedQuota: true };
    const { token } = await createToken(deps, draft, owner);

    await Promise.all(
      [1, 2, 3].map((rateLimit) => updateToken(deps, token.id, { policy: { rateLimit } }, owner)),
    );

    const entries = (await management.audited()).filter(({ action }) => action === 'token.update');
    const steps = entries.flatMap(({ changes = [] }) => changes);
    // Each step begins where another one ended.
    expect(steps.map(({ before }) => before).sort()).toEqual(
      [
        0,
        ...steps
          .map(({ after }) => after)
          .sort()
          .slice(0, -1),
      ].sort(),
    );
    expect(new Set(steps.map(({ before }) => before)).size).toBe(3);
  });

  it('has what became of an account, and never its password', async () => {
    const { deps } = management;
    const edit = {
      displayName: 'The owner',
      password: 'a long new pass phrase',
      quota: { set: 5 },
    };

    await updateUser(deps, owner.id, edit, OPERATOR);

    expect(await last()).toMatchObject({
      name: 'owner',
      changes: [
        { member: 'display_name', before: 'owner', after: 'The owner' },
        { member: 'quota', before: 1_000_000, after: 5 },
      ],
    });
    expect(JSON.stringify(await management.audited())).not.toContain('phrase');
  });

  it('names what entries of earlier releases acted on as it is called now', async () => {
    const { deps, store } = management;
    const { token } = await createToken(deps, { userId: owner.id, name: 'search' }, owner);
    const old = {
      ...{ atMs: deps.now(), actorId: 1, actor: 'root', action: 'token.update' },
      detail: {},
    };
    for (const target of [`token:${token.id}`, `user:${owner.id}`, 'token:99', 'redemption']) {
      await store.appendAudit({ ...old, target, address: undefined }, 100);
    }
    await recordAudit(deps, owner, 'user.login', `user:${owner.id}`);

    const then = { target: `user:${owner.id}`, name: 'as it was', address: undefined };
    await store.appendAudit({ ...old, ...then }, 100);

    const { items } = await listAudit(deps, { offset: 0, limit: 6 });

    expect(items.map(({ name }) => name)).toEqual([
      ...['as it was', 'owner', undefined, undefined, 'owner', 'search'],
    ]);
  });

  it('reads the channels once for all entries that do not name theirs', async () => {
    const { deps, store } = management;
    for (const name of ['a', 'b', 'c']) {
      const draft = { name, provider: 'cohere', models: { m: 'm' } };
      const credentials = { apiKey: new Secret('a secret') };
      const { channel } = await createChannel(deps, { ...draft, credentials }, OPERATOR);
      const target = `channel:${channel.id}`;
      const old = { atMs: deps.now(), actorId: 1, actor: 'root', action: 'channel.update' };
      await store.appendAudit({ ...old, target, detail: {}, address: undefined }, 100);
    }
    let reads = 0;
    const counting = {
      ...store,
      loadChannels: () => {
        reads += 1;
        return store.loadChannels();
      },
    };

    const { items } = await listAudit(
      { store: counting, now: deps.now },
      { offset: 0, limit: 9, action: 'channel.update' },
    );

    expect(items.map(({ name }) => name)).toEqual(['c', 'b', 'a']);
    expect(reads).toBe(1);
  });
});
