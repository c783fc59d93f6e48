/** Until when each thing is muted, in milliseconds, by its key. */
export type Muted = Readonly<Record<string, number>>;

/** For how long somebody need not be told again. */
export const MUTE_MS = 24 * 3_600_000;

/** What is still muted; things that are over are forgotten. Pure. */
export function stillMuted(muted: Muted, nowMs: number): Muted {
  return Object.fromEntries(Object.entries(muted).filter(([, until]) => until > nowMs));
}

/** Reads what a browser has kept, which may be of another release. Pure. */
export function mutedOf(kept: unknown): Muted {
  if (typeof kept !== 'object' || kept === null) return {};
  const entries = Object.entries(kept as Readonly<Record<string, unknown>>);
  return Object.fromEntries(
    entries.flatMap(([key, until]) => (typeof until === 'number' ? [[key, until]] : [])),
  );
}
