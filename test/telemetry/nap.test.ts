import { expect, it } from '@jest/globals';
import { Nap } from '../../src/telemetry/nap.js';

it('a nap ends when its time is up', async () => {
  await expect(new Nap().take(1)).resolves.toBeUndefined();
});

it('a nap that is cut short ends at once, and the next one is a nap again', async () => {
  const nap = new Nap();
  nap.wake();
  const long = nap.take(3_600_000);
  nap.wake();
  await long;

  let isOver = false;
  const next = nap.take(3_600_000).then(() => (isOver = true));
  await new Promise((resolve) => setImmediate(resolve));
  expect(isOver).toBe(false);
  nap.wake();
  await next;
});
