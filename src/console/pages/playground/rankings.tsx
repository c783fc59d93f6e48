import type { ComponentChildren, RefObject, VNode } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { barsOf, type Bars } from '../../lib/bars.js';
import { duration, significant } from '../../lib/format.js';
import { highlighted, marksOf } from '../../lib/highlight.js';
import { slopesOf } from '../../lib/slopes.js';
import { Link } from '../../parts/buttons.js';
import { ErrorNotice } from '../../parts/notices.js';
import { Count, Money } from '../../parts/values.js';
import { Menu, type MenuItem } from '../../parts/dialog.js';
import { wp } from '../../words.js';
import { attemptsIn, Calls } from './details.js';
import type { Lane, Ranked } from './use-runs.js';

const ROW_PX = 44;
const GAP_PX = 40;
const HEAD_PX = 61;
/** Its lines begin below the heads of the lanes. */
const GAP = { flex: 'none', width: `${GAP_PX}px`, paddingTop: 'calc(3.75rem + 1px)' };
/** Rows rendered beyond the window, so that none is missing during a scroll. */
const SPARE_ROWS = 20;
/** Rows that come and go together: few, so that a frame has the time for them. */
const STEP_ROWS = 4;
const TEXT_SHOWN = 300;

interface Range {
  readonly from: number;
  readonly to: number;
}

/** Which rows of a list are in or near the window: only these are rendered. */
function useRange(box: RefObject<HTMLElement | null>, count: number): Range {
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

/**
 * Lights one document in all lanes, with its lines. Not a state: of hundreds of rows and lines a handful changes, under a
 * pointer that moves.
 */
function useLight(box: RefObject<HTMLElement | null>): (index: string | undefined) => void {
  const lit = useRef<string | undefined>(undefined);
  const paint = (): void => {
    const { current } = box;
    for (const before of current?.querySelectorAll('.lit') ?? []) before.classList.remove('lit');
    current?.classList.toggle('lighting', lit.current !== undefined);
    if (lit.current === undefined) return;
    for (const one of current?.querySelectorAll(`[data-at="${lit.current}"]`) ?? [])
      one.classList.add('lit');
  };
  // Rows and lines that have come since are lit as well.
  useLayoutEffect(paint);
  return (index) => {
    if (index === lit.current) return;
    lit.current = index;
    paint();
  };
}

/** The document whose row an event is in. */
function indexIn({ target }: Event): string | undefined {
  return target instanceof Element
    ? target.closest<HTMLElement>('li[data-at]')?.dataset.at
    : undefined;
}

export interface ShownLane {
  readonly key: string;
  readonly name: string;
  readonly lane: Lane;
  readonly items: readonly (MenuItem | undefined)[];
}

interface RankingsProps {
  readonly lanes: readonly ShownLane[];
  /** The key of the lane that the others are compared with. */
  readonly reference: string | undefined;
  readonly bars: Bars;
  readonly farOnly: boolean;
  /** The most rows per lane. */
  readonly most: number;
  readonly onOpen: (index: number) => void;
}

/** Lanes side by side, with lines between the ranks of each document. */
export function Rankings({ lanes, reference, bars, farOnly, most, onOpen }: RankingsProps) {
  const box = useRef<HTMLDivElement>(null);
  const light = useLight(box);
  const range = useRange(box, most);
  const replyOf = (lane: Lane | undefined): Ranked | undefined =>
    lane?.state === 'ranked' ? lane.reply : undefined;
  const compared = replyOf(lanes.find(({ key }) => key === reference)?.lane);
  return (
    <div
      class="lanes"
      ref={box}
      onMouseOver={(event) => light(indexIn(event))}
      onMouseLeave={() => light(undefined)}
      onFocusIn={(event) => light(indexIn(event))}
      onFocusOut={() => light(undefined)}
      onClick={(event) => {
        const index = indexIn(event);
        if (index !== undefined) onOpen(Number(index));
      }}
    >
      {lanes.map(({ key, name, lane, items }, at) => {
        const [left, right] = [replyOf(lanes[at - 1]?.lane), replyOf(lane)];
        return [
          at === 0 ? null : (
            <div class="gap" style={GAP} key={`${key} gap`} aria-hidden="true">
              {left === undefined || right === undefined ? null : (
                <Slopes {...{ left, right, most, farOnly, range }} />
              )}
            </div>
          ),
          <section class="lane" key={key} aria-label={name}>
            <header>
              <div class="row tight">
                <h2 class="clip grow" title={name}>
                  {name}
                </h2>
                {key === reference && lanes.length > 1 ? (
                  <span class="small muted">{wp().playground.reference}</span>
                ) : null}
                <Warnings lane={lane} />
                <Menu label={wp().playground.laneMenu(name)} items={items}>
                  ⋯
                </Menu>
              </div>
              <p class="muted small clip">
                <LaneState lane={lane} />
              </p>
            </header>
            {lane.state === 'failed' ? <Failed error={lane.error} /> : null}
            {lane.state === 'ranked' ? (
              <Rows
                reply={lane.reply}
                documents={lane.documents}
                query={lane.query}
                reference={key === reference ? undefined : compared}
                {...{ bars, most, range }}
              />
            ) : null}
            {lane.state === 'ranked' && lane.error !== undefined ? (
              <Failed error={lane.error}>
                {wp().playground.stoppedAfter(lane.replies.length)}
              </Failed>
            ) : null}
          </section>,
        ];
      })}
    </div>
  );
}

/** That the gateway warns of something, with what: the notices above the lanes say it in full. */
export function Warnings({ lane }: { readonly lane: Lane }) {
  const warnings = lane.state === 'ranked' ? lane.reply.warnings : [];
  if (warnings.length === 0) return null;
  const label = wp().playground.warned(warnings.join(' '));
  return (
    <span class="warn" role="img" aria-label={label} title={label}>
      ▲
    </span>
  );
}

function Failed({
  error,
  children,
}: {
  readonly error: Parameters<typeof ErrorNotice>[0]['error'];
  readonly children?: ComponentChildren;
}) {
  return (
    <div class="stack tight">
      {children === undefined ? null : <p class="small">{children}</p>}
      <ErrorNotice error={error} />
      {error === undefined || attemptsIn(error).length === 0 ? null : (
        <Calls attempts={attemptsIn(error)} />
      )}
      {error?.requestId === undefined ? null : (
        <Link class="small" to={`requests/${encodeURIComponent(error.requestId)}`}>
          {error.requestId}
        </Link>
      )}
    </div>
  );
}

export function LaneState({ lane }: { readonly lane: Lane }) {
  const words = wp().playground;
  if (lane.state === 'running') return <Clock sinceMs={lane.sinceMs} />;
  if (lane.state === 'failed') return <span class="bad">{lane.error.code}</span>;
  if (lane.state === 'idle') return <>{words.notRun}</>;
  const { reply, replies, left } = lane;
  if (left > 0) return <>{words.runOf(replies.length + 1, replies.length + left)}</>;
  return (
    <>
      {duration(reply.timing.total_ms)} · <Money units={reply.quota} /> ·{' '}
      <Count value={reply.usage.input_tokens} /> {words.tokens}
      {reply.usage.estimated ? ` (${words.estimated})` : ''} ·{' '}
      {reply.request_id === '' ? (
        words.fromLink
      ) : (
        <Link to={`requests/${encodeURIComponent(reply.request_id)}`}>
          {reply.channel?.name ?? reply.model}
        </Link>
      )}
    </>
  );
}

const TICK_MS = 100;

/** How long a lane has been running. */
function Clock({ sinceMs }: { readonly sinceMs: number }) {
  const [nowMs, setNowMs] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNowMs(Date.now()), TICK_MS);
    return () => clearInterval(timer);
  }, []);
  return <>{wp().playground.running(`${((nowMs - sinceMs) / 1000).toFixed(1)} s`)}</>;
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

function Rows(props: RowsProps) {
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

/** Not by colour alone. */
const LINES = {
  up: { stroke: 'var(--ok)', 'stroke-width': 1.5 },
  down: { stroke: 'var(--bad)', 'stroke-width': 1.5, 'stroke-dasharray': '5 3' },
  same: { stroke: 'var(--border)', 'stroke-width': 1 },
} as const;

/** Lines between the ranks of each document in two neighbours; if it left the top, the line ends below, with its rank. */
function Slopes({
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
