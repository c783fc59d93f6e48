import { setTimeout as wait } from 'node:timers/promises';
import { expect } from '@jest/globals';

/** At first; what takes long is looked at less and less often, up to the other. */
const LOOK_EVERY_MS = 10;
const LOOK_AT_LEAST_EVERY_MS = 100;

/** How long to wait until the next look, by how long that has gone on. */
export function nextLookMs(waitedMs: number): number {
  return Math.min(Math.max(waitedMs / 10, LOOK_EVERY_MS), LOOK_AT_LEAST_EVERY_MS);
}

/** Asserts that something holds sooner or later that no event tells of; it is named when that takes too long. */
export async function until(
  what: string,
  holds: () => boolean | Promise<boolean>,
  withinMs = 60_000,
): Promise<void> {
  const beganMs = Date.now();
  const endMs = beganMs + withinMs;
  let isSo = await holds();
  while (!isSo && Date.now() < endMs) {
    await wait(nextLookMs(Date.now() - beganMs));
    isSo = await holds();
  }
  expect(isSo ? what : `${what}: not within ${withinMs} ms`).toBe(what);
}
