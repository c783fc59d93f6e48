import { describe, expect, it } from '@jest/globals';
import { awaitInForce } from '../../src/management/in-force.js';
import { inForce } from '../../src/operations/in-force.js';
import type { OperationDeps } from '../../src/operations/operation.js';
import { StoreUnavailableError, type NodeState } from '../../src/store/store.js';

/** A clock that only the pauses move. */
function clock(): {
  now: () => number;
  elapsed: () => number;
  pause: (ms: number) => Promise<void>;
} {
  let nowMs = 0;
  return {
    now: () => nowMs,
    elapsed: () => nowMs,
    pause: (ms) => {
      nowMs += ms;
      return Promise.resolve();
    },
  };
}

/** Nodes by their ids, each with the version that it has in force. */
function nodesReporting(look: (nowMs: number) => Readonly<Record<string, number | undefined>>) {
  return {
    listNodes: (nowMs: number): Promise<NodeState[]> =>
      Promise.resolve(
        Object.entries(look(nowMs)).map(([nodeId, version]) => ({
          ...{ nodeId, version },
          about: undefined,
        })),
      ),
  };
}

describe('awaitInForce', () => {
  it('waits until the slowest gateway has confirmed the version, and says how long that took', async () => {
    const time = clock();
    const store = nodesReporting((nowMs) => ({ a: 7, b: nowMs < 60 ? 6 : 8 }));

    expect(await awaitInForce({ store, ...time }, 7, 1_000)).toEqual({
      state: 'confirmed',
      nodes: { confirmed: 2, total: 2, late: [] },
      waitedMs: 60,
    });
  });

  it('ends when the staleness bound has passed, and names the nodes that have not confirmed', async () => {
    const time = clock();
    const store = nodesReporting(() => ({ a: 7, 'b-which-is-frozen': 6 }));

    const result = await awaitInForce({ store, ...time }, 7, 1_000);

    expect(result).toMatchObject({
      state: 'bound_passed',
      nodes: { confirmed: 1, total: 2, late: ['b-which-'] },
    });
    expect(result.waitedMs).toBeGreaterThan(1_000);
  });

  it('measures the bound by a clock that nobody sets', async () => {
    const time = clock();
    // The time of day is set forward while the change waits.
    const now = (): number => time.now() + (time.now() > 100 ? 3_600_000 : 0);
    const store = nodesReporting(() => ({ a: 6 }));

    const result = await awaitInForce({ store, ...time, now }, 7, 1_000);

    expect(result).toMatchObject({ state: 'bound_passed' });
    expect(time.elapsed()).toBeGreaterThan(1_000);
  });

  it('does not wait for a gateway that has stopped to report: it acts on nothing that it knew', async () => {
    const store = nodesReporting(() => ({ a: 7, gone: undefined }));

    expect(await awaitInForce({ store, ...clock() }, 7, 1_000)).toMatchObject({
      state: 'confirmed',
      nodes: { confirmed: 1, total: 1 },
    });
  });

  it('has nothing to wait for if no gateway runs', async () => {
    const store = nodesReporting(() => ({}));

    expect(await awaitInForce({ store, ...clock() }, 7, 1_000)).toEqual({
      state: 'no_gateway',
      nodes: { confirmed: 0, total: 0, late: [] },
      waitedMs: 0,
    });
  });

  it('waits for the bound if the store cannot answer, since the change is made', async () => {
    const store = { listNodes: () => Promise.reject(new StoreUnavailableError('gone')) };

    expect(await awaitInForce({ store, ...clock() }, 7, 1_000)).toMatchObject({
      state: 'bound_passed',
      nodes: { total: 0 },
    });
  });
});

it('a fault that is not the store’s absence is told', async () => {
  const store = { listNodes: () => Promise.reject(new Error('a mistake')) };

  await expect(awaitInForce({ store, ...clock() }, 7, 1_000)).rejects.toThrow('a mistake');
});

it('a change that was made is reported, though this gateway cannot read it back', async () => {
  const deps = {
    ...{ ...clock(), stalenessMs: 1_000, store: nodesReporting(() => ({ a: 7 })) },
    known: { refresh: () => Promise.reject(new StoreUnavailableError('away')) },
  } as unknown as OperationDeps;

  expect(await inForce(deps, 7)).toMatchObject({ in_force: 'confirmed' });
});
