/**
 * A clock that begins at the time of day and goes on whatever that does: what waits for one of its moments waits as long
 * as was meant, also where the machine's clock is set meanwhile. `elapsed` counts milliseconds by a clock that nobody sets.
 */
export function steadyClock(now: () => number, elapsed: () => number): () => number {
  const offsetMs = now() - elapsed();
  return () => offsetMs + elapsed();
}
