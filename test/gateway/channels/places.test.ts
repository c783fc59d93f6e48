import { describe, expect, it } from '@jest/globals';
import { askPlaces, type PlaceHolder } from '../../../src/core/places.js';
import { ChannelPlaces } from '../../../src/gateway/channels/places.js';
import type { GatewayEvent } from '../../../src/gateway/events.js';
import { createScope } from '../../../src/gateway/scope.js';
import { StoreUnavailableError, type PlaceStore } from '../../../src/store/store.js';

const T0 = 1_800_000_000_000;

/** Nodes that share one store, and a clock that the test turns. */
function fleet(count: number) {
  const state = { nowMs: T0, asks: 0, away: false, answerMs: 0 };
  let holders: readonly PlaceHolder[] = [];
  const store: PlaceStore = {
    askPlaces: async (_name, ask) => {
      state.asks += 1;
      if (state.away) throw new StoreUnavailableError('away');
      const { next, answer } = askPlaces(holders, ask, state.nowMs);
      holders = next;
      // The answer takes a moment, in which calls begin and end.
      await new Promise((resolve) => setImmediate(resolve));
      state.nowMs += state.answerMs;
      return answer;
    },
  };
  const events: GatewayEvent[] = [];
  const renewals: (() => void)[] = [];
  const nodes = Array.from(
    { length: count },
    (_, at) =>
      new ChannelPlaces({
        store,
        nodeId: `node ${at}`,
        observe: (event) => events.push(event),
        now: () => state.nowMs,
        steady: () => state.nowMs - T0,
        every: (_ms, run) => {
          renewals.push(run);
          return () => renewals.splice(renewals.indexOf(run), 1);
        },
      }),
  );
  /** Time goes by until the next renewal. */
  const renewed = async (): Promise<void> => {
    state.nowMs += 250;
    for (const renew of [...renewals]) renew();
    await settled();
  };
  return { nodes, state, events, renewed, renewals, holders: () => holders };
}

async function settled(): Promise<void> {
  for (let turn = 0; turn < 10; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

const scope = () => {
  const made = createScope(Date.now(), 60_000);
  made.release();
  return made;
};
const channel = (most: number) => ({ counter: 'channel:1', most });

/** How many of so many calls on each node get a place. */
async function begun(
  nodes: readonly ChannelPlaces[],
  most: number,
  calls: number,
): Promise<number[]> {
  return Promise.all(
    nodes.map(async (node) => {
      const tries = Array.from({ length: calls }, () => node.take(channel(most), scope()));
      return (await Promise.all(tries)).filter(Boolean).length;
    }),
  );
}

const sum = (counts: readonly number[]): number => counts.reduce((all, one) => all + one, 0);

describe('a bound on calls in flight that nodes share', () => {
  it('lets no more calls begin than it says, whoever makes them', async () => {
    const { nodes } = fleet(3);

    expect(sum(await begun(nodes, 10, 12))).toBe(10);
    expect(nodes.every((node) => node.isFull(channel(10), 0))).toBe(true);
  });

  it('asks the store now and then, and not for each call', async () => {
    const { nodes, state } = fleet(1);
    const [node] = nodes as [ChannelPlaces];

    for (let call = 0; call < 1_000; call += 1) {
      expect(await node.take(channel(64), scope())).toBe(true);
      node.leave(channel(64));
    }

    expect(state.asks).toBe(1);
  });

  it('gives another node its part as calls end, and not before', async () => {
    const { nodes, state } = fleet(2);
    const [one, other] = nodes as [ChannelPlaces, ChannelPlaces];
    await begun([one], 8, 8);

    expect(await begun([other], 8, 8)).toEqual([0]);
    await settled();
    state.nowMs += 60;
    // The first node hears of the other when it asks next: at its next call beyond what it holds.
    expect(await one.take(channel(8), scope())).toBe(false);
    for (let ended = 0; ended < 6; ended += 1) one.leave(channel(8));
    await settled();
    state.nowMs += 60;

    expect(await begun([other], 8, 8)).toEqual([4]);
    expect(await begun([one], 8, 8)).toEqual([2]);
  });

  it('passes round what is too little for everybody', async () => {
    const { nodes, renewed } = fleet(2);
    const [one, other] = nodes as [ChannelPlaces, ChannelPlaces];
    const served = [0, 0];
    expect(await one.take(channel(1), scope())).toBe(true);
    let holder = one;

    for (let turn = 0; turn < 40; turn += 1) {
      await renewed();
      const tries = await Promise.all(nodes.map((node) => node.take(channel(1), scope())));
      expect(tries.filter(Boolean).length).toBeLessThanOrEqual(1);
      const at = tries.indexOf(true);
      if (at >= 0) {
        served[at] = (served[at] ?? 0) + 1;
        holder = at === 0 ? one : other;
      }
      if (at >= 0 || turn === 0) holder.leave(channel(1));
    }

    expect(Math.min(...served)).toBeGreaterThan(5);
  });

  it('is renewed while calls last, and given back when none was made', async () => {
    const { nodes, state, renewed, holders, renewals } = fleet(1);
    const [node] = nodes as [ChannelPlaces];
    await begun(nodes, 8, 2);
    for (let times = 0; times < 40; times += 1) await renewed();

    expect(holders()).toMatchObject([{ untilMs: state.nowMs + 5_000 }]);
    expect(node.takeNow(channel(8))).toBe(true);
    for (let call = 0; call < 3; call += 1) node.leave(channel(8));
    for (let times = 0; times < 4; times += 1) await renewed();

    expect(holders()).toEqual([]);
    expect(renewals).toEqual([]);
  });

  it('is given back at the end, and by a node that is killed after a while', async () => {
    const { nodes, state, holders } = fleet(2);
    const [one, other] = nodes as [ChannelPlaces, ChannelPlaces];
    await begun([one], 8, 8);
    for (let call = 0; call < 8; call += 1) one.leave(channel(8));
    await one.close();
    expect(holders()).toEqual([]);

    await begun([one], 8, 8);
    expect(await begun([other], 8, 8)).toEqual([0]);
    state.nowMs += 5_000;
    expect(await begun([other], 8, 8)).toEqual([8]);
  });

  it('is kept by each node alone while the store is away', async () => {
    const { nodes, state, events } = fleet(1);
    state.away = true;

    expect(await begun(nodes, 3, 5)).toEqual([3]);
    expect(events).toMatchObject([{ kind: 'fault' }]);
  });

  it('is asked about no more than once a second while the store is away', async () => {
    const { nodes, state, events, renewed } = fleet(1);
    state.away = true;
    await begun(nodes, 3, 1);
    for (let times = 0; times < 12; times += 1) await renewed();

    expect(events.length).toBeLessThanOrEqual(4);
  });

  it('leaves a node what it had while the store is away, so that its calls need not ask', async () => {
    const { nodes, state, renewed } = fleet(1);
    await begun(nodes, 8, 8);
    for (let calls = 0; calls < 7; calls += 1) nodes[0]?.leave(channel(8));
    state.away = true;
    await renewed();
    const { asks } = state;

    expect(await begun(nodes, 8, 7)).toEqual([7]);
    expect(state.asks).toBe(asks);
    expect(nodes[0]?.takeNow(channel(8))).toBe(false);
  });

  it('counts the calls that begin while the store is being asked', async () => {
    const { nodes, state, renewals } = fleet(2);
    const [one, other] = nodes as [ChannelPlaces, ChannelPlaces];
    await begun([one], 8, 8);
    for (let ended = 0; ended < 6; ended += 1) one.leave(channel(8));
    expect(await begun([other], 8, 8)).toEqual([0]);
    state.nowMs += 60;

    // The first node asks, will hear that the other waits, and begins as many as it might until then.
    renewals[0]?.();
    await Promise.resolve();
    await Promise.resolve();
    let begins = 0;
    while (one.takeNow(channel(8))) begins += 1;
    const others = await begun([other], 8, 8);

    expect(begins).toBe(6);
    expect(2 + begins + sum(others)).toBeLessThanOrEqual(8);
  });

  it('has a place again as soon as a call of this node ends', async () => {
    const { nodes } = fleet(1);
    const [node] = nodes as [ChannelPlaces];
    expect(await begun(nodes, 2, 3)).toEqual([2]);
    expect(node.isFull(channel(2), 0)).toBe(true);

    node.leave(channel(2));

    expect(node.isFull(channel(2), 0)).toBe(false);
    expect(node.takeNow(channel(2))).toBe(true);
  });

  it('ends the wait of a call with its scope', async () => {
    const { nodes } = fleet(1);
    const ended = createScope(Date.now(), 60_000);

    const waiting = nodes[0]?.take(channel(1), ended);
    ended.end('client_gone');

    await expect(waiting).rejects.toThrow('The client closed the connection.');
  });
});

describe('places that a node holds in advance', () => {
  /** One node, and what it asks of a store that answers so, one answer after the other. */
  const answered = (...answers: readonly { may: number; isContended: boolean }[]) => {
    const asks: { used: number; want: number }[] = [];
    let renew = (): void => undefined;
    const node = new ChannelPlaces({
      store: {
        askPlaces: (_name, { used, want }) => {
          asks.push({ used, want });
          return Promise.resolve(answers[asks.length - 1] ?? { may: 0, isContended: false });
        },
      },
      ...{ nodeId: 'node', observe: () => undefined, now: () => T0, steady: () => 0 },
      every: (_ms, run) => {
        renew = run;
        return () => undefined;
      },
    });
    const renewed = async (): Promise<void> => {
      renew();
      await settled();
    };
    return { node, asks, renewed };
  };

  it('are some to spare, and none while another node waits for them', async () => {
    const { node, asks, renewed } = answered(
      { may: 2, isContended: true },
      { may: 1, isContended: false },
    );
    expect(await node.take(channel(8), scope())).toBe(true);
    await renewed();
    await renewed();

    expect(asks.map(({ want }) => want)).toEqual([2, 1, 2]);
  });

  it('are none while more calls are in flight than there may be by now', async () => {
    const { node, renewed } = answered(
      { may: 3, isContended: false },
      { may: 1, isContended: false },
      { may: 1, isContended: false },
    );
    expect(await begun([node], 3, 3)).toEqual([3]);
    await renewed();
    const isFull = () => node.isFull(channel(3), 0);
    expect([await node.take(channel(3), scope()), isFull()]).toEqual([false, true]);
    node.leave(channel(3));
    node.leave(channel(3));
    expect(isFull()).toBe(true);
    node.leave(channel(3));

    expect(isFull()).toBe(false);
  });

  const first = (made: ReturnType<typeof fleet>): ChannelPlaces => {
    const [node] = made.nodes;
    if (node === undefined) throw new Error('there is one');
    return node;
  };

  it('lapse five seconds after the question, however long its answer took', async () => {
    const made = fleet(1);
    const node = first(made);
    made.state.answerMs = 2_000;
    expect(await node.take(channel(8), scope())).toBe(true);

    made.state.nowMs += 2_999;
    expect(node.takeNow(channel(8))).toBe(true);
    node.leave(channel(8));
    made.state.nowMs += 1;
    expect(node.takeNow(channel(8))).toBe(false);
  });

  it('are no more than a limit that was lowered meanwhile', async () => {
    const made = fleet(1);
    const node = first(made);
    expect(await begun([node], 10, 10)).toEqual([10]);
    for (let call = 0; call < 10; call += 1) node.leave(channel(10));

    expect([1, 2, 3].map(() => node.takeNow(channel(2)))).toEqual([true, true, false]);
  });

  it('are not asked for on behalf of a caller that has left', async () => {
    const made = fleet(1);
    const node = first(made);
    const leaving = createScope(Date.now(), 60_000);
    const taking = node.take(channel(4), leaving);
    leaving.end('client_gone');
    leaving.release();

    await expect(taking).rejects.toMatchObject({ code: 'client_closed_request' });
    await settled();
    for (let time = 0; time < 4; time += 1) await made.renewed();

    expect(made.holders()).toEqual([]);
    // A limit that nobody uses is forgotten, and nothing is renewed any more.
    expect(made.renewals).toEqual([]);
  });

  it('are given back when the caller leaves while the store is being asked', async () => {
    const made = fleet(1);
    const node = first(made);
    const leaving = createScope(Date.now(), 60_000);
    const taking = node.take(channel(4), leaving);
    while (made.state.asks === 0) await Promise.resolve();
    leaving.end('client_gone');
    leaving.release();
    await expect(taking).rejects.toMatchObject({ code: 'client_closed_request' });

    for (const renew of [...made.renewals]) renew();
    await settled();
    expect(made.holders()).toHaveLength(1);
    await node.close();

    expect(made.holders()).toEqual([]);
  });
});
