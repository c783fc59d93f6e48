/**
 * A clock that starts at the time of day and then advances steadily, so that a wait lasts as long as intended even if the
 * machine's clock is set meanwhile. `elapsed` counts milliseconds on a clock that nobody sets.
 */
export function steadyClock(now: () => number, elapsed: () => number): () => number {
  const offsetMs = now() - elapsed();
  return () => offsetMs + elapsed();
}
