import type { TargetedPointerEvent } from 'preact';
import { useState } from 'preact/hooks';
import { wp } from '../words.js';

export interface ChartSeries {
  readonly name: string;
  readonly values: readonly (number | null)[];
  /** Number of the colour. */
  readonly color: 1 | 2 | 3 | 4 | 5 | 6;
}

interface ChartProps {
  readonly title: string;
  /** The start of each value's step, in unix seconds. */
  readonly times: readonly number[];
  /** When the last step ends; it is as long as the first one unless given, which a single one must be. */
  readonly end?: number;
  readonly series: readonly ChartSeries[];
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

const WIDTH = 600;
const HEIGHT = 120;
const SHOWN_MARKS = 5;

/** Values over time, with the numbers under the pointer, and as a table for readers who cannot see the chart. */
export function Chart(given: ChartProps) {
  // Under a pointer that drags nothing moves: with a minute's turn, all steps would.
  const [held, setHeld] = useState<ChartProps>();
  const { title, times, series, kind, format, timeOf, marks = [], onPick } = held ?? given;
  const [at, setAt] = useState<number>();
  const [from, setFrom] = useState<number>();
  const top = Math.max(
    Number.MIN_VALUE,
    ...times.map((_, index) => {
      const values = series.map(({ values: all }) => all[index] ?? 0);
      return kind === 'bars' ? values.reduce((sum, value) => sum + value, 0) : Math.max(...values);
    }),
  );
  const step = WIDTH / Math.max(1, times.length);
  const end = (held ?? given).end ?? (times.at(-1) ?? 0) + (times[1] ?? 0) - (times[0] ?? 0);
  const isEmpty = top === Number.MIN_VALUE;
  const indexAt = (event: TargetedPointerEvent<SVGSVGElement>): number => {
    const { left, width } = event.currentTarget.getBoundingClientRect();
    const index = Math.floor(((event.clientX - left) / width) * times.length);
    return Math.max(0, Math.min(times.length - 1, index));
  };
  const drop = (): void => {
    setFrom(undefined);
    setHeld(undefined);
  };
  const shownMarks = marks.filter((mark) => mark.at >= (times[0] ?? 0) && mark.at < end);
  const shown = at === undefined ? undefined : times[at];
  return (
    <figure class="card stack chart">
      <figcaption class="row">
        <h2>{title}</h2>
        <span class="grow" />
        <span class="small muted">{isEmpty ? '' : wp().chart.top(format(top))}</span>
      </figcaption>
      {isEmpty ? (
        <p class="muted chart-empty">{wp().chart.empty}</p>
      ) : (
        <svg
          viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
          preserveAspectRatio="none"
          aria-hidden="true"
          class={onPick === undefined ? undefined : 'pickable'}
          onPointerMove={(event) => setAt(indexAt(event))}
          onPointerDown={(event) => {
            if (onPick === undefined || event.button !== 0) return;
            event.preventDefault();
            event.currentTarget.setPointerCapture(event.pointerId);
            setFrom(indexAt(event));
            setHeld(given);
          }}
          onPointerUp={(event) => {
            if (from === undefined) return;
            drop();
            const [first = 0, last = 0] = [from, indexAt(event)].sort((a, b) => a - b);
            // Of a single step nothing can be picked.
            if (times.length > 1) onPick?.(times[first] ?? 0, times[last + 1] ?? end);
          }}
          onPointerCancel={drop}
          onPointerLeave={() => setAt(undefined)}
        >
          {at === undefined ? null : (
            <rect
              class="cursor"
              x={Math.min(at, from ?? at) * step}
              y={0}
              width={(Math.abs(at - (from ?? at)) + 1) * step}
              height={HEIGHT}
            />
          )}
          {kind === 'bars' ? (
            <Bars times={times} series={series} top={top} step={step} />
          ) : (
            series.map(({ name, values, color }) => (
              <path key={name} class={`line s${color}`} d={lineOf(values, top, step)} />
            ))
          )}
          {shownMarks.map((mark) => {
            const x = ((mark.at - (times[0] ?? 0)) / (end - (times[0] ?? 0))) * WIDTH;
            return <path key={mark.at} class="line s3 s6" d={`M${x.toFixed(1)} 0V${HEIGHT}`} />;
          })}
        </svg>
      )}
      <div class="row small">
        {series.map(({ name, values, color }) => (
          <span key={name} class="nowrap">
            <i class={`key s${color}`} aria-hidden="true" /> {name}
            {at === undefined || values[at] == null ? '' : ` ${format(values[at])}`}
          </span>
        ))}
        <span class="grow" />
        <span class="muted">
          {shown === undefined
            ? `${timeOf(times[0] ?? 0)} – ${timeOf(times.at(-1) ?? 0)}`
            : timeOf(shown)}
        </span>
      </div>
      {shownMarks.length === 0 ? null : (
        <ul class="stack tight small muted">
          {shownMarks.slice(0, SHOWN_MARKS).map((mark) => (
            <li key={mark.at}>
              ┆ {timeOf(mark.at)} {mark.label}
            </li>
          ))}
        </ul>
      )}
      <details>
        <summary>{wp().chart.table}</summary>
        <div class="tablebox short" role="region" aria-label={title} tabIndex={0}>
          <table>
            <thead>
              <tr>
                <th scope="col">{wp().chart.time}</th>
                {series.map(({ name }) => (
                  <th key={name} scope="col" class="num">
                    {name}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {times.map((time, index) => (
                <tr key={time}>
                  <td>{timeOf(time)}</td>
                  {series.map(({ name, values }) => (
                    <td key={name} class="num">
                      {values[index] == null ? '–' : format(values[index])}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </details>
    </figure>
  );
}

function Bars({
  times,
  series,
  top,
  step,
}: Pick<ChartProps, 'times' | 'series'> & { readonly top: number; readonly step: number }) {
  return (
    <>
      {times.map((time, index) => {
        let y = HEIGHT;
        return series.map(({ name, values, color }) => {
          const height = ((values[index] ?? 0) / top) * HEIGHT;
          y -= height;
          return height === 0 ? null : (
            <rect
              key={`${time} ${name}`}
              class={`bar-of s${color}`}
              x={index * step + step * 0.08}
              y={y}
              width={step * 0.84}
              height={height}
            />
          );
        });
      })}
    </>
  );
}

/** A line with gaps where values are missing. */
function lineOf(values: readonly (number | null)[], top: number, step: number): string {
  let isBroken = true;
  return values
    .map((value, index) => {
      if (value === null) {
        isBroken = true;
        return '';
      }
      const point = `${(index * step + step / 2).toFixed(1)} ${(HEIGHT - (value / top) * (HEIGHT - 2)).toFixed(1)}`;
      const command = isBroken ? `M${point}h0.1` : `L${point}`;
      isBroken = false;
      return command;
    })
    .join('');
}

/** The start of each step of a series. */
export function timesOf({
  start_timestamp: start,
  step_s: step,
  steps,
}: {
  readonly start_timestamp: number;
  readonly step_s: number;
  readonly steps: number;
}): number[] {
  return Array.from({ length: steps }, (_, index) => start + index * step);
}
