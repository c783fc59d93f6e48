import { setTimeout as wait } from 'node:timers/promises';

const LOOK_EVERY_MS = 10;

/** Resolves once something holds that no event tells of; rejects, naming it, when that takes too long. */
export async function until(
  what: string,
  holds: () => boolean | Promise<boolean>,
  withinMs = 20_000,
): Promise<void> {
  const endMs = Date.now() + withinMs;
  while (!(await holds())) {
    if (Date.now() > endMs) throw new Error(`${what}: not within ${withinMs} ms`);
    await wait(LOOK_EVERY_MS);
  }
}
