import { describe, expect, it, jest } from '@jest/globals';
import { Secret } from '../../../src/core/secret.js';
import {
  ChannelTable,
  type ChannelTableDeps,
  type TableUse,
} from '../../../src/gateway/channels/table.js';
import type { GatewayEvent } from '../../../src/gateway/events.js';
import { offerOf } from '../../../src/gateway/offer.js';
import { createChannel, deleteChannel } from '../../../src/management/channels.js';
import { createVault } from '../../../src/store/vault.js';
import { deferred } from '../../support/deferred.js';
import { plan } from '../../support/offers.js';
import { freshManagement, OPERATOR } from '../../support/management.js';
import { until } from '../../support/until.js';

const TEI = { provider: 'tei', baseUrl: 'http://127.0.0.1:9', models: { m: 'm' } };

const planWithoutRank: TableUse['planOf'] = (model, routes) =>
  plan(routes.map((route) => offerOf(route, model)));

/** Turns the clock, which stands still otherwise, until something is done. */
async function passing(work: Promise<unknown>): Promise<void> {
  const state = { isDone: false };
  const done = work.finally(() => (state.isDone = true));
  while (!state.isDone) {
    await jest.advanceTimersByTimeAsync(1);
    await new Promise((resolve) => setImmediate(resolve));
  }
  await done;
}

describe('the channels of a node', () => {
  const management = freshManagement();

  const openTable = ({
    planOf = planWithoutRank,
    ...deps
  }: Partial<ChannelTableDeps & TableUse>) => {
    const table = new ChannelTable({
      store: management.store,
      declared: new Map(),
      observe: () => undefined,
      now: management.deps.now,
      elapsed: deps.now ?? management.deps.now,
      stalenessMs: 60_000,
      nodeId: 'node',
      onGone: () => undefined,
      onOrigins: () => undefined,
      ...deps,
    });
    table.use({ planOf });
    return table;
  };
  const namesIn = (table: ChannelTable) =>
    (table.current.plans.get('m')?.offers ?? []).map(({ route }) => route.channel.name);

  it('leave out one whose credentials cannot be read, and say which key is wrong', async () => {
    const credentials = { apiKey: new Secret('a key') };
    await createChannel(management.deps, { ...TEI, name: 'sealed', credentials }, OPERATOR);
    await createChannel(management.deps, { ...TEI, name: 'open' }, OPERATOR);
    const events: GatewayEvent[] = [];
    const table = openTable({
      store: management.reopen(createVault(new Secret('another encryption key'))),
      observe: (event) => events.push(event),
    });

    await table.refresh();

    expect(namesIn(table)).toEqual(['open']);
    expect(events).toMatchObject([
      {
        kind: 'channels',
        unusable: [
          {
            name: 'sealed',
            provider: 'tei',
            why: expect.stringContaining('ENCRYPTION_KEY') as unknown,
          },
        ],
      },
    ]);
  });

  it('stay in force beside one from which no plan can be made, which is reported with the reason', async () => {
    await createChannel(management.deps, { ...TEI, name: 'odd' }, OPERATOR);
    await createChannel(management.deps, { ...TEI, name: 'sound' }, OPERATOR);
    const events: GatewayEvent[] = [];
    const table = openTable({
      observe: (event) => events.push(event),
      planOf: (model, routes) => {
        if (routes.some(({ channel }) => channel.name === 'odd')) throw new TypeError('odd member');
        return planWithoutRank(model, routes);
      },
    });

    await table.refresh();

    expect(namesIn(table)).toEqual(['sound']);
    const why = 'it cannot be prepared for traffic: odd member';
    expect(events).toMatchObject([{ kind: 'channels', unusable: [{ name: 'odd', why }] }]);
  });

  it('that are gone are reported once, and only those', async () => {
    const { channel: first } = await createChannel(
      management.deps,
      { ...TEI, name: 'first' },
      OPERATOR,
    );
    await createChannel(management.deps, { ...TEI, name: 'second' }, OPERATOR);
    const gone: number[] = [];
    const table = openTable({ onGone: (id) => gone.push(id) });
    await table.refresh();
    expect(gone).toEqual([]);

    await deleteChannel(management.deps, first.id, OPERATOR);
    await table.refresh();
    await table.refresh();

    expect(gone).toEqual([first.id]);
    expect(namesIn(table)).toEqual(['second']);
  });

  it('are checked again when a change is announced during a check', async () => {
    const { deps, store } = management;
    const [asked, answer] = [deferred(), deferred()];
    let tell: () => void = () => undefined;
    let held = false;
    let checks = 0;
    const table = openTable({
      store: {
        ...store,
        watchChannels: (onChange) => {
          tell = onChange;
          return () => undefined;
        },
        syncNode: async (report) => {
          const news = await store.syncNode(report);
          checks += 1;
          if (held) {
            asked.resolve();
            await answer.promise;
          }
          return news;
        },
      },
    });
    await createChannel(deps, { ...TEI, name: 'first' }, OPERATOR);
    await table.start();
    [held, checks] = [true, 0];

    void table.refresh();
    await asked.promise;
    await createChannel(deps, { ...TEI, name: 'second' }, OPERATOR);
    tell();
    const checking = table.refresh();
    answer.resolve();
    await checking;

    expect(namesIn(table)).toEqual(['first', 'second']);
    expect(checks).toBe(2);
    await table.stop();
  });

  it('are waited for no longer than the check under way and the next, however slow the store is', async () => {
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] });
    try {
      const { store } = management;
      const stalenessMs = 300;
      const answerMs = 200;
      let answers = 0;
      const table = openTable({
        now: Date.now,
        stalenessMs,
        store: {
          ...store,
          syncNode: async (report) => {
            const news = await store.syncNode(report);
            await new Promise((resolve) => setTimeout(resolve, answerMs));
            answers += 1;
            return news;
          },
        },
      });
      await passing(table.start());
      // The checks follow each other without a pause: each takes longer than there is between two of them.
      await jest.advanceTimersByTimeAsync(2 * stalenessMs);

      const before = answers;
      await passing(table.refresh());
      await passing(table.ensureFresh());

      expect(answers - before).toBe(2);
      await passing(table.stop());
    } finally {
      jest.useRealTimers();
    }
  });

  it('are as old as the question, not as the answer', async () => {
    const { store } = management;
    let nowMs = 1_000_000;
    let answerMs = 400;
    const table = openTable({
      now: () => nowMs,
      stalenessMs: 1_000,
      store: {
        ...store,
        syncNode: async (report) => {
          const news = await store.syncNode(report);
          nowMs += answerMs;
          return news;
        },
      },
    });

    await table.refresh();
    expect(table.isFresh()).toBe(true);
    nowMs += 600;
    expect(table.isFresh()).toBe(true);
    nowMs += 1;
    expect(table.isFresh()).toBe(false);
    await table.ensureFresh();
    expect(table.isFresh()).toBe(true);

    answerMs = 1_001;
    nowMs += 601;
    await expect(table.ensureFresh()).rejects.toMatchObject({ code: 'store_unavailable' });
    expect(table.isFresh()).toBe(false);
  });

  it('are not asked for once more where the check under way will do', async () => {
    const { store } = management;
    let nowMs = 1_000_000;
    let asks = 0;
    const table = openTable({
      now: () => nowMs,
      stalenessMs: 1_000,
      store: {
        ...store,
        syncNode: (report) => {
          asks += 1;
          return store.syncNode(report);
        },
      },
    });
    await table.refresh();
    // It reports at once what is in force now.
    await new Promise((resolve) => setImmediate(resolve));
    await table.refresh();
    asks = 0;
    nowMs += 1_001;

    await Promise.all([table.refresh(), table.ensureFresh(), table.ensureFresh()]);

    expect(asks).toBe(1);
  });

  it('are asked for again where a node busy with a burst hears two answers too late', async () => {
    const { store } = management;
    let nowMs = 1_000_000;
    const answersMs = [100, 1_500, 1_500, 100];
    const table = openTable({
      now: () => nowMs,
      stalenessMs: 1_000,
      store: {
        ...store,
        syncNode: async (report) => {
          const news = await store.syncNode(report);
          nowMs += answersMs.shift() ?? 0;
          return news;
        },
      },
    });
    await table.refresh();
    nowMs += 1_001;

    await table.ensureFresh();

    expect([table.isFresh(), answersMs]).toEqual([true, []]);
  });

  it('are made again with all that they are made with when that has changed', async () => {
    let made = 0;
    const table = openTable({
      planOf: (model, routes) => {
        made += 1;
        return planWithoutRank(model, routes);
      },
    });
    await createChannel(management.deps, { ...TEI, name: 'made again' }, OPERATOR);
    await table.refresh();
    const before = made;

    table.remake();

    expect(made - before).toBe(before);
    expect(before).toBeGreaterThan(0);
  });

  it('are too old once the bound has passed, even if the clock was set back', async () => {
    let nowMs = 1_000_000;
    let elapsedMs = 0;
    const table = openTable({
      now: () => nowMs,
      elapsed: () => elapsedMs,
      stalenessMs: 1_000,
    });
    await table.refresh();
    expect(table.isFresh()).toBe(true);

    nowMs -= 3_600_000;
    elapsedMs += 1_001;

    expect(table.isFresh()).toBe(false);
  });

  it('that are switched off between its first look and its report are off when it has started', async () => {
    const { deps, store } = management;
    await createChannel(deps, { ...TEI, name: 'tagged', tag: 'eu' }, OPERATOR);
    const tagSwitch = { tag: 'eu', disabled: true, reason: undefined, changedTime: 0 };
    let version = 0;
    const table = openTable({
      store: {
        ...store,
        syncNode: async (report) => {
          const news = await store.syncNode(report);
          // Nobody is told of it: the first look has been answered, and no message comes.
          if (version === 0) version = await store.setTagSwitch({ ...tagSwitch, changedBy: '' });
          return news;
        },
        watchChannels: () => () => undefined,
      },
    });

    await table.start();

    expect((table.current.plans.get('m')?.offers ?? []).map(({ route }) => route.live)).toEqual([
      false,
    ]);
    await table.refresh();
    expect(await store.oldestNodeVersion(deps.now())).toBe(version);
    await table.stop();
  });

  it('are loaded anew when the store has lost what the node had noted there', async () => {
    const { store } = management;
    const events: GatewayEvent[] = [];
    let lost = 0;
    const table = openTable({
      observe: (event) => events.push(event),
      onStoreLost: () => (lost += 1),
    });
    await table.refresh();
    await table.refresh();
    expect(lost).toBe(0);

    await store.forgetNode('node');
    await table.refresh();
    await table.refresh();

    expect(lost).toBe(1);
    expect(events.filter(({ kind }) => kind === 'fault')).toMatchObject([
      { what: 'everything is reloaded' },
    ]);
  });

  it('are checked within the bound even if no change is announced', async () => {
    const { deps, store } = management;
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] });
    try {
      const table = openTable({
        now: Date.now,
        stalenessMs: 300,
        store: { ...store, watchChannels: () => () => undefined },
      });
      await passing(table.start());
      // What its start still had to look at has been looked at.
      await passing(table.refresh());
      await createChannel(deps, { ...TEI, name: 'silent' }, OPERATOR);
      expect(namesIn(table)).toEqual([]);

      await jest.advanceTimersByTimeAsync(300);
      await new Promise((resolve) => setImmediate(resolve));

      expect(namesIn(table)).toEqual(['silent']);
      await passing(table.stop());
    } finally {
      jest.useRealTimers();
    }
  });

  it('that have changed are reported as in force without waiting for the next look', async () => {
    const { deps, store } = management;
    const now = Date.now;
    const table = openTable({ now, store: { ...store, watchChannels: () => () => undefined } });
    await table.start();

    const { id } = (await createChannel(deps, { ...TEI, name: 'new' }, OPERATOR)).channel;
    await table.refresh();

    // The safety net looks every 20 s here.
    const { version } = table.current;
    expect(table.current.byId.has(id)).toBe(true);
    await until(
      'the node has reported it',
      async () => (await store.oldestNodeVersion(now())) === version,
      10_000,
    );
    await table.stop();
  });

  it('are not reported again by a node that has stopped, though a look was due', async () => {
    const { store } = management;
    const [asked, answer] = [deferred(), deferred()];
    let held = false;
    const table = openTable({
      store: {
        ...store,
        syncNode: async (report) => {
          if (held) {
            asked.resolve();
            await answer.promise;
          }
          return store.syncNode(report);
        },
      },
    });
    await table.start();
    held = true;
    void table.refresh();
    await asked.promise;
    const next = table.refresh();

    const stopped = table.stop();
    answer.resolve();
    await stopped;
    await next;

    expect(await store.oldestNodeVersion(management.deps.now())).toBeUndefined();
  });

  it('tell once that the store is away, and once that it is back', async () => {
    const { store } = management;
    const events: GatewayEvent[] = [];
    let isAway = false;
    let back = 0;
    const table = openTable({
      observe: (event) => events.push(event),
      onStoreBack: () => (back += 1),
      store: {
        ...store,
        syncNode: (report) => (isAway ? Promise.reject(new Error('away')) : store.syncNode(report)),
      },
    });
    await table.refresh();
    expect(back).toBe(0);

    isAway = true;
    for (let look = 0; look < 3; look += 1) {
      await expect(table.refresh()).rejects.toThrow('away');
    }
    isAway = false;
    await table.refresh();
    await table.refresh();

    expect(events.filter(({ kind }) => kind === 'fault')).toMatchObject([
      { what: 'the channels could not be refreshed' },
    ]);
    expect(back).toBe(1);
  });

  it('of an emptied store stay as they are, and are not asked for without a pause', async () => {
    const { deps, store } = management;
    await createChannel(deps, { ...TEI, name: 'kept' }, OPERATOR);
    const heard: string[] = [];
    let isEmptied = false;
    let lost = 0;
    const table = openTable({
      onNews: ({ memory }) => heard.push(memory),
      store: {
        ...store,
        syncNode: async (report) => {
          const news = await store.syncNode(report);
          if (!isEmptied) return news;
          const snapshot = { ...(await store.loadChannels()), version: 99, channels: [] };
          return { ...news, memory: 'emptied', snapshot };
        },
      },
      onStoreLost: () => (lost += 1),
    });
    await table.refresh();
    await new Promise((resolve) => setImmediate(resolve));
    await table.refresh();
    isEmptied = true;
    heard.length = 0;

    await table.refresh();
    await new Promise((resolve) => setTimeout(resolve, 50));

    expect(heard).toEqual(['emptied']);
    expect(namesIn(table)).toEqual(['kept']);
    expect(lost).toBe(0);

    // Once it has channels again, whatever the node remembers of it may be of another time.
    isEmptied = false;
    await table.refresh();

    expect(lost).toBe(1);
  });
});
