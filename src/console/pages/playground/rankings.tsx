import type { ComponentChildren, RefObject } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { duration, significant } from '../../lib/format.js';
import { highlighted } from '../../lib/highlight.js';
import { Count, ErrorNotice, Link, Money } from '../../parts/basic.js';
import { Menu, type MenuItem } from '../../parts/dialog.js';
import { wp } from '../../words.js';
import { attemptsIn, Calls } from './details.js';
import type { Lane, Ranked } from './use-runs.js';

export type Bars = 'raw' | 'share' | 'softmax';

const ROW_PX = 44;
const GAP_PX = 40;
const HEAD_PX = 61;
const FAR = 3;
/** Rows rendered beyond the window, so that none is missing during a scroll. */
const SPARE_ROWS = 20;
const TEXT_SHOWN = 300;

interface Range {
  readonly from: number;
  readonly to: number;
}

/** Which rows of a list are in or near the window: only these are rendered. */
function useRange(box: RefObject<HTMLElement | null>, count: number): Range {
  const [range, setRange] = useState<Range>({ from: 0, to: 3 * SPARE_ROWS });
  useEffect(() => {
    const look = (): void => {
      const top = (box.current?.getBoundingClientRect().top ?? 0) + HEAD_PX;
      const step = (rows: number): number => Math.round(rows / SPARE_ROWS) * SPARE_ROWS;
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
  readonly marks: ReadonlySet<string>;
  readonly onOpen: (index: number) => void;
}

/** Lanes side by side, with lines between the ranks of each document. */
export function Rankings(props: RankingsProps) {
  const { lanes, reference, bars, farOnly, most, marks, onOpen } = props;
  const [lit, setLit] = useState<number>();
  const box = useRef<HTMLDivElement>(null);
  const range = useRange(box, most);
  const replyOf = (lane: Lane | undefined): Ranked | undefined =>
    lane?.state === 'ranked' ? lane.reply : undefined;
  const compared = replyOf(lanes.find(({ key }) => key === reference)?.lane);
  return (
    <div class="lanes" ref={box}>
      {lanes.map(({ key, name, lane, items }, at) => {
        const [left, right] = [replyOf(lanes[at - 1]?.lane), replyOf(lane)];
        return [
          at === 0 ? null : (
            <div class="gap" key={`${key} gap`} aria-hidden="true">
              {left === undefined || right === undefined ? null : (
                <Slopes
                  left={left.results.slice(0, most).map(({ index }) => index)}
                  right={right.results.slice(0, most).map(({ index }) => index)}
                  farOnly={farOnly}
                  lit={lit}
                  range={range}
                />
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
                rows={lane.reply.results.slice(0, most)}
                documents={lane.documents}
                reference={key === reference ? undefined : compared}
                {...{ bars, marks, lit, range, onOpen }}
                onLight={setLit}
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
  readonly rows: Ranked['results'];
  readonly documents: readonly string[];
  readonly reference: Ranked | undefined;
  readonly bars: Bars;
  readonly marks: ReadonlySet<string>;
  readonly lit: number | undefined;
  readonly range: Range;
  readonly onLight: (index: number | undefined) => void;
  readonly onOpen: (index: number) => void;
}

function Rows(props: RowsProps) {
  const { rows, documents, reference, bars, marks, lit, range, onLight, onOpen } = props;
  const words = wp().playground;
  const scores = rows.map(({ relevance_score: score }) => score);
  const widths = widthsOf(scores, bars);
  const places = new Map(reference?.results.map(({ index }, rank) => [index, rank]));
  const [from, to] = [Math.min(range.from, rows.length), Math.min(range.to, rows.length)];
  return (
    <ol
      style={{
        paddingTop: `${from * ROW_PX}px`,
        paddingBottom: `${(rows.length - to) * ROW_PX}px`,
      }}
    >
      {rows.slice(from, to).map(({ index, relevance_score: score }, offset) => {
        const rank = from + offset;
        const before = places.get(index);
        const moved = before === undefined ? undefined : before - rank;
        const isTie = scores[rank - 1] === score || scores[rank + 1] === score;
        const text = (documents[index] ?? '').slice(0, TEXT_SHOWN);
        return (
          <li
            key={index}
            class={lit === undefined ? 'rank' : lit === index ? 'rank lit' : 'rank faded'}
            aria-setsize={rows.length}
            aria-posinset={rank + 1}
          >
            <button
              type="button"
              onClick={() => onOpen(index)}
              onMouseEnter={() => onLight(index)}
              onMouseLeave={() => onLight(undefined)}
              onFocus={() => onLight(index)}
              onBlur={() => onLight(undefined)}
            >
              <span class="place num">{rank + 1}</span>
              <span class="words">
                <span class="clip">
                  {highlighted(text, marks).map(({ text: piece, hit }, at) =>
                    hit ? <mark key={at}>{piece}</mark> : piece,
                  )}
                </span>
                <span class="meter-line" aria-hidden="true">
                  <i style={{ width: `${(widths[rank] ?? 0) * 100}%` }} />
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
      })}
    </ol>
  );
}

function changeOf(moved: number): string {
  if (moved === 0) return '=';
  return moved > 0 ? `▲${moved}` : `▼${-moved}`;
}

/** Bars begin at zero and end at the lane’s best: scores of two models cannot be compared. */
function widthsOf(scores: readonly number[], kind: Bars): number[] {
  const best = Math.max(...scores);
  if (kind === 'softmax') {
    const powers = scores.map((score) => Math.exp(score - best));
    const sum = powers.reduce((total, power) => total + power, 0);
    return powers.map((power) => power / sum);
  }
  const least = kind === 'share' ? Math.min(...scores, 0) : 0;
  const span = Math.max(...scores.map((score) => Math.abs(score - least)), Number.EPSILON);
  return scores.map((score) => Math.min(1, Math.abs(score - least) / span));
}

/** Lines between the ranks of each document in two neighbours; if the right one lacks it, the line leads to its end. */
function Slopes({
  left,
  right,
  farOnly,
  lit,
  range,
}: {
  readonly left: readonly number[];
  readonly right: readonly number[];
  readonly farOnly: boolean;
  readonly lit: number | undefined;
  readonly range: Range;
}) {
  const height = Math.max(left.length, right.length) * ROW_PX;
  const places = new Map(right.map((index, rank) => [index, rank]));
  const middle = (rank: number): number => rank * ROW_PX + ROW_PX / 2;
  const isSeen = (from: number, to: number): boolean =>
    Math.min(from, to) < range.to && Math.max(from, to) >= range.from;
  return (
    <svg viewBox={`0 0 ${GAP_PX} ${height}`} height={height} preserveAspectRatio="none">
      {left.map((index, from) => {
        const place = places.get(index);
        const to = place ?? right.length - 0.5;
        if (!isSeen(from, to) || (farOnly && Math.abs(to - from) < FAR)) return null;
        const kind = to < from ? 'up' : to > from ? 'down' : 'same';
        const gone = place === undefined ? ' gone' : '';
        const focus = lit === undefined ? '' : lit === index ? ' lit' : ' faded';
        return (
          <path
            key={index}
            class={`${kind}${gone}${focus}`}
            d={`M0 ${middle(from)} C ${GAP_PX / 2} ${middle(from)} ${GAP_PX / 2} ${middle(to)} ${GAP_PX} ${middle(to)}`}
          />
        );
      })}
    </svg>
  );
}
