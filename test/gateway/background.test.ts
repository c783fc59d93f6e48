import { describe, expect, it } from '@jest/globals';
import { Background } from '../../src/gateway/background.js';
import type { GatewayEvent } from '../../src/gateway/events.js';
import { deferred } from '../support/deferred.js';

function setUp() {
  const faults: { what: string; message: string }[] = [];
  const background = new Background((event: GatewayEvent) => {
    if (event.kind !== 'fault') return;
    const { what, error } = event;
    faults.push({ what, message: error instanceof Error ? error.message : String(error) });
  });
  return { background, faults };
}

describe('work in the background', () => {
  it('begins in a later turn of the event loop, and is waited for', async () => {
    const { background } = setUp();
    const steps: string[] = [];

    background.run('work', () => {
      steps.push('done');
      return Promise.resolve();
    });
    steps.push('replied');
    await background.drained();

    expect(steps).toEqual(['replied', 'done']);
  });

  it('that fails is a fault, and stops nothing else', async () => {
    const { background, faults } = setUp();
    let done = false;

    background.run('counting', () => Promise.reject(new Error('no')));
    background.run('more', () => {
      done = true;
      return Promise.resolve();
    });
    await background.drained();

    expect(faults).toEqual([{ what: 'counting', message: 'no' }]);
    expect(done).toBe(true);
  });

  it('that begins more work is waited for as a whole', async () => {
    const { background } = setUp();
    const steps: number[] = [];

    background.run('first', () => {
      steps.push(1);
      background.run('second', () => {
        steps.push(2);
        return Promise.resolve();
      });
      return Promise.resolve();
    });
    await background.drained();

    expect(steps).toEqual([1, 2]);
  });

  it('is refused once a thousand pieces are waiting', async () => {
    const { background, faults } = setUp();
    const held = deferred();

    for (let count = 0; count < 1_001; count += 1) background.run('store', () => held.promise);
    expect(faults).toEqual([{ what: 'store', message: 'too much work is queued' }]);

    held.resolve();
    await background.drained();
    background.run('store', () => Promise.resolve());
    await background.drained();
    expect(faults).toHaveLength(1);
  });
});
