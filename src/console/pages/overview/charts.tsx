import { clock, count, duration, moment } from '../../lib/format.js';
import { Chart, type Mark } from '../../parts/chart.js';
import { outcomes, timesOf, usePrevious } from '../../parts/series.js';
import { pickRange } from '../../parts/range.js';
import { style } from '../../parts/values.js';
import { wp } from '../../words.js';
import type { Series } from './verdict.js';

const HOUR_S = 3_600;

function timeStyle(step: number): (seconds: number) => string {
  return step >= HOUR_S
    ? (seconds) => moment(seconds, style())
    : (seconds) => clock(seconds, style()).slice(0, 5);
}

export function Traffic({
  series,
  marks,
}: {
  readonly series: Series;
  readonly marks: readonly Mark[];
}) {
  const end = series.start_timestamp + series.steps * series.step_s;
  const before = usePrevious({ start: series.start_timestamp, end });
  return (
    <Chart
      title={wp().overview.traffic}
      kind="bars"
      times={timesOf(series)}
      end={end}
      before={before?.part.requests}
      format={(value) => count(value, style())}
      timeOf={timeStyle(series.step_s)}
      marks={marks}
      onPick={pickRange}
      series={outcomes().map(([key, name, color]) => ({
        ...{ name, color },
        values: series.series.find((part) => part.key === key)?.requests ?? [],
      }))}
    />
  );
}

export function Latency({ series }: { readonly series: Series }) {
  const ok = series.series.find(({ key }) => key === 'ok');
  return (
    <Chart
      title={wp().overview.latency}
      kind="lines"
      times={timesOf(series)}
      format={duration}
      timeOf={timeStyle(series.step_s)}
      onPick={pickRange}
      series={[
        { name: 'p50', color: 1, values: ok?.p50 ?? [] },
        { name: 'p95', color: 2, values: ok?.p95 ?? [] },
        { name: 'p99', color: 3, values: ok?.p99 ?? [] },
      ]}
    />
  );
}
