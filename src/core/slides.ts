import type { Window } from './split.js';
import type { RankedRow } from './rerank.js';

/** How a model that ranks all documents together is shown a long list. */
export interface Slides {
  /** Documents per window. */
  readonly size: number;
  /**
   * How far the next window is shifted towards the beginning. It is smaller than a window, so that the best of each window
   * carry over.
   */
  readonly stride: number;
}

/** Overlapping windows, from the end of a list to its beginning. */
export function slidesOf(count: number, { size, stride }: Slides): Window[] {
  const windows: Window[] = [];
  let from = Math.max(0, count - size);
  windows.push({ from, to: count });
  while (from > 0) {
    const to = Math.max(size, from + size - stride);
    from = Math.max(0, to - size);
    windows.push({ from, to });
  }
  return windows;
}

/** Reorders the part of an order that a window showed by the window's ranking. */
export function reorder(
  order: readonly number[],
  { from, to }: Window,
  rows: readonly RankedRow[],
): number[] {
  const shown = order.slice(from, to);
  const ranked = rows.flatMap(({ index }) => shown[index] ?? []);
  return [...order.slice(0, from), ...ranked, ...order.slice(to)];
}

/** An order as a ranking whose scores express only the place: 1 for the first, evenly less for the others. */
export function orderRows(order: readonly number[], topN: number): RankedRow[] {
  return order.slice(0, topN).map((index, at) => ({ index, score: 1 - at / order.length }));
}
