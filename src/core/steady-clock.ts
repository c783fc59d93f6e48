/**
 * A clock that starts at the time of day and then advances steadily, so that a wait lasts as long as intended even if the
 * machine's clock is set meanwhile. `elapsed` counts milliseconds on a clock that cannot be set.
 */
export function steadyClock(now: () => number, elapsed: () => number): () => number {
  const offsetMs = now() - elapsed();
  return () => offsetMs + elapsed();
}

/** Timers count whole milliseconds of their own clock: they end up to one early by others. */
const EARLY_MS = 1;

/** Resolves when so many milliseconds have passed by each clock, never before. */
export function passed(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, Math.ceil(ms) + EARLY_MS));
}
