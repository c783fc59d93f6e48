import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { changesSince } from '../../src/store/redis/latest-channels.js';
import { createKeys } from '../../src/store/redis/keys.js';
import { openRedisStore } from '../../src/store/redis/redis-store.js';
import type { DeclaredChannel, Store } from '../../src/store/store.js';
import { VERSION_STEP } from '../../src/store/version.js';
import { PATIENT, startRedis, type RedisServer } from '../support/redis-server.js';
import { newChannel, unique, VAULT } from './contract/harness.js';

let server: RedisServer;
let client: Redis;
let prefix = '';
const stores: Store[] = [];

beforeAll(async () => {
  server = await startRedis();
  client = new Redis(server.url);
});
beforeEach(() => {
  prefix = `${unique('channels')}:`;
});
afterAll(async () => {
  await Promise.all(stores.map((store) => store.close()));
  client.disconnect();
  await server.stop();
});

async function open(): Promise<Store> {
  const store = await openRedisStore({ url: server.url, prefix, vault: VAULT, ...PATIENT });
  stores.push(store);
  return store;
}

function declared(name: string): DeclaredChannel {
  const { credentials: _, ...rest } = newChannel({ name });
  return rest;
}

/** How often a command was asked meanwhile. */
async function callsOf(command: string, work: () => Promise<unknown>): Promise<number> {
  const calls = async (): Promise<number> => {
    const stats = await client.info('commandstats');
    return Number(new RegExp(`cmdstat_${command}:calls=(\\d+)`).exec(stats)?.[1] ?? 0);
  };
  const before = await calls();
  await work();
  return (await calls()) - before;
}

/** How often all channels were read meanwhile. */
const wholeReads = (work: () => Promise<unknown>): Promise<number> => callsOf('hkeys', work);

const off = (tag: string) => ({
  ...{ tag, disabled: true, reason: undefined, changedTime: 1, changedBy: undefined },
});

describe('channels in Redis', () => {
  it('are written in pieces if the configuration declares many', async () => {
    const store = await open();
    const names = Array.from({ length: 600 }, (_, index) => `c${index}`);

    const { version } = await store.declareChannels(names.map(declared));

    expect(Math.floor(version / VERSION_STEP)).toBe(3);
    const { channels } = await store.loadChannels();
    expect(channels.map(({ name }) => name)).toEqual(names);
    expect(await store.declareChannels(names.map(declared))).toMatchObject({ version });
    await store.declareChannels([declared('c7')]);
    expect((await store.loadChannels()).channels.map(({ name }) => name)).toEqual(['c7']);
  });

  it('are read once; then only what has changed is', async () => {
    const [writer, reader] = [await open(), await open()];
    const tags = ['eu', 'a tag with blanks\nand lines'];
    await writer.createChannel(newChannel({ name: 'one', tag: 'eu' }));
    await writer.loadChannels();
    expect(await wholeReads(() => reader.loadChannels())).toBe(1);

    const reads = await wholeReads(async () => {
      for (const tag of tags) await writer.setTagSwitch(off(tag));
      await writer.createChannel(newChannel({ name: 'two' }));
      const { channels, switches } = await reader.loadChannels();

      expect(channels.map(({ name }) => name)).toEqual(['one', 'two']);
      expect(new Set(switches.map(({ tag }) => tag))).toEqual(new Set(tags));
    });
    expect(reads).toBe(0);
  });

  it('are not read back by the one who wrote them', async () => {
    const [writer, reader] = [await open(), await open()];
    const reads = await callsOf('hmget', async () => {
      await writer.declareChannels(['one', 'two'].map(declared));
      const made = await writer.createChannel(newChannel({ name: 'three', tag: 'eu' }));
      const [first] = (await writer.loadChannels()).channels;
      await writer.updateChannel(first?.id ?? 0, { weight: 7, baseUrl: undefined });
      if (made.kind === 'updated') await writer.deleteChannel(made.channel.id);
      await writer.loadChannels();
    });
    expect(reads).toBe(0);
    expect(await writer.loadChannels()).toEqual(await reader.loadChannels());
  });

  it('are read whole by a gateway that is too far behind', async () => {
    const [writer, reader] = [await open(), await open()];
    await reader.loadChannels();
    await writer.setTagSwitch(off('old'));
    for (let count = 0; count < 70; count += 1) await writer.setTagSwitch(off('eu'));

    const reads = await wholeReads(async () => {
      expect((await reader.loadChannels()).switches).toHaveLength(2);
    });
    expect(reads).toBe(1);
  });

  it('are read whole where an earlier release, which notes no changes, has written in between', async () => {
    const [writer, reader] = [await open(), await open()];
    const keys = createKeys(prefix);
    await writer.setTagSwitch(off('one'));
    const { version } = await reader.loadChannels();
    // What its script did.
    await client.hset(keys.channelSwitches, 'two', JSON.stringify(off('two')));
    await client.set(keys.channelsVersion, String(version + VERSION_STEP));
    expect((await reader.loadChannels()).switches).toHaveLength(2);

    await client.hset(keys.channelSwitches, 'three', JSON.stringify(off('three')));
    await client.set(keys.channelsVersion, String(version + 2 * VERSION_STEP));
    await writer.setTagSwitch(off('four'));
    expect((await reader.loadChannels()).switches).toHaveLength(4);
  });
});

describe('the changes since a version', () => {
  const LOG = ['1 2 c4 c5', '2 3 tmy tag', '3 4 c5 c6'];

  it.each([
    [1, LOG, { version: 4, ids: ['4', '5', '6'], tags: ['my tag'] }],
    [3, LOG, { version: 4, ids: ['5', '6'], tags: [] }],
    [0, LOG, undefined],
    [4, LOG, undefined],
    [2, [], undefined],
    [1, ['1 2 c4', '3 4 c5'], undefined],
    [1, ['1 2 c4', '2 3 *'], undefined],
  ])('%s in %j: %j', (version, log, changes) => {
    expect(changesSince(version, log)).toEqual(changes);
  });
});
