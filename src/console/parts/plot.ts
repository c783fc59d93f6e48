import uPlot from 'uplot';

/** What a plot draws; colours are those that the page has computed. */
export interface Drawing {
  /** The start of each step, and the end of the last one, in unix seconds. */
  readonly times: readonly number[];
  readonly end: number;
  readonly kind: 'bars' | 'lines';
  readonly series: readonly {
    readonly color: string;
    readonly values: readonly (number | null)[];
  }[];
  /** The same steps of the period before. */
  readonly before: readonly (number | null)[] | undefined;
  readonly marks: readonly number[];
  readonly colors: { readonly text: string; readonly grid: string; readonly before: string };
  readonly font: string;
  readonly format: (value: number) => string;
  /** The texts of the moments on the axis, in seconds. */
  readonly ticksOf: (moments: readonly number[]) => string[];
  readonly utc: boolean;
}

const HEIGHT = 168;
const BAR = 0.84;
/** Not by colour alone. */
const DASHES = [[], [6, 4], [2, 4]];
const DIGIT_PX = 7;
/** What uPlot needs of its style sheet, here because the first view of the console needs none of it. */
const STYLES: Readonly<Record<string, Partial<CSSStyleDeclaration>>> = {
  '.uplot, .u-wrap': { position: 'relative' },
  '.u-over, .u-under': { position: 'absolute' },
  '.u-under': { overflow: 'hidden' },
  canvas: { display: 'block', position: 'relative', width: '100%', height: '100%' },
  '.u-select': {
    ...{ position: 'absolute', pointerEvents: 'none' },
    ...{ background: 'var(--text)', opacity: '0.08' },
  },
};

export interface Plot {
  /** The part of the width at which a pointer is, from 0 to 1. */
  readonly shareAt: (clientX: number) => number;
  /** Lights the steps from one to another; none without an argument. */
  readonly light: (steps?: readonly [first: number, last: number]) => void;
  readonly resize: () => void;
  readonly remove: () => void;
}

/** Draws values over time into a box, with axes; stacked bars or lines. */
export function plotIn(box: HTMLElement, of: Drawing): Plot {
  const { times, end, series, before, kind } = of;
  const [first = 0] = times;
  const ends = [...times.slice(1), end];
  const middles = times.map((time, index) => (time + (ends[index] ?? end)) / 2);
  const drawn =
    kind === 'bars'
      ? stacked(series.map(({ values }) => values))
      : series.map(({ values }) => values);
  const all = [...drawn, ...(before === undefined ? [] : [before])];
  const top = Math.max(
    Number.MIN_VALUE,
    ...all.flatMap((values) => values.map((value) => value ?? 0)),
  );
  const shapes = series.map(({ color }, index): uPlot.Series =>
    kind === 'bars'
      ? { fill: color, width: 0, paths: bars(), points: { show: false } }
      : { stroke: color, width: 2, dash: DASHES[index] ?? [] },
  );
  const previous: uPlot.Series = {
    ...{ stroke: of.colors.before, width: 1.5 },
    points: { show: times.length === 1, stroke: of.colors.before },
  };
  const axis = {
    stroke: of.colors.text,
    font: of.font,
    grid: { stroke: of.colors.grid, width: 1 },
  };
  const plot = new uPlot(
    {
      width: box.clientWidth,
      height: HEIGHT,
      legend: { show: false },
      cursor: { show: false },
      ...(of.utc ? { tzDate: (s: number) => uPlot.tzDate(new Date(s * 1_000), 'Etc/UTC') } : {}),
      scales: { x: { range: () => [first, end] }, y: { range: () => [0, top * 1.05] } },
      axes: [
        {
          ...axis,
          grid: { show: false },
          ticks: { stroke: of.colors.grid, width: 1 },
          space: 72,
          values: (_, splits) => of.ticksOf(splits),
        },
        {
          ...axis,
          ticks: { show: false },
          space: 28,
          size: (_, values) =>
            12 +
            DIGIT_PX *
              Math.max(0, ...((values as string[] | null) ?? []).map(({ length }) => length)),
          values: (_, splits) => splits.map((value) => of.format(value)),
        },
      ],
      // The highest of what is stacked is drawn first, and the others over it.
      series: [{}, ...shapes.toReversed(), ...(before === undefined ? [] : [previous])],
      hooks: { draw: [(self) => markIn(self, of)] },
    },
    [
      middles,
      ...drawn.toReversed(),
      ...(before === undefined ? [] : [before]),
    ] as uPlot.AlignedData,
    box,
  );
  for (const [selector, styles] of Object.entries(STYLES)) {
    for (const part of box.querySelectorAll<HTMLElement>(selector)) {
      Object.assign(part.style, styles);
    }
  }
  return {
    shareAt: (clientX) => {
      const { left, width } = plot.over.getBoundingClientRect();
      return (clientX - left) / width;
    },
    light: (steps) => {
      const [from, to] = steps ?? [0, -1];
      const left = plot.valToPos(times[from] ?? first, 'x');
      const width = steps === undefined ? 0 : plot.valToPos(ends[to] ?? end, 'x') - left;
      plot.setSelect({ left, width, top: 0, height: plot.over.clientHeight }, false);
    },
    resize: () => plot.setSize({ width: box.clientWidth, height: HEIGHT }),
    remove: () => plot.destroy(),
  };
}

function bars(): uPlot.Series.PathBuilder {
  const make = uPlot.paths.bars;
  if (make === undefined) throw new Error('uPlot has lost its bars');
  return make({ size: [BAR, Infinity] });
}

/** Each series on top of those before it. */
function stacked(series: readonly (readonly (number | null)[])[]): number[][] {
  const sums: number[][] = [];
  for (const values of series) {
    const below = sums.at(-1);
    sums.push(values.map((value, index) => (below?.[index] ?? 0) + (value ?? 0)));
  }
  return sums;
}

/** What happened at some moments, as lines from top to bottom. */
function markIn(plot: uPlot, { marks, colors }: Drawing): void {
  const { ctx } = plot;
  const { top, height } = plot.bbox;
  ctx.save();
  ctx.strokeStyle = colors.text;
  ctx.setLineDash([2, 4]);
  for (const at of marks) {
    const x = Math.round(plot.valToPos(at, 'x', true)) + 0.5;
    ctx.beginPath();
    ctx.moveTo(x, top);
    ctx.lineTo(x, top + height);
    ctx.stroke();
  }
  ctx.restore();
}
