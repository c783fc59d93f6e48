import { describe, expect, it } from '@jest/globals';
import { awaitInForce } from '../../src/management/in-force.js';
import { StoreUnavailableError } from '../../src/store/store.js';

/** A clock that only the pauses move. */
function clock(): { now: () => number; pause: (ms: number) => Promise<void> } {
  let nowMs = 0;
  return {
    now: () => nowMs,
    pause: (ms) => {
      nowMs += ms;
      return Promise.resolve();
    },
  };
}

function nodesReporting(look: (nowMs: number) => number | undefined) {
  return { oldestNodeVersion: (nowMs: number) => Promise.resolve(look(nowMs)) };
}

describe('awaitInForce', () => {
  it('waits until the slowest gateway has confirmed the version', async () => {
    const time = clock();
    const store = nodesReporting((nowMs) => (nowMs < 60 ? 6 : 7));

    expect(await awaitInForce({ store, ...time }, 7, 1_000)).toBe('confirmed');

    expect(time.now()).toBe(60);
  });

  it('ends when the staleness bound has passed, beyond which nobody acts on older knowledge', async () => {
    const time = clock();

    const result = await awaitInForce({ store: nodesReporting(() => 6), ...time }, 7, 1_000);

    expect(result).toBe('bound_passed');
    expect(time.now()).toBeGreaterThan(1_000);
  });

  it('has nothing to wait for where no gateway runs', async () => {
    const store = nodesReporting(() => undefined);

    expect(await awaitInForce({ store, ...clock() }, 7, 1_000)).toBe('no_gateway');
  });

  it('waits for the bound where the store can tell nothing, since the change is made', async () => {
    const time = clock();
    const store = {
      oldestNodeVersion: () => Promise.reject(new StoreUnavailableError('gone')),
    };

    expect(await awaitInForce({ store, ...time }, 7, 1_000)).toBe('bound_passed');
  });
});
