/** The window of every per-key request limit. */
export const RATE_WINDOW_MS = 60_000;

/** Requests that were let through in the window numbered `window` and in the one before it. */
export interface RateWindow {
  /** `floor(nowMs / RATE_WINDOW_MS)` at the last request. */
  readonly window: number;
  readonly current: number;
  readonly previous: number;
}

/** What `RateLimit-*` headers say. */
export interface RateState {
  readonly limit: number;
  readonly remaining: number;
  /** Until the window ends. */
  readonly resetMs: number;
}

export type RateDecision =
  | { readonly allowed: true; readonly next: RateWindow; readonly state: RateState }
  | { readonly allowed: false; readonly retryAfterMs: number; readonly state: RateState };

/**
 * A sliding window from two counters: the previous window counts by the share of it that still lies within the last
 * minute. `redis/lua/admit.lua` is its twin, and the store contract holds the two equal.
 */
export function takeRate(last: RateWindow, limit: number, nowMs: number): RateDecision {
  const window = Math.floor(nowMs / RATE_WINDOW_MS);
  const elapsed = nowMs - window * RATE_WINDOW_MS;
  const current = last.window === window ? last.current : 0;
  const previous =
    last.window === window ? last.previous : last.window === window - 1 ? last.current : 0;
  const used = current + previous * (1 - elapsed / RATE_WINDOW_MS);
  const resetMs = RATE_WINDOW_MS - elapsed;
  if (used + 1 <= limit) {
    return {
      allowed: true,
      next: { window, current: current + 1, previous },
      state: { limit, remaining: Math.max(0, Math.floor(limit - used - 1)), resetMs },
    };
  }
  return {
    allowed: false,
    retryAfterMs: Math.max(1, Math.ceil(waitMs(current, previous, limit, elapsed))),
    state: { limit, remaining: 0, resetMs },
  };
}

function waitMs(current: number, previous: number, limit: number, elapsed: number): number {
  if (current + 1 <= limit) {
    return RATE_WINDOW_MS * (1 - (limit - 1 - current) / previous) - elapsed;
  }
  const rest = RATE_WINDOW_MS - elapsed;
  return rest + Math.max(0, RATE_WINDOW_MS * (1 - (limit - 1) / current));
}
