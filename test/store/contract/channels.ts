import { describe, expect, test } from '@jest/globals';
import { CHANNEL_DEFAULTS } from '../../../src/core/channel-members.js';
import type { Channel, TagSwitch } from '../../../src/core/channel.js';
import { Secret } from '../../../src/core/secret.js';
import type {
  ChannelUpdate,
  DeclaredChannel,
  NewChannel,
  Store,
} from '../../../src/store/store.js';
import { createVault } from '../../../src/store/vault.js';
import { VERSION_STEP } from '../../../src/store/version.js';
import { report } from '../../support/nodes.js';
import { freshStore, newChannel, T0, T0_SECONDS, type OpenHarness } from './harness.js';
import { until } from '../../support/until.js';

const ANOTHER_KEY = createVault(new Secret('the key of somebody else'));
const NO_KEY = createVault(undefined);

export function describeChannels(open: OpenHarness): void {
  describe('channels', () => {
    const given = freshStore(open);

    test('keeps a channel as it was created, across connections', async () => {
      const wanted = newChannel({
        name: 'cohere eu',
        baseUrl: 'https://rerank.example/v2',
        credentials: { apiKey: new Secret('key ü'), project: new Secret('p') },
        models: { fast: 'rerank-fast', Best: 'rerank-best' },
        tag: 'eu',
        priority: -5,
        weight: 2.5,
        timeoutMs: 1_500,
        maxConcurrency: 9,
        status: 2,
        scores: 'normalized',
        settings: { path: '/rank', nested: { list: [1, null, 'x'] } },
      });

      const channel = await create(given.store, wanted);

      expect(present(channel)).toEqual({
        ...present(wanted),
        id: expect.any(Number),
        origin: 'store',
      });
      const again = await load(await given.reopen());
      expect(again.channels.map(present)).toEqual([present(channel)]);
      expect(again.locked.size).toBe(0);
    });

    test('hands out the same objects as long as they have not changed, whoever has changed others', async () => {
      const { store } = given;
      const [one, two] = [
        newChannel({ name: 'one', tag: 'a' }),
        newChannel({ name: 'two', tag: 'b' }),
      ];
      const { id } = await create(store, one);
      await create(store, two);
      await store.setTagSwitch(tagSwitch('a'));
      const before = await load(store);
      expect((await load(store)).channels[0]).toBe(before.channels[0]);

      const other = await given.reopen();
      await other.updateChannel(id, { priority: 9 });
      await other.setTagSwitch(tagSwitch('b'));
      const after = await load(store);

      expect(after.channels.map(({ priority }) => priority)).toEqual([9, 0]);
      expect(after.channels[1]).toBe(before.channels[1]);
      expect(after.switches.map(({ tag }) => tag)).toEqual(['a', 'b']);
      expect(after.switches[0]).toBe(before.switches[0]);
      await other.deleteChannel(id);
      await other.deleteTagSwitch('a');
      const last = await load(store);
      expect([last.channels, last.switches]).toEqual([[after.channels[1]], [after.switches[1]]]);
    });

    test('has after its own changes what another connection reads', async () => {
      const { store } = given;
      await store.declareChannels([declared('one'), declared('two')]);
      const { id } = await create(
        store,
        newChannel({ name: 'three', baseUrl: 'https://a.example' }),
      );
      await create(store, newChannel({ name: 'four' }));
      await load(store);
      await store.updateChannel(id, { weight: 7, baseUrl: undefined });
      await store.declareChannels([declared('two', { tag: 'eu' }), declared('five')]);
      for (const tag of ['eu', 'us', 'asia']) await store.setTagSwitch(tagSwitch(tag));
      await store.deleteTagSwitch('us');

      const own = await load(store);
      expect(own.channels.map(({ name }) => name)).toEqual(['two', 'three', 'four', 'five']);
      expect(own).toEqual(await load(await given.reopen()));
    });

    test('keeps what is left open', async () => {
      const channel = await create(given.store, newChannel({ credentials: {} }));

      expect(channel).toMatchObject({ baseUrl: undefined, tag: undefined, timeoutMs: undefined });
      expect((await load(given.store)).channels).toEqual([channel]);
    });

    test('gives channels that an older release stored the defaults of members that it did not know', async () => {
      // Left out of the record, as undefined is of JSON.
      const unknown = { weight: undefined, scores: undefined } as unknown as Partial<NewChannel>;
      const { id } = await create(given.store, newChannel({ ...unknown, priority: 4 }));

      const { channels } = await load(await given.reopen());

      expect(channels.find((channel) => channel.id === id)).toMatchObject({
        ...CHANNEL_DEFAULTS,
        priority: 4,
      });
    });

    test('numbers channels upwards and gives no number twice', async () => {
      const first = await create(given.store);
      const second = await create(given.store);
      await given.store.deleteChannel(second.id);

      const third = await create(await given.reopen());

      expect([first.id, second.id, third.id]).toEqual([1, 2, 3]);
    });

    test('begins at some version and grows it with every change', async () => {
      const versions = [await given.store.channelsVersion()];
      const note = (version: number | undefined): number => versions.push(version ?? -1);

      const created = await given.store.createChannel(newChannel({ name: 'one' }));
      if (created.kind !== 'updated') throw new Error(created.kind);
      note(created.version);
      const update = await given.store.updateChannel(created.channel.id, { weight: 3 });
      note(update.kind === 'updated' ? update.version : undefined);
      note(await given.store.updateChannels([{ id: created.channel.id, change: { priority: 4 } }]));
      note(await given.store.setTagSwitch(tagSwitch('eu')));
      note(await given.store.deleteTagSwitch('eu'));
      note((await given.store.declareChannels([declared('declared')])).version);
      note(await given.store.deleteChannel(created.channel.id));

      expect(versions).toEqual([...new Set(versions)].sort((a, b) => a - b));
      expect(versions).toHaveLength(8);
      expect(await given.store.channelsVersion()).toBe(versions.at(-1));
      expect((await load(await given.reopen())).version).toBe(versions.at(-1));
    });

    test('does not grow the version when nothing happened', async () => {
      await create(given.store, newChannel({ name: 'one' }));
      const before = await given.store.channelsVersion();

      await given.store.createChannel(newChannel({ name: 'one' }));
      await given.store.updateChannel(99, { weight: 1 });
      await given.store.updateChannels([{ id: 99, change: { weight: 1 } }]);
      await given.store.deleteChannel(99);
      await given.store.deleteTagSwitch('never switched');
      await report(given.store, 'node', before, T0, 1_000);

      expect(await given.store.channelsVersion()).toBe(before);
    });

    test('changes what is named and leaves the rest', async () => {
      const channel = await create(
        given.store,
        newChannel({ tag: 'eu', baseUrl: 'https://a.example', settings: { path: '/a' } }),
      );

      const update = await given.store.updateChannel(channel.id, {
        tag: undefined,
        baseUrl: undefined,
        status: 2,
        weight: 7,
      });

      const expected = { ...channel, tag: undefined, baseUrl: undefined, status: 2, weight: 7 };
      expect(present(updated(update))).toEqual(present(expected));
      expect((await load(given.store)).channels.map(present)).toEqual([present(expected)]);
    });

    test('replaces credentials, takes them away, and keeps them when they are not named', async () => {
      const { id } = await create(given.store, newChannel());
      const secret = async (): Promise<string | undefined> =>
        (await load(given.store)).channels[0]?.credentials.apiKey?.reveal();

      await given.store.updateChannel(id, { weight: 2 });
      expect(await secret()).toBe('upstream key');
      await given.store.updateChannel(id, { credentials: { apiKey: new Secret('new') } });
      expect(await secret()).toBe('new');
      await given.store.updateChannel(id, { credentials: {} });
      expect((await load(given.store)).channels[0]?.credentials).toEqual({});
    });

    test('gives a name to one channel alone, also when many ask at once', async () => {
      const second = await given.reopen();
      const one = await create(given.store, newChannel({ name: 'one' }));
      const two = await create(given.store, newChannel({ name: 'two' }));

      const taken = { kind: 'name_taken' };
      expect(await second.createChannel(newChannel({ name: 'one' }))).toEqual(taken);
      expect(await second.updateChannel(two.id, { name: 'one' })).toEqual(taken);
      expect((await second.updateChannel(one.id, { name: 'one' })).kind).toBe('updated');
      expect(await second.updateChannel(99, { name: 'one' })).toEqual({ kind: 'not_found' });

      const race = await Promise.all(
        Array.from({ length: 10 }, (_, index) =>
          (index % 2 === 0 ? given.store : second).createChannel(newChannel({ name: 'raced' })),
        ),
      );
      expect(race.filter(({ kind }) => kind === 'updated')).toHaveLength(1);
    });

    test('frees the name of a channel that is renamed or deleted', async () => {
      const one = await create(given.store, newChannel({ name: 'one' }));
      const two = await create(given.store, newChannel({ name: 'two' }));
      await given.store.updateChannel(one.id, { name: 'renamed' });
      await given.store.deleteChannel(two.id);

      expect((await given.store.createChannel(newChannel({ name: 'one' }))).kind).toBe('updated');
      expect((await given.store.createChannel(newChannel({ name: 'two' }))).kind).toBe('updated');
    });

    test('changes many channels as one', async () => {
      const one = await create(given.store, newChannel({ name: 'one' }));
      const two = await create(given.store, newChannel({ name: 'two' }));
      const before = await load(given.store);

      const none = await given.store.updateChannels([
        { id: one.id, change: { tag: 'eu' } },
        { id: 99, change: { tag: 'eu' } },
      ]);
      const clash = await given.store.updateChannels([
        { id: one.id, change: { tag: 'eu' } },
        { id: two.id, change: { name: 'one' } },
      ]);
      expect([none, clash]).toEqual([undefined, undefined]);
      expect(await load(given.store)).toEqual(before);

      const version = await given.store.updateChannels([
        { id: one.id, change: { tag: 'eu', credentials: { apiKey: new Secret('batch') } } },
        { id: two.id, change: { tag: 'eu', status: 2 } },
      ]);
      const after = await load(given.store);
      expect(after.version).toBe(version);
      expect(after.channels.map(({ tag, status }) => [tag, status])).toEqual([
        ['eu', 1],
        ['eu', 2],
      ]);
      expect(after.channels[0]?.credentials.apiKey?.reveal()).toBe('batch');
      expect(after.channels[1]?.credentials.apiKey?.reveal()).toBe('upstream key');
    });

    test('lets channels swap their names in one change', async () => {
      const one = await create(given.store, newChannel({ name: 'one' }));
      const two = await create(given.store, newChannel({ name: 'two' }));

      const version = await given.store.updateChannels([
        { id: one.id, change: { name: 'two' } },
        { id: two.id, change: { name: 'one' } },
      ]);

      expect(version).toBeDefined();
      expect(names(await load(given.store))).toEqual(['two', 'one']);
    });

    test('switches a tag off and on without touching its channels', async () => {
      await create(given.store, newChannel({ tag: 'eu', status: 1 }));
      await create(given.store, newChannel({ tag: 'eu', status: 3 }));
      const before = await load(given.store);

      await given.store.setTagSwitch(tagSwitch('eu'));
      const off = await load(given.store);
      await given.store.setTagSwitch({
        tag: 'eu',
        disabled: false,
        reason: undefined,
        changedTime: T0_SECONDS + 5,
        changedBy: undefined,
      });
      const on = await load(await given.reopen());

      expect(off.switches).toEqual([tagSwitch('eu')]);
      expect(off.channels).toEqual(before.channels);
      expect(on.switches).toEqual([
        {
          tag: 'eu',
          disabled: false,
          reason: undefined,
          changedTime: T0_SECONDS + 5,
          changedBy: undefined,
        },
      ]);
      await given.store.deleteTagSwitch('eu');
      expect((await load(given.store)).switches).toEqual([]);
    });

    test('loads channels and switches of one version while both change', async () => {
      const second = await given.reopen();
      const { id } = await create(given.store, newChannel({ tag: '0' }));
      const versionOf = new Map<number, string>();
      const turns = Array.from({ length: 20 }, (_, index) => String(index));

      const changes = (async () => {
        for (const tag of turns) {
          const update = await given.store.updateChannel(id, { tag });
          if (update.kind === 'updated') versionOf.set(update.version, tag);
          versionOf.set(await given.store.setTagSwitch(tagSwitch(`switch ${tag}`)), tag);
        }
      })();
      const loads = await Promise.all(turns.map(() => load(second)));
      await changes;
      loads.push(await load(second));

      for (const { version, channels, switches } of loads) {
        const tag = versionOf.get(version);
        if (tag === undefined) continue;
        expect(channels[0]?.tag).toBe(tag);
        expect(switches.length - Number(tag)).toBeGreaterThanOrEqual(0);
        expect(switches.length - Number(tag)).toBeLessThanOrEqual(1);
      }
    });

    test('cannot store credentials without a key, and changes nothing then', async () => {
      const keyless = await given.reopen(NO_KEY);
      const { id } = await create(keyless, newChannel({ credentials: {} }));
      const before = await load(keyless);

      const locked = { name: 'CredentialsLockedError' };
      await expect(keyless.createChannel(newChannel())).rejects.toMatchObject(locked);
      await expect(
        keyless.updateChannel(id, { weight: 9, credentials: newChannel().credentials }),
      ).rejects.toMatchObject(locked);
      await expect(
        keyless.updateChannels([{ id, change: { credentials: newChannel().credentials } }]),
      ).rejects.toMatchObject(locked);
      expect(await load(keyless)).toEqual(before);
    });

    test.each([
      ['without a key', NO_KEY],
      ['with another key', ANOTHER_KEY],
    ])('marks channels as locked %s and loads the others', async (_, vault) => {
      const secretive = await create(given.store, newChannel());
      const plain = await create(given.store, newChannel({ credentials: {} }));
      const other = await given.reopen(vault);

      const snapshot = await load(other);

      expect(snapshot.channels.map(({ id }) => id)).toEqual([secretive.id, plain.id]);
      expect(snapshot.channels.map(({ credentials }) => credentials)).toEqual([{}, {}]);
      expect([...snapshot.locked]).toEqual([secretive.id]);
    });

    test('keeps locked credentials through other changes, and takes new ones', async () => {
      const { id } = await create(given.store, newChannel());
      const other = await given.reopen(ANOTHER_KEY);

      expect((await other.updateChannel(id, { weight: 4 })).kind).toBe('updated');
      const kept = await load(given.store);
      expect(kept.channels[0]?.credentials.apiKey?.reveal()).toBe('upstream key');

      await other.updateChannel(id, { credentials: { apiKey: new Secret('entered again') } });
      const renewed = await load(other);
      expect(renewed.locked.size).toBe(0);
      expect(renewed.channels[0]?.credentials.apiKey?.reveal()).toBe('entered again');
      expect([...(await load(given.store)).locked]).toEqual([id]);
    });

    test('declares the channels of the configuration: adds, replaces, removes', async () => {
      const store = await given.reopen(NO_KEY);
      const first = await store.declareChannels([declared('a', { tag: 'x' }), declared('b')]);
      const before = await load(store);

      const second = await store.declareChannels([
        declared('a', { tag: 'y', settings: { path: '/' } }),
        declared('c', { status: 2 }),
      ]);
      const after = await load(store);

      expect(first.taken).toEqual([]);
      expect(before.channels.map(({ name, origin }) => [name, origin])).toEqual([
        ['a', 'config'],
        ['b', 'config'],
      ]);
      expect(second.version).toBeGreaterThan(first.version);
      expect(after.version).toBe(second.version);
      expect(after.channels).toEqual([
        {
          ...declared('a', { tag: 'y', settings: { path: '/' } }),
          id: before.channels[0]?.id,
          origin: 'config',
          credentials: {},
        },
        {
          ...declared('c', { status: 2 }),
          id: expect.any(Number),
          origin: 'config',
          credentials: {},
        },
      ]);
    });

    test('changes a channel only while it has the status that the change depends on', async () => {
      const { store } = given;
      const { id } = await create(store);
      const outage = { reason: 'no_credit', message: 'top up ü', sinceMs: T0 } as const;
      const enabled = ({ status }: Channel) => status === 1;

      const writes = await Promise.all(
        Array.from({ length: 10 }, () => store.updateChannel(id, { status: 3, outage }, enabled)),
      );

      expect(writes.filter(({ kind }) => kind === 'updated')).toHaveLength(1);
      expect(writes.filter(({ kind }) => kind === 'changed')).toHaveLength(9);
      const [kept] = (await load(await given.reopen())).channels;
      expect(kept).toMatchObject({ status: 3, outage });
      const version = await store.channelsVersion();
      expect(await store.updateChannel(id, { status: 2 }, enabled)).toEqual({
        kind: 'changed',
      });
      expect(await store.channelsVersion()).toBe(version);
      const returned = updated(
        await store.updateChannel(
          id,
          { status: 1, outage: undefined },
          ({ status }) => status === 3,
        ),
      );
      expect(returned.outage).toBeUndefined();
      expect((await load(store)).channels[0]?.outage).toBeUndefined();
    });

    test('keeps disabled what the gateway has disabled when it is declared again, until the declaration changes', async () => {
      const { store } = given;
      await store.declareChannels([declared('sick'), declared('other')]);
      const { channels } = await load(store);
      const id = channels.find(({ name }) => name === 'sick')?.id ?? 0;
      const outage = { reason: 'credentials_refused', message: '', sinceMs: T0 } as const;
      await store.updateChannel(id, { status: 3, outage });
      const version = await store.channelsVersion();
      const sick = async () => (await load(store)).channels.find((each) => each.id === id);

      await store.declareChannels([declared('sick'), declared('other')]);
      expect(await store.channelsVersion()).toBe(version);
      await store.declareChannels([declared('sick', { weight: 7 }), declared('other')]);
      expect(await sick()).toMatchObject({ status: 3, outage, weight: 7 });

      await store.declareChannels([declared('sick', { status: 2 }), declared('other')]);
      const off = await sick();
      expect([off?.status, off?.outage]).toEqual([2, undefined]);
    });

    test('declares the same again without a new version, in whatever order members come', async () => {
      const models = { one: '1', two: '2' };
      const settings = { a: 1, b: { c: [1, 2], d: undefined } };
      const first = await given.store.declareChannels([declared('a', { models, settings })]);

      const again = await (
        await given.reopen()
      ).declareChannels([
        declared('a', { models: { two: '2', one: '1' }, settings: { b: { c: [1, 2] }, a: 1 } }),
      ]);

      expect(again).toEqual({ version: first.version, taken: [] });
    });

    test('leaves a status that was set by hand, and follows the declaration otherwise', async () => {
      await given.store.declareChannels([declared('hand'), declared('free')]);
      const [hand] = (await load(given.store)).channels;
      await given.store.updateChannel(hand?.id ?? 0, { status: 2 });
      const statuses = async (): Promise<number[]> =>
        (await load(given.store)).channels.map(({ status }) => status);

      await given.store.declareChannels([
        declared('hand', { weight: 5 }),
        declared('free', { status: 2 }),
      ]);
      expect(await statuses()).toEqual([2, 2]);

      await given.store.declareChannels([declared('hand', { weight: 6 }), declared('free')]);
      expect(await statuses()).toEqual([2, 1]);
    });

    test('leaves a channel of the store alone when the configuration wants its name', async () => {
      const channel = await create(given.store, newChannel({ name: 'mine' }));

      const { taken } = await given.store.declareChannels([declared('mine'), declared('other')]);

      expect(taken).toEqual(['mine']);
      const { channels } = await load(given.store);
      expect(channels.map(present)[0]).toEqual(present(channel));
      expect(channels.map(({ name }) => name)).toEqual(['mine', 'other']);
    });

    test('does not take channels of the store away when nothing is declared', async () => {
      await create(given.store, newChannel({ name: 'mine' }));
      await given.store.declareChannels([declared('declared')]);

      await given.store.declareChannels([]);

      expect(names(await load(given.store))).toEqual(['mine']);
    });

    test('ends with one set when two nodes declare it at the same time', async () => {
      const second = await given.reopen();
      const channels = Array.from({ length: 10 }, (_, index) => declared(`channel ${index}`));

      await Promise.all([
        given.store.declareChannels(channels),
        second.declareChannels(channels),
        given.store.declareChannels(channels),
      ]);

      expect(names(await load(second))).toEqual(channels.map(({ name }) => name));
    });

    test('tells a watcher of changes by this connection and by another', async () => {
      const second = await given.reopen();

      const own = watchOnce(given.store);
      const foreign = watchOnce(second);
      await given.store.setTagSwitch(tagSwitch('eu'));
      await own.told;

      // A watch that has only just begun may miss a change, so there are more until it tells of one.
      await until('the other connection is told', async () => {
        await given.store.setTagSwitch(tagSwitch('eu'));
        return foreign.isTold();
      });
    });

    test('tells every watcher, and none that has stopped', async () => {
      const calls: string[] = [];
      const stop = given.store.watchChannels(() => calls.push('stopped'));
      const watch = watchOnce(given.store);
      stop();
      stop();

      await given.store.setTagSwitch(tagSwitch('eu'));
      await watch.told;

      expect(calls).toEqual([]);
    });

    test('knows the oldest version that a live node has', async () => {
      const second = await given.reopen();
      expect(await given.store.oldestNodeVersion(T0)).toBeUndefined();

      const first = await given.store.setTagSwitch(tagSwitch('first'));
      await given.store.begin();
      await report(second, 'b', first, T0 + 500, 1_000);
      const next = await given.store.setTagSwitch(tagSwitch('second'));
      await report(given.store, 'a', next, T0, 1_000);
      expect(await given.store.oldestNodeVersion(T0 + 500)).toBe(first);

      const last = await given.store.setTagSwitch(tagSwitch('third'));
      await report(second, 'b', last, T0 + 600, 1_000);
      expect(await given.store.oldestNodeVersion(T0 + 999)).toBe(next);
      expect(await given.store.oldestNodeVersion(T0 + 1_000)).toBe(last);

      await given.store.forgetNode('b');
      expect(await second.oldestNodeVersion(T0 + 1_000)).toBeUndefined();
    });

    test('tells a node in one step what is new, and nothing if nothing is', async () => {
      await given.store.begin();
      await create(given.store, newChannel({ name: 'one' }));
      const version = await given.store.setTagSwitch(tagSwitch('eu'));

      const first = await report(given.store, 'a', -1, T0, 1_000);
      const again = await report(given.store, 'a', version, T0, 1_000);

      expect(first).toMatchObject({ memory: 'kept', storeTimeMs: T0 });
      expect(first.snapshot).toEqual(await given.store.loadChannels());
      expect(first.snapshot).toMatchObject({ version, channels: [{ name: 'one' }] });
      expect(again).toEqual({ snapshot: undefined, memory: 'kept', storeTimeMs: T0 });
    });

    test('treats a version that it has not made as none, and hands out what it has', async () => {
      await given.store.begin();
      await given.store.setTagSwitch(tagSwitch('eu'));
      const version = await given.store.setTagSwitch(tagSwitch('us'));

      for (const lost of [version + 1, version - 1, version + VERSION_STEP]) {
        const { snapshot } = await report(given.store, 'a', lost, T0, 1_000);

        expect(snapshot?.version).toBe(version);
        expect(await given.store.oldestNodeVersion(T0)).toBe(0);
      }
    });

    test('makes no version twice, though the writes of one were lost', async () => {
      const versions = new Set<number>();
      for (let round = 0; round < 3; round += 1) {
        const fresh = await given.fresh();
        versions.add(await fresh.setTagSwitch(tagSwitch('eu')));
      }

      expect(versions.size).toBe(3);
    });

    test('tells a node whose last report it does not know that it has lost something', async () => {
      await given.store.begin();
      const version = await given.store.setTagSwitch(tagSwitch('eu'));
      const told = { nodeId: 'a', version, nowMs: T0, ttlMs: 1_000 };

      const never = await given.store.syncNode({ ...told, serial: 8, heardSerial: 7 });
      const known = await given.store.syncNode({ ...told, serial: 9, heardSerial: 8 });
      await given.store.forgetNode('a');
      const lost = await given.store.syncNode({ ...told, serial: 10, heardSerial: 9 });

      expect([never.memory, known.memory, lost.memory]).toEqual(['lost', 'kept', 'lost']);
      expect(lost.snapshot?.version).toBe(version);
      // Nothing that it has is certain: a change must not count as in force there.
      expect(await given.store.oldestNodeVersion(T0)).toBe(0);
    });

    test('keeps the latest report of a node when an earlier one arrives after it', async () => {
      await given.store.begin();
      const version = await given.store.setTagSwitch(tagSwitch('eu'));
      const told = { nodeId: 'a', version, nowMs: T0, ttlMs: 1_000 };
      await given.store.syncNode({ ...told, serial: 9, heardSerial: 0 });
      await given.store.syncNode({ ...told, serial: 8, heardSerial: 0 });

      const next = await given.store.syncNode({ ...told, serial: 10, heardSerial: 9 });

      expect(next.memory).toBe('kept');
    });

    test('counts a node that knows no channels yet as one with no version', async () => {
      await given.store.begin();
      await given.store.setTagSwitch(tagSwitch('eu'));

      const { snapshot } = await report(given.store, 'a', -1, T0, 1_000);

      expect(snapshot).toBeDefined();
      expect(await given.store.oldestNodeVersion(T0)).toBe(0);
    });
  });
}

type Snapshot = Awaited<ReturnType<Store['loadChannels']>>;

/** A snapshot with its channels in the order of their ids, which the contract leaves open. */
async function load(store: Store): Promise<Snapshot> {
  const snapshot = await store.loadChannels();
  return { ...snapshot, channels: snapshot.channels.toSorted((a, b) => a.id - b.id) };
}

function names({ channels }: Snapshot): string[] {
  return channels.map(({ name }) => name);
}

async function create(store: Store, channel: NewChannel = newChannel()): Promise<Channel> {
  return updated(await store.createChannel(channel));
}

function updated(update: ChannelUpdate): Channel {
  if (update.kind !== 'updated') throw new Error(`expected an update, got ${update.kind}`);
  return update.channel;
}

/** With the secrets in the clear, so that they are compared too. */
function present(channel: Pick<Channel, 'credentials'>): object {
  const credentials = Object.entries(channel.credentials).map(([name, secret]) => [
    name,
    secret.reveal(),
  ]);
  return { ...channel, credentials };
}

function declared(name: string, given: Partial<DeclaredChannel> = {}): DeclaredChannel {
  const { credentials: _, ...channel } = newChannel({ name });
  return { ...channel, ...given };
}

function tagSwitch(tag: string): TagSwitch {
  return {
    tag,
    disabled: true,
    reason: 'three in the morning',
    changedTime: T0_SECONDS,
    changedBy: 'root',
  };
}

/** Waits for the first change that the store tells of. */
function watchOnce(store: Store): {
  readonly told: Promise<void>;
  readonly isTold: () => boolean;
} {
  let isTold = false;
  const told = new Promise<void>((resolve) => {
    const stop = store.watchChannels(() => {
      isTold = true;
      stop();
      resolve();
    });
  });
  return { told, isTold: () => isTold };
}
