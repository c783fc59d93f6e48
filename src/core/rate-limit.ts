/** The window of every per-key request limit. */
export const RATE_WINDOW_MS = 60_000;

/** Requests admitted in the window numbered `window` and in the one before it. */
export interface RateWindow {
  /** `floor(nowMs / windowMs)` at the last request. */
  readonly window: number;
  readonly current: number;
  readonly previous: number;
}

/** The values of the `RateLimit-*` headers. */
export interface RateState {
  readonly limit: number;
  readonly remaining: number;
  /** Time until the window ends. */
  readonly resetMs: number;
}

export type RateDecision =
  | { readonly allowed: true; readonly next: RateWindow; readonly state: RateState }
  | { readonly allowed: false; readonly retryAfterMs: number; readonly state: RateState };

/**
 * A sliding window made of two counters: the previous window counts by the share of it that lies within the last `windowMs`.
 * `redis/lua/_rate.lua` is its twin, and the store contract keeps the two equal.
 */
export function takeRate(
  last: RateWindow,
  limit: number,
  nowMs: number,
  windowMs = RATE_WINDOW_MS,
): RateDecision {
  // Requests from several nodes do not arrive in the order of their times, and clocks differ slightly: one from just
  // before the window counts at its beginning.
  const own = Math.floor(nowMs / windowMs);
  const window = last.window === own + 1 ? last.window : own;
  const elapsed = Math.max(0, nowMs - window * windowMs);
  const current = last.window === window ? last.current : 0;
  const previous =
    last.window === window ? last.previous : last.window === window - 1 ? last.current : 0;
  const used = current + previous * (1 - elapsed / windowMs);
  const resetMs = windowMs - elapsed;
  if (used + 1 <= limit) {
    return {
      allowed: true,
      next: { window, current: current + 1, previous },
      state: { limit, remaining: Math.max(0, Math.floor(limit - used - 1)), resetMs },
    };
  }
  return {
    allowed: false,
    retryAfterMs: Math.max(1, Math.ceil(waitMs(current, previous, limit, elapsed, windowMs))),
    state: { limit, remaining: 0, resetMs },
  };
}

function waitMs(
  current: number,
  previous: number,
  limit: number,
  elapsed: number,
  windowMs: number,
): number {
  if (current + 1 <= limit) {
    return windowMs * (1 - (limit - 1 - current) / previous) - elapsed;
  }
  const rest = windowMs - elapsed;
  return rest + Math.max(0, windowMs * (1 - (limit - 1) / current));
}
