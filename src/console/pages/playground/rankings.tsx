import type { ComponentChildren, RefObject } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Bars } from '../../lib/bars.js';
import { duration } from '../../lib/format.js';
import { Link } from '../../parts/buttons.js';
import { ErrorNotice } from '../../parts/notices.js';
import { Count, Money } from '../../parts/values.js';
import { Menu, type MenuItem } from '../../parts/menu.js';
import { wp } from '../../words.js';
import { attemptsIn, Calls } from './details.js';
import { Rows, useRange } from './rows.js';
import { GAP_PX, Slopes } from './slopes.js';
import type { Lane, Ranked } from './use-runs.js';

/** Its lines begin below the heads of the lanes. */
const GAP = { flex: 'none', width: `${GAP_PX}px`, paddingTop: 'calc(3.75rem + 1px)' };
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

export interface LanesShown {
  readonly lanes: readonly ShownLane[];
  /** The key of the lane that the others are compared with. */
  readonly reference: string | undefined;
  /** The most rows per lane. */
  readonly most: number;
  readonly onOpen: (index: number) => void;
}

interface RankingsProps extends LanesShown {
  readonly bars: Bars;
  readonly farOnly: boolean;
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
