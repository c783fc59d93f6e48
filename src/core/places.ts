/** Places that a node asks the store for: each is one call in flight, and all nodes share them. */
export interface PlacesAsk {
  readonly node: string;
  /** Calls in flight at once, on all nodes together. */
  readonly most: number;
  /** How many it has calls in. */
  readonly used: number;
  /** How many it would have, the used ones included. */
  readonly want: number;
  /** How long what it holds counts, should it not be heard of again. */
  readonly forMs: number;
}

/** What the store remembers of a node. */
export interface PlaceHolder {
  readonly node: string;
  readonly held: number;
  readonly untilMs: number;
  /** Until when others make room for it, and since when they have: it wanted more than there were. */
  readonly shortUntilMs: number;
  readonly shortSinceMs: number;
}

export interface PlacesAnswer {
  /** How many the node may have calls in. It may have more in use: these end, and nothing new begins in their place. */
  readonly may: number;
  /** Whether another node waits for places: then what is free again is given back at once. */
  readonly isContended: boolean;
}

/** A node that does not ask again no longer needs them. */
export const SHORT_MS = 1_000;

/**
 * Gives a node its places, takes back what it no longer wants, and forgets nodes that are gone. While somebody has too few,
 * nobody has more than an equal part; where there are fewer places than nodes, whoever has waited longest is next.
 * `redis/lua/ask_places.lua` is its twin, and the store contract keeps the two equal.
 */
export function askPlaces(
  holders: readonly PlaceHolder[],
  { node, most, used, want, forMs }: PlacesAsk,
  nowMs: number,
): { readonly next: readonly PlaceHolder[]; readonly answer: PlacesAnswer } {
  const others = holders.filter((one) => one.node !== node && isOfUse(one, nowMs));
  const own = holders.find((one) => one.node === node);
  const taken = others.reduce((sum, { held }) => sum + held, 0);
  const waiting = others.filter(({ shortUntilMs }) => shortUntilMs > nowMs);
  const isShort = own !== undefined && own.shortUntilMs > nowMs;
  // A node with a place has not been waiting.
  const sinceMs = isShort && own.held === 0 ? own.shortSinceMs : nowMs;
  const isNext = waiting.every(
    (other) =>
      sinceMs < other.shortSinceMs || (sinceMs === other.shortSinceMs && node < other.node),
  );
  const part = Math.max(Math.floor(most / (others.length + 1)), isNext ? 1 : 0);
  const isContended = waiting.length > 0;
  const may = Math.max(0, Math.min(want, most - taken, isContended ? part : most));
  const next: PlaceHolder = {
    ...{ node, held: Math.max(may, used), untilMs: nowMs + forMs },
    ...(want > may
      ? { shortUntilMs: nowMs + SHORT_MS, shortSinceMs: sinceMs }
      : // A node that asks for nothing still has nothing.
        want === 0 && isShort
        ? { shortUntilMs: own.shortUntilMs, shortSinceMs: sinceMs }
        : { shortUntilMs: 0, shortSinceMs: 0 }),
  };
  return {
    next: isOfUse(next, nowMs) ? [...others, next] : others,
    answer: { may, isContended },
  };
}

function isOfUse({ held, untilMs, shortUntilMs }: PlaceHolder, nowMs: number): boolean {
  return (held > 0 && untilMs > nowMs) || shortUntilMs > nowMs;
}
