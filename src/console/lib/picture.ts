import { barsOf, type Bar } from './bars.js';

/** The lanes as a picture: what is drawn where. Pure; a page draws it. */
export interface PictureLane {
  readonly name: string;
  readonly rows: readonly { readonly index: number; readonly relevance_score: number }[];
}

export interface PictureRow {
  readonly x: number;
  readonly y: number;
  readonly rank: number;
  readonly index: number;
  readonly score: number;
  readonly bar: Bar;
}

export interface PictureLine {
  readonly from: readonly [x: number, y: number];
  readonly to: readonly [x: number, y: number];
  readonly kind: 'up' | 'down' | 'same';
}

export interface Picture {
  readonly width: number;
  readonly height: number;
  readonly heads: readonly { readonly x: number; readonly name: string }[];
  readonly rows: readonly PictureRow[];
  readonly lines: readonly PictureLine[];
}

export const LANE_WIDTH = 320;
export const ROW_HEIGHT = 40;
export const HEAD_HEIGHT = 56;
const GAP = 56;
const MARGIN = 16;

export function pictureOf(lanes: readonly PictureLane[], most: number): Picture {
  const shown = lanes.map(({ name, rows }) => ({ name, rows: rows.slice(0, most) }));
  const xOf = (lane: number): number => MARGIN + lane * (LANE_WIDTH + GAP);
  const yOf = (rank: number): number => HEAD_HEIGHT + rank * ROW_HEIGHT;
  const longest = Math.max(0, ...shown.map(({ rows }) => rows.length));
  return {
    width: xOf(shown.length) - GAP + MARGIN,
    height: yOf(longest) + MARGIN,
    heads: shown.map(({ name }, lane) => ({ x: xOf(lane), name })),
    rows: shown.flatMap(({ rows }, lane) => {
      const { bars } = barsOf(
        rows.map((row) => row.relevance_score),
        'raw',
      );
      return rows.map(({ index, relevance_score: score }, rank) => ({
        ...{ x: xOf(lane), y: yOf(rank), rank: rank + 1, index, score },
        bar: bars[rank] ?? { from: 0, width: 0 },
      }));
    }),
    lines: shown.slice(1).flatMap(({ rows }, lane) => {
      const places = new Map(rows.map(({ index }, rank) => [index, rank]));
      const middle = (rank: number): number => yOf(rank) + ROW_HEIGHT / 2;
      return (shown[lane]?.rows ?? []).flatMap(({ index }, from): PictureLine[] => {
        const to = places.get(index);
        if (to === undefined) return [];
        return [
          {
            from: [xOf(lane) + LANE_WIDTH, middle(from)],
            to: [xOf(lane + 1), middle(to)],
            kind: to < from ? 'up' : to > from ? 'down' : 'same',
          },
        ];
      });
    }),
  };
}
