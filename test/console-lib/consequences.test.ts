import { describe, expect, it } from '@jest/globals';
import {
  dependsOn,
  dependsOnChannels,
  dependsOnPresence,
  type ServedModel,
} from '../../src/core/depends.js';
import { callApi, createAccount } from '../support/accounts.js';
import { startGateway } from '../support/gateway.js';
import { runs } from '../support/long.js';
import { fc } from '../support/property.js';

const MODELS = ['m0', 'm1', 'm2', 'm3'];
const TAGS = ['a', 'b'];
const SET_UPS = runs(20, 200);
const AT_ONCE = 10;

/** Channels with some models each, and models that others answer for. */
const SET_UP = fc.record({
  channels: fc.array(
    fc.record({
      tag: fc.constantFrom(...TAGS, undefined),
      models: fc.subarray(MODELS, { minLength: 1, maxLength: 3 }),
      enabled: fc.boolean(),
      priority: fc.nat(2),
    }),
    { minLength: 2, maxLength: 6 },
  ),
  fallbacks: fc.array(fc.subarray(MODELS, { maxLength: 2 }), { minLength: 4, maxLength: 4 }),
  off: fc.subarray(TAGS, { maxLength: 1 }),
});

type SetUp = typeof SET_UP extends fc.Arbitrary<infer T> ? T : never;

function settingsOf({ channels, fallbacks }: SetUp) {
  const named = new Set(channels.flatMap(({ models }) => models));
  return {
    channels: channels.map(({ models, ...channel }, index) => ({
      ...{ name: `c${index}`, provider: 'local', ...channel },
      models: Object.fromEntries(models.map((model) => [model, 'local/lexical'])),
    })),
    models: Object.fromEntries(
      MODELS.filter((model) => named.has(model)).map((model) => [
        model,
        {
          fallbacks: (fallbacks[MODELS.indexOf(model)] ?? []).filter(
            (other) => other !== model && named.has(other),
          ),
        },
      ]),
    ),
  };
}

/** A gateway, and which models it answers, found by asking it. */
async function started(setUp: SetUp) {
  const gateway = await startGateway(settingsOf(setUp));
  const { token } = await createAccount(gateway.store, { role: 10 });
  const { key } = await gateway.createKey();
  const api = async <T>(method: string, path: string, body?: unknown): Promise<T> => {
    const reply = await callApi<T>(gateway.url, method, path, { token, body });
    expect(reply.body).toMatchObject({ success: true });
    return reply.body.data;
  };
  return {
    gateway,
    api,
    served: () => api<ServedModel[]>('GET', '/api/channel/models'),
    switchTag: (tag: string, how: string) => api('POST', `/api/channel/tag/${how}`, { tag }),
    answered: async (): Promise<Map<string, number>> => {
      const found = new Map<string, number>();
      for (const model of MODELS) {
        const body = { model, query: 'moons', documents: ['Saturn', 'oil'] };
        found.set(model, (await gateway.post(key, body)).status);
      }
      return found;
    },
  };
}

/** Those that were answered before, and no longer are. */
function lost(before: ReadonlyMap<string, number>, after: ReadonlyMap<string, number>): string[] {
  return MODELS.filter((model) => before.get(model) === 200 && after.get(model) !== 200);
}

/** Switches off each tag, then a channel, and compares what was said with what is answered; resolves to what came of it. */
async function tried(setUp: SetUp): Promise<string[]> {
  const seen: string[] = [];
  const { gateway, served, switchTag, answered, api } = await started(setUp);
  const tags = TAGS.filter((tag) => setUp.channels.some((channel) => channel.tag === tag));
  for (const tag of tags.filter((each) => setUp.off.includes(each)))
    await switchTag(tag, 'disabled');
  const [models, statuses] = [await served(), await answered()];
  for (const tag of tags.filter((each) => !setUp.off.includes(each))) {
    const { dark, elsewhere } = dependsOn(tag, models);

    await switchTag(tag, 'disabled');
    const without = await answered();
    expect([...dark].sort()).toEqual(lost(statuses, without));
    for (const model of dark) expect(without.get(model)).toBe(503);
    for (const { model } of elsewhere) expect(without.get(model)).toBe(200);
    seen.push(dark.length > 0 ? 'dark' : 'all answered');
    if (elsewhere.some(({ fallback }) => fallback !== undefined)) seen.push('by a fallback');

    await switchTag(tag, 'enabled');
    expect(await served()).toEqual(models);
    expect(await answered()).toEqual(statuses);
  }
  const [channel] = models.flatMap(({ channels }) => channels);
  if (channel !== undefined) {
    const { dark } = dependsOnChannels(new Set([channel.id]), models);
    await api('PUT', '/api/channel?status_only=true', { id: channel.id, status: 2 });
    expect([...dark].sort()).toEqual(lost(statuses, await answered()));
  }
  await gateway.close();
  return seen;
}

describe('what a switch takes down', () => {
  it('is what the gateway no longer answers, and what is switched on again is as it was', async () => {
    const setUps = fc.sample(SET_UP, SET_UPS);
    const seen = new Set<string>();
    for (let at = 0; at < SET_UPS; at += AT_ONCE) {
      const some = await Promise.all(setUps.slice(at, at + AT_ONCE).map(tried));
      for (const each of some.flat()) seen.add(each);
    }
    expect([...seen].sort()).toEqual(['all answered', 'by a fallback', 'dark']);
  }, 120_000);

  it('is also what no channel has any more, though another model would answer for it', () => {
    const serving = (id: number) => ({ id, name: `c${id}`, tag: null, live: true });
    const models = [
      { id: 'm0', channels: [serving(1)], fallbacks: ['m1'] },
      { id: 'm1', channels: [serving(2)], fallbacks: [] },
    ];

    expect(dependsOnPresence(new Set([1]), models)).toEqual({ dark: ['m0'], elsewhere: [] });
    expect(dependsOnChannels(new Set([1]), models)).toEqual({
      dark: [],
      elsewhere: [{ model: 'm0', fallback: 'm1', channels: ['c2'] }],
    });
  });
});
