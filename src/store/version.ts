import { randomInt } from 'node:crypto';

/** The distance between consecutive versions, which is the range of the random part. 2^25 changes fit below 2^53. */
export const VERSION_STEP = 2 ** 28;

/**
 * The version after another one: larger, and with a random part, so that no two writes ever make the same version. A store
 * that has lost its last writes counts on from an earlier version, and would otherwise reuse lost versions for other contents.
 */
export function versionAfter(version: number): number {
  return (Math.floor(version / VERSION_STEP) + 1) * VERSION_STEP + randomInt(VERSION_STEP);
}

/**
 * What a node's version counts as when the store has `current`: 0 if it is certain that the store did not make it or has lost
 * it.
 */
export function knownVersion(version: number, current: number): number {
  const isSame = version === current;
  const isEarlier = Math.floor(version / VERSION_STEP) < Math.floor(current / VERSION_STEP);
  return isSame || isEarlier ? Math.max(0, version) : 0;
}

/** The version of a token after a write: compared, never ordered. */
export function tokenVersion(): number {
  return 1 + randomInt(2 ** 48 - 2);
}
