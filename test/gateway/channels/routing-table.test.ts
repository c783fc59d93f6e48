import { describe, expect, it } from '@jest/globals';
import type { Channel } from '../../../src/core/channel.js';
import { offerOf } from '../../../src/gateway/offer.js';
import {
  NO_CHANNELS,
  routingTableOf,
  type PlanOf,
} from '../../../src/gateway/channels/routing-table.js';
import type { ChannelSnapshot } from '../../../src/store/store.js';
import { offer, plan } from '../../support/offers.js';

const planWithoutRank: PlanOf = (model, routes) =>
  plan(routes.map((route) => offerOf(route, model)));

const channel = (id: number, given: Partial<Channel> = {}): Channel =>
  offer(id, given).route.channel;

/** The table of these channels. */
function tableOf(
  channels: readonly Channel[],
  planOf = planWithoutRank,
  given: Partial<ChannelSnapshot> = {},
) {
  const snapshot = { version: 7, channels, locked: new Set<number>(), switches: [], ...given };
  return routingTableOf(snapshot, new Map(), planOf);
}

const MODELS = { m: 'm', other: 'm' };

describe('the table of the channels in force', () => {
  it('has a plan for each model of a channel, and the version of what it was made from', () => {
    const { table, leftOut } = tableOf([
      channel(1, { models: MODELS }),
      channel(2),
      channel(3, { models: { x: 'x' } }),
    ]);

    const served = [...table.plans].map(([model, { offers }]) => [
      model,
      offers.map(({ id }) => id),
    ]);
    expect(served).toEqual([
      ['m', [1, 2]],
      ['other', [1]],
      ['x', [3]],
    ]);
    expect([table.version, [...table.byId.keys()], leftOut]).toEqual([7, [1, 2, 3], []]);
    expect(NO_CHANNELS.version).toBeLessThan(0);
  });

  it('has channels that are switched off by their tag, which are not live', () => {
    const off = { tag: 'eu', disabled: true, reason: undefined, changedBy: '', changedTime: 0 };
    const { table } = tableOf([channel(1, { tag: 'eu' }), channel(2)], planWithoutRank, {
      switches: [off],
    });

    expect([...table.byId.values()].map(({ live }) => live)).toEqual([false, true]);
  });

  it('leaves out a channel whose credentials cannot be read, and says which key is wrong', () => {
    const { table, leftOut } = tableOf([channel(1), channel(2)], planWithoutRank, {
      locked: new Set([1]),
    });

    expect([...table.byId.keys()]).toEqual([2]);
    expect(leftOut).toEqual([
      { channel: channel(1), why: expect.stringContaining('ENCRYPTION_KEY') as unknown },
    ]);
    expect(table.unusable.get('m')).toEqual(leftOut);
  });

  it('leaves out a channel that could be read before', () => {
    const read = channel(1);
    const { table } = tableOf([read]);
    const snapshot = { version: 8, channels: [read], locked: new Set([1]), switches: [] };

    const { leftOut } = routingTableOf(snapshot, new Map(), planWithoutRank, table);

    expect(leftOut).toMatchObject([
      { channel: read, why: expect.stringContaining('cannot be read') },
    ]);
  });

  it('leaves out a channel from which no route can be made', () => {
    const unknown = { ...channel(1), provider: 'of another release' };
    const { table, leftOut } = tableOf([unknown, channel(2)]);

    expect([...table.byId.keys()]).toEqual([2]);
    expect(leftOut.map(({ channel: { id } }) => id)).toEqual([1]);
  });

  it('leaves out a channel from which no plan can be made for all of its models, and the others stay', () => {
    const odd = channel(1, { models: MODELS });
    const { table } = tableOf(
      [odd, channel(2, { models: MODELS }), channel(3, { models: { x: 'x' } })],
      (model, routes) => {
        if (model === 'm' && routes.some(({ id }) => id === 1)) throw new TypeError('odd member');
        return planWithoutRank(model, routes);
      },
    );

    // Not half in force: its other model goes without it as well.
    expect(table.plans.get('m')?.offers.map(({ id }) => id)).toEqual([2]);
    expect(table.plans.get('other')?.offers.map(({ id }) => id)).toEqual([2]);
    expect([...table.plans.keys()]).toContain('x');
    expect([...table.byId.keys()]).toEqual([2, 3]);
    const why = 'it cannot be prepared for traffic: odd member';
    expect(table.unusable.get('other')).toEqual([{ channel: odd, why }]);
  });

  it('names a channel once from which none of its plans can be made', () => {
    const { leftOut } = tableOf([channel(1, { models: MODELS })], () => {
      throw new TypeError('odd member');
    });

    expect(leftOut).toHaveLength(1);
  });

  it('leaves out all channels of a model that cannot be planned though each alone can', () => {
    const { table, leftOut } = tableOf(
      [channel(1), channel(2), channel(3, { models: { x: 'x' } })],
      (model, routes) => {
        if (routes.length > 1) throw new Error('not both');
        return planWithoutRank(model, routes);
      },
    );

    expect([...table.plans.keys()]).toEqual(['x']);
    expect(table.unusable.get('m')).toEqual(leftOut);
    expect(leftOut).toHaveLength(2);
  });

  it('has one budget for all channels of a tag, whichever declares it', () => {
    const { table } = tableOf([
      channel(1, { budget: 5, budgetScope: 'tag', tag: 'eu' }),
      channel(2, { tag: 'eu' }),
      channel(3),
    ]);

    const limits = [...table.byId.values()].map((route) =>
      route.limits.map(({ name, most }) => [name, most]),
    );
    expect(limits).toEqual([[['tag_budget', 5]], [['tag_budget', 5]], []]);
  });

  it('keeps the routes and plans of what has not changed', () => {
    const channels = [
      channel(1, { models: { m: 'm' }, tag: 'eu' }),
      channel(2, { models: { x: 'x' }, tag: 'us' }),
      channel(3, { models: { y: 'y' } }),
    ];
    const off = {
      tag: 'eu',
      disabled: true,
      reason: undefined,
      changedTime: 1,
      changedBy: undefined,
    };
    const of = (version: number, more: Partial<ChannelSnapshot>): ChannelSnapshot => ({
      ...{ version, channels, locked: new Set<number>(), switches: [] },
      ...more,
    });
    const first = routingTableOf(of(1, {}), new Map(), planWithoutRank).table;

    const switched = of(2, { switches: [off] });
    const second = routingTableOf(switched, new Map(), planWithoutRank, first).table;
    const edited = {
      ...switched,
      channels: [...channels.slice(0, 2), channel(3, { priority: 1 })],
    };
    const third = routingTableOf(edited, new Map(), planWithoutRank, second).table;

    expect(second.byId.get(1)?.live).toBe(false);
    expect(second.plans.get('m')).not.toBe(first.plans.get('m'));
    expect(second.byId.get(2)).toBe(first.byId.get(2));
    expect(second.plans.get('x')).toBe(first.plans.get('x'));
    expect(third.byId.get(1)).toBe(second.byId.get(1));
    expect(third.plans.get('x')).toBe(first.plans.get('x'));
    expect(third.byId.get(3)?.priority).toBe(1);
  });

  it('has the new budget of a tag in every route of it', () => {
    const plain = channel(1, { tag: 'eu' });
    const first = tableOf([plain]).table;
    const snapshot = {
      ...{ version: 8, locked: new Set<number>(), switches: [] },
      channels: [plain, channel(2, { budget: 5, budgetScope: 'tag', tag: 'eu' })],
    };

    const second = routingTableOf(snapshot, new Map(), planWithoutRank, first).table;
    const third = routingTableOf(
      { ...snapshot, channels: [plain] },
      new Map(),
      planWithoutRank,
      second,
    );

    expect(second.byId.get(1)?.limits).toHaveLength(1);
    expect(third.table.byId.get(1)?.limits).toHaveLength(0);
  });
});
