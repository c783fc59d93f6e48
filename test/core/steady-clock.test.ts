import { expect, it } from '@jest/globals';
import { passed, steadyClock } from '../../src/core/steady-clock.js';

it.each([
  ['back', -30_000],
  ['forward', 30_000],
])('a steady clock goes on where the time of day is set %s', (_, stepMs) => {
  let dayMs = 1_700_000_000_000;
  let elapsedMs = 5;
  const clock = steadyClock(
    () => dayMs,
    () => elapsedMs,
  );
  expect(clock()).toBe(1_700_000_000_000);

  elapsedMs += 100;
  dayMs += 100 + stepMs;

  expect(clock()).toBe(1_700_000_000_100);
});

it('so many milliseconds have passed by a clock of parts of milliseconds, never less', async () => {
  const waits = Array.from({ length: 200 }, async (_, index) => {
    await new Promise((resolve) => setTimeout(resolve, index));
    const ms = 20 + index / 10;
    const start = performance.now();
    await passed(ms);
    return performance.now() - start - ms;
  });

  expect(Math.min(...(await Promise.all(waits)))).toBeGreaterThanOrEqual(0);
});
