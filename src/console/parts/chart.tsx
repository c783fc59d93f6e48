import type { TargetedPointerEvent } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { ticks } from '../lib/days.js';
import { settings } from '../settings.js';
import { useAtom } from '../state.js';
import { wp } from '../words.js';
import { NumberTable } from './number-table.js';
import type { Drawing, Plot } from './plot.js';
import { style } from './values.js';

export interface ChartSeries {
  readonly name: string;
  readonly values: readonly (number | null)[];
  /** Number of the colour. */
  readonly color: 1 | 2 | 3 | 4;
}

interface ChartProps {
  readonly title: string;
  /** The start of each value's step, in unix seconds. */
  readonly times: readonly number[];
  /** When the last step ends; it is as long as the first one unless given, which a single one must be. */
  readonly end?: number;
  readonly series: readonly ChartSeries[];
  /** What the same steps of the period before come to. */
  readonly before?: readonly (number | null)[] | undefined;
  /** Values stacked as bars, or drawn as separate lines. */
  readonly kind: 'bars' | 'lines';
  readonly format: (value: number) => string;
  readonly timeOf: (seconds: number) => string;
  /** What happened at some moments, drawn as lines. */
  readonly marks?: readonly Mark[];
  /** Makes a range of steps selectable, by dragging over them or a click on one. */
  readonly onPick?: ((start: number, end: number) => void) | undefined;
}

export interface Mark {
  readonly at: number;
  readonly label: string;
}

const SHOWN_MARKS = 5;

function endOf({ times, end }: ChartProps): number {
  return end ?? (times.at(-1) ?? 0) + (times[1] ?? 0) - (times[0] ?? 0);
}

function marksIn(props: ChartProps): readonly Mark[] {
  const { times, marks = [] } = props;
  return marks.filter(({ at }) => at >= (times[0] ?? 0) && at < endOf(props));
}

/** Values over time with axes, the values at the pointer, and all of them as a table for readers who cannot see the chart. */
export function Chart(given: ChartProps) {
  // Under a pointer that drags nothing moves: with a minute's turn, all steps would.
  const [held, setHeld] = useState<ChartProps>();
  const shown = held ?? given;
  const { title, series, before } = shown;
  const [at, setAt] = useState<number>();
  const isEmpty = [...series.map(({ values }) => values), before ?? []].every((values) =>
    values.every((value) => (value ?? 0) === 0),
  );
  return (
    <figure class="card stack chart">
      <figcaption>
        <h2>{title}</h2>
      </figcaption>
      {isEmpty ? (
        <p class="muted chart-empty">{wp().chart.empty}</p>
      ) : (
        <Drawn
          of={shown}
          at={at}
          onAt={setAt}
          onHold={(isHeld) => setHeld(isHeld ? given : undefined)}
        />
      )}
      <Legend of={shown} at={at} />
      <Marks of={shown} />
      <details>
        <summary>{wp().chart.table}</summary>
        <AsTable of={shown} />
      </details>
    </figure>
  );
}

interface Of {
  readonly of: ChartProps;
}

/** The plot itself: steps light up under the pointer, and can be picked. */
function Drawn({
  of,
  at,
  onAt,
  onHold,
}: Of & {
  readonly at: number | undefined;
  readonly onAt: (index: number | undefined) => void;
  readonly onHold: (isHeld: boolean) => void;
}) {
  const { times, onPick } = of;
  const [from, setFrom] = useState<number>();
  const box = useRef<HTMLDivElement>(null);
  const plot = usePlot(box, of);
  const indexAt = ({ clientX }: TargetedPointerEvent<HTMLElement>): number => {
    const index = Math.floor((plot.current?.shareAt(clientX) ?? 0) * times.length);
    return Math.max(0, Math.min(times.length - 1, index));
  };
  const [first = 0, last = 0] = [from ?? at ?? 0, at ?? 0].sort((a, b) => a - b);
  useLayoutEffect(() => plot.current?.light(at === undefined ? undefined : [first, last]));
  const drop = (): void => {
    setFrom(undefined);
    onHold(false);
  };
  return (
    <div
      class={onPick === undefined ? 'plot' : 'plot pickable'}
      ref={box}
      aria-hidden="true"
      onPointerMove={(event) => onAt(indexAt(event))}
      onPointerDown={(event) => {
        if (onPick === undefined || event.button !== 0) return;
        event.preventDefault();
        event.currentTarget.setPointerCapture(event.pointerId);
        setFrom(indexAt(event));
        onHold(true);
      }}
      onPointerUp={(event) => {
        if (from === undefined) return;
        drop();
        const [start = 0, end = 0] = [from, indexAt(event)].sort((a, b) => a - b);
        // Of a single step nothing can be picked.
        if (times.length > 1) onPick?.(times[start] ?? 0, times[end + 1] ?? endOf(of));
      }}
      onPointerCancel={drop}
      onPointerLeave={() => onAt(undefined)}
    />
  );
}

/** Draws what is shown, and again when it changes, the theme does or there is more room. */
function usePlot(box: { readonly current: HTMLDivElement | null }, of: ChartProps) {
  const plot = useRef<Plot | undefined>(undefined);
  const [part, setPart] = useState<typeof import('./plot.js')>();
  const { theme } = useAtom(settings);
  const isDark = useDark();
  useEffect(() => {
    import('./plot.js').then(setPart, (error: unknown) => {
      console.info('the chart cannot be loaded:', error);
    });
  }, []);
  useLayoutEffect(() => {
    const { current } = box;
    if (part === undefined || current === null) return undefined;
    const drawn = part.plotIn(current, drawingOf(current, of));
    plot.current = drawn;
    const observer = new ResizeObserver(() => drawn.resize());
    observer.observe(current);
    return () => {
      observer.disconnect();
      drawn.remove();
    };
  }, [part, of, theme, isDark]);
  return plot;
}

function useDark(): boolean {
  const [query] = useState(() => matchMedia('(prefers-color-scheme: dark)'));
  const [isDark, setDark] = useState(query.matches);
  useEffect(() => {
    const hear = (): void => setDark(query.matches);
    query.addEventListener('change', hear);
    return () => query.removeEventListener('change', hear);
  }, []);
  return isDark;
}

/** What is drawn, in the colours of the style sheet as the browser has computed them. */
function drawingOf(box: HTMLElement, of: ChartProps): Drawing {
  const { times, kind, series, before, format } = of;
  const computed = (name: string): string => {
    box.style.color = `var(--${name})`;
    return getComputedStyle(box).color;
  };
  const drawing: Drawing = {
    ...{ times, end: endOf(of), kind, format },
    // Its days may be one more or less.
    before: before && times.map((_, index) => before[index] ?? null),
    series: series.map(({ values, color }) => ({ values, color: computed(`series-${color}`) })),
    marks: marksIn(of).map(({ at }) => at),
    colors: { before: computed('border'), grid: computed('line'), text: computed('muted') },
    font: `12px ${getComputedStyle(box).fontFamily}`,
    ticksOf: (moments) => ticks(moments, style()),
    utc: style().utc,
  };
  box.style.color = '';
  return drawing;
}

/** What the colours mean, with the values at the pointer. */
function Legend({
  of: { times, series, before, format, timeOf },
  at,
}: Of & { at: number | undefined }) {
  const valueOf = (values: readonly (number | null)[]): string => {
    const value = at === undefined ? null : values[at];
    return value == null ? '' : ` ${format(value)}`;
  };
  return (
    <div class="row small">
      {series.map(({ name, values, color }) => (
        <span key={name} class="nowrap">
          <Key color={`series-${color}`} /> {name}
          {valueOf(values)}
        </span>
      ))}
      {before && (
        <span class="nowrap muted">
          <Key color="border" /> {wp().chart.before}
          {valueOf(before)}
        </span>
      )}
      <span class="grow" />
      <span class="muted">
        {at === undefined
          ? `${timeOf(times[0] ?? 0)} – ${timeOf(times.at(-1) ?? 0)}`
          : timeOf(times[at] ?? 0)}
      </span>
    </div>
  );
}

function Key({ color }: { readonly color: string }) {
  return <i class="key" style={{ background: `var(--${color})` }} aria-hidden="true" />;
}

function Marks({ of }: Of) {
  const marks = marksIn(of);
  if (marks.length === 0) return null;
  return (
    <ul class="stack tight small muted">
      {marks.slice(0, SHOWN_MARKS).map(({ at, label }) => (
        <li key={at}>
          ┆ {of.timeOf(at)} {label}
        </li>
      ))}
    </ul>
  );
}

function AsTable({ of: { title, times, series, before, format, timeOf } }: Of) {
  const columns = [...series, ...(before ? [{ name: wp().chart.before, values: before }] : [])];
  return (
    <NumberTable
      label={title}
      names={[wp().requests.time]}
      heads={columns.map(({ name }) => name)}
      short
    >
      <tbody>
        {times.map((time, index) => (
          <tr key={time}>
            <td>{timeOf(time)}</td>
            {columns.map(({ name, values }) => (
              <td key={name} class="num">
                {values[index] == null ? '–' : format(values[index])}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </NumberTable>
  );
}
