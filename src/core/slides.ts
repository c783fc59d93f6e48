import type { Window } from './split.js';
import type { RankedRow } from './rerank.js';

/** How a model that ranks all documents together is shown a long list. */
export interface Slides {
  /** Documents of one window. */
  readonly size: number;
  /** How far the next window lies towards the beginning, less than the size: what a window found best comes with it. */
  readonly stride: number;
}

/** Windows that overlap, from the end of a list to its beginning. */
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

/** Puts the part of an order that a window showed into the order of its ranking. */
export function reorder(
  order: readonly number[],
  { from, to }: Window,
  rows: readonly RankedRow[],
): number[] {
  const shown = order.slice(from, to);
  const ranked = rows.flatMap(({ index }) => shown[index] ?? []);
  return [...order.slice(0, from), ...ranked, ...order.slice(to)];
}

/** An order as a ranking, whose scores tell the place alone: 1 for the first, and evenly less. */
export function orderRows(order: readonly number[], topN: number): RankedRow[] {
  return order.slice(0, topN).map((index, at) => ({ index, score: 1 - at / order.length }));
}
