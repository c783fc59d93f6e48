/** At first; what takes long is looked at less and less often, up to the other. */
const LOOK_EVERY_MS = 10;
const LOOK_AT_LEAST_EVERY_MS = 100;

/** How long to wait until the next look, by how long that has gone on. */
export function nextLookMs(waitedMs: number): number {
  return Math.min(Math.max(waitedMs / 10, LOOK_EVERY_MS), LOOK_AT_LEAST_EVERY_MS);
}
