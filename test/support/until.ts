import { setTimeout as wait } from 'node:timers/promises';
import { expect } from '@jest/globals';
import { nextLookMs } from './next-look.js';

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
