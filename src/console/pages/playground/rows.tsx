import type { RefObject, VNode } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { barsOf, type Bars } from '../../lib/bars.js';
import { significant } from '../../lib/format.js';
import { highlighted, marksOf } from '../../lib/highlight.js';
import { wp } from '../../words.js';
import type { Ranked } from './use-runs.js';

export const ROW_PX = 44;
const HEAD_PX = 61;
/** Rows rendered beyond the window, so that none is missing during a scroll. */
const SPARE_ROWS = 20;
/** Rows that come and go together: few, so that a frame has the time for them. */
const STEP_ROWS = 4;
const TEXT_SHOWN = 300;

export interface Range {
  readonly from: number;
  readonly to: number;
}

/** Which rows of a list are in or near the window: only these are rendered. */
export function useRange(box: RefObject<HTMLElement | null>, count: number): Range {
  const [range, setRange] = useState<Range>({ from: 0, to: 3 * SPARE_ROWS });
  useEffect(() => {
    if (count <= SPARE_ROWS) {
      setRange({ from: 0, to: count });
      return undefined;
    }
    const look = (): void => {
      const top = (box.current?.getBoundingClientRect().top ?? 0) + HEAD_PX;
      const step = (rows: number): number => Math.round(rows / STEP_ROWS) * STEP_ROWS;
      const from = Math.max(0, step(-top / ROW_PX) - SPARE_ROWS);
      const to = step((innerHeight - top) / ROW_PX) + SPARE_ROWS;
      setRange((before) => (before.from === from && before.to === to ? before : { from, to }));
    };
    look();
    addEventListener('scroll', look, { passive: true, capture: true });
    addEventListener('resize', look);
    return () => {
      removeEventListener('scroll', look, { capture: true });
      removeEventListener('resize', look);
    };
  }, [count]);
  return range;
}

interface RowsProps {
  readonly reply: Ranked;
  readonly documents: readonly string[];
  /** Whose words are marked. */
  readonly query: string;
  readonly reference: Ranked | undefined;
  readonly bars: Bars;
  readonly most: number;
  readonly range: Range;
}

export function Rows(props: RowsProps) {
  const { reply, most, range } = props;
  const rows = useMemo(() => reply.results.slice(0, most), [reply, most]);
  const rowAt = useRow(rows, props);
  const [from, to] = [Math.min(range.from, rows.length), Math.min(range.to, rows.length)];
  return (
    <ol
      style={{
        paddingTop: `${from * ROW_PX}px`,
        paddingBottom: `${(rows.length - to) * ROW_PX}px`,
      }}
    >
      {rows.slice(from, to).map((_, offset) => rowAt(from + offset))}
    </ol>
  );
}

/** Gives the row of a place. What was made once is given again, so that nothing is compared where only the range has moved. */
function useRow(
  rows: Ranked['results'],
  { documents, query, reference, bars }: RowsProps,
): (rank: number) => VNode | undefined {
  const words = wp().playground;
  return useMemo(() => {
    const made = new Map<number, VNode>();
    const scores = rows.map(({ relevance_score: score }) => score);
    const drawn = barsOf(scores, bars);
    const places = new Map(reference?.results.map(({ index }, rank) => [index, rank]));
    const marks = marksOf(query);
    const make = (rank: number, index: number, score: number): VNode => {
      const before = places.get(index);
      const moved = before === undefined ? undefined : before - rank;
      const isTie = scores[rank - 1] === score || scores[rank + 1] === score;
      const { from, width } = drawn.bars[rank] ?? { from: 0, width: 0 };
      const text = (documents[index] ?? '').slice(0, TEXT_SHOWN);
      return (
        <li
          key={index}
          class="rank"
          data-at={index}
          aria-setsize={rows.length}
          aria-posinset={rank + 1}
        >
          <button type="button">
            <span class="place num">{rank + 1}</span>
            <span class="words">
              <span class="clip">
                {highlighted(text, marks).map(({ text: piece, hit }, at) =>
                  hit ? <mark key={at}>{piece}</mark> : piece,
                )}
              </span>
              <span class="meter-line" aria-hidden="true" style={zeroOf(drawn.zero)}>
                <i style={{ marginLeft: `${from * 100}%`, width: `${width * 100}%` }} />
              </span>
            </span>
            <span class="score num">
              {significant(score)}
              <span class="small muted">
                {moved === undefined ? '' : changeOf(moved)}
                {isTie ? ` ${words.tie}` : ''}
              </span>
            </span>
            {before === undefined ? null : (
              <span class="hidden">{words.inReference(before + 1, moved ?? 0)}</span>
            )}
          </button>
        </li>
      );
    };
    return (rank) => {
      const row = rows[rank];
      if (row === undefined) return undefined;
      const one = made.get(rank) ?? make(rank, row.index, row.relevance_score);
      made.set(rank, one);
      return one;
    };
  }, [rows, documents, query, reference, bars]);
}

/** Zero as a line across the bar’s track, where scores below it are drawn to its left. */
function zeroOf(zero: number | undefined): { readonly background?: string } {
  if (zero === undefined) return {};
  const at = `${zero * 100}%`;
  return {
    background: `linear-gradient(to right, var(--line) ${at}, var(--text) ${at} calc(${at} + 2px), var(--line) 0)`,
  };
}

function changeOf(moved: number): string {
  if (moved === 0) return '=';
  return moved > 0 ? `▲${moved}` : `▼${-moved}`;
}
