import { useMemo } from 'preact/hooks';
import { slopesOf } from '../../lib/slopes.js';
import { ROW_PX, type Range } from './rows.js';
import type { Ranked } from './use-runs.js';

export const GAP_PX = 40;

/** Not by colour alone. */
const LINES = {
  up: { stroke: 'var(--ok)', 'stroke-width': 1.5 },
  down: { stroke: 'var(--bad)', 'stroke-width': 1.5, 'stroke-dasharray': '5 3' },
  same: { stroke: 'var(--border)', 'stroke-width': 1 },
} as const;

/** Lines between the ranks of each document in two neighbours; if it left the top, the line ends below, with its rank. */
export function Slopes({
  left,
  right,
  most,
  farOnly,
  range,
}: {
  readonly left: Ranked;
  readonly right: Ranked;
  readonly most: number;
  readonly farOnly: boolean;
  readonly range: Range;
}) {
  const orders = useMemo(
    () => [left, right].map(({ results }) => results.map(({ index }) => index)),
    [left, right],
  );
  const [ofLeft = [], ofRight = []] = orders;
  const rows = Math.min(most, Math.max(ofLeft.length, ofRight.length));
  const [first, last] = [Math.min(range.from, rows), Math.min(range.to, rows)];
  const middle = (place: number): number => (place - first) * ROW_PX + ROW_PX / 2;
  return (
    // As high as what is seen of it: a picture of a thousand rows is slow to paint.
    <svg
      style={{ display: 'block', marginTop: `${first * ROW_PX}px` }}
      width={GAP_PX}
      height={(last - first) * ROW_PX}
      fill="none"
    >
      {slopesOf(ofLeft, ofRight, most, range, farOnly).map(
        ({ index, kind, from, to, gone, strength }) => (
          <g key={index} data-at={index} {...LINES[kind]}>
            <path
              opacity={gone === undefined ? 1 : 0.5}
              stroke-opacity={kind === 'same' ? 1 : strength}
              d={`M0 ${middle(from)} C ${GAP_PX / 2} ${middle(from)} ${GAP_PX / 2} ${middle(to)} ${GAP_PX} ${middle(to)}`}
            />
            {gone == null ? null : (
              <text x={2} y={middle(from) - 4} fill="var(--text)" stroke="none" font-size={11}>
                ↓{gone}
              </text>
            )}
          </g>
        ),
      )}
    </svg>
  );
}
