import { expect, it } from '@jest/globals';
import { steadyClock } from '../../src/core/steady-clock.js';

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
