/** A time of ours on the wire: in whole seconds, null if there is none. */
export function secondsOf(ms: number): number;
export function secondsOf(ms: number | undefined): number | null;
export function secondsOf(ms: number | undefined): number | null {
  return ms === undefined ? null : Math.floor(ms / 1_000);
}

/** The first whole second that is not before a time: for what holds from then on. */
export function secondFrom(ms: number | undefined): number | null {
  return ms === undefined ? null : Math.ceil(ms / 1_000);
}
