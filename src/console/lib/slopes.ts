/** Lines between the ranks of documents in two neighbouring lanes. Pure. */
export interface Slope {
  readonly index: number;
  readonly kind: 'up' | 'down' | 'same';
  /** Places, from 0; what left the top ends just below it. */
  readonly from: number;
  readonly to: number;
  /** The rank of what left the top, from 1, if it has one; `null` for what was not ranked. */
  readonly gone: number | null | undefined;
  /** How far it moved, from 0 to 1. */
  readonly strength: number;
}

interface Range {
  readonly from: number;
  readonly to: number;
}

/** From this many places on a move is large. */
const FAR = 3;
/** From this many on, all lines are equally strong. */
const FARTHEST = 12;
const WEAKEST = 0.35;

/**
 * The lines of which an end is in the range: of others nobody sees whence they come or where they lead. Rankings are lists of
 * documents, best first; the first `most` are shown.
 */
export function slopesOf(
  left: readonly number[],
  right: readonly number[],
  most: number,
  range: Range,
  farOnly: boolean,
): Slope[] {
  const places = new Map(right.map((index, place) => [index, place]));
  const end = Math.min(most, right.length) - 0.5;
  const isSeen = (place: number): boolean => place >= range.from && place < range.to;
  return left.slice(0, most).flatMap((index, from): Slope[] => {
    const place = places.get(index);
    const isShown = place !== undefined && place < most;
    const to = isShown ? place : end;
    if (!isSeen(from) && !isSeen(to)) return [];
    const moved = Math.abs((place ?? end) - from);
    if (farOnly && moved < FAR) return [];
    return [
      {
        ...{ index, from, to, gone: isShown ? undefined : place === undefined ? null : place + 1 },
        kind: isShown ? kindOf(from, to) : 'down',
        strength: Math.min(1, WEAKEST + ((1 - WEAKEST) * moved) / FARTHEST),
      },
    ];
  });
}

function kindOf(from: number, to: number): Slope['kind'] {
  if (to === from) return 'same';
  return to < from ? 'up' : 'down';
}
