/** What a node asks the store for: a share of what all nodes together may use. */
export interface ShareAsk {
  /** How much all of them may use in one window. */
  readonly most: number;
  /** How much to take, if there is so much. */
  readonly want: number;
  /** How much is of use at all: less is left for others. */
  readonly least: number;
  readonly span: ShareSpan;
}

/** Windows that slide, each so long; or one that ends at a time. */
export type ShareSpan =
  | { readonly kind: 'sliding'; readonly ms: number }
  | { readonly kind: 'until'; readonly atMs: number };

/** What the store remembers of a name. */
export interface ShareState {
  /** The number of a sliding window, or when the window ends. */
  readonly window: number;
  readonly current: number;
  /** Of the sliding window before. */
  readonly previous: number;
}

export const NO_SHARES: ShareState = { window: 0, current: 0, previous: 0 };

const ROUNDING_MS = 0.001;

export type ShareAnswer =
  | {
      readonly kind: 'granted';
      readonly units: number;
      /** How long they may be used. */
      readonly forMs: number;
    }
  | { readonly kind: 'refused'; readonly retryAfterMs: number };

/**
 * Takes a share. In a sliding window, what was taken in the one before counts by the part of it that lies within the last
 * `ms`. `redis/lua/take_share.lua` is its twin, and the store contract keeps the two equal.
 */
export function takeShare(
  last: ShareState,
  { most, want, least, span }: ShareAsk,
  nowMs: number,
): { readonly next: ShareState; readonly answer: ShareAnswer } {
  const { window, current, previous, leftMs, weight } = inWindow(last, span, nowMs);
  const free = Math.floor(most - current - previous * weight);
  if (leftMs > 0 && free >= least) {
    const units = Math.min(want, free);
    return {
      next: { window, current: current + units, previous },
      answer: { kind: 'granted', units, forMs: leftMs },
    };
  }
  // While this window lasts, only the one before it loses weight.
  const overMs = most - least - current;
  const waitMs =
    span.kind === 'sliding' && overMs >= 0 && previous > 0
      ? span.ms * (weight - overMs / previous)
      : leftMs;
  return {
    next: last,
    // Rounding is not a wait.
    answer: {
      kind: 'refused',
      retryAfterMs: Math.max(1, Math.ceil(Math.min(waitMs, leftMs) - ROUNDING_MS)),
    },
  };
}

function inWindow(
  last: ShareState,
  span: ShareSpan,
  nowMs: number,
): ShareState & { readonly leftMs: number; readonly weight: number } {
  if (span.kind === 'until') {
    const isSame = nowMs < last.window;
    const window = isSame ? last.window : span.atMs;
    const current = isSame ? last.current : 0;
    return { window, current, previous: 0, leftMs: window - nowMs, weight: 0 };
  }
  const own = Math.floor(nowMs / span.ms);
  const window = Math.max(own, Math.min(last.window, own + 1));
  const current = last.window === window ? last.current : 0;
  const previous =
    last.window === window ? last.previous : last.window === window - 1 ? last.current : 0;
  const elapsedMs = Math.max(0, nowMs - window * span.ms);
  const leftMs = (window + 1) * span.ms - nowMs;
  return { window, current, previous, leftMs, weight: 1 - elapsedMs / span.ms };
}
