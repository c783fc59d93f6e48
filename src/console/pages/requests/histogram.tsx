import type { ReplyOf } from '../../api/call.js';
import { useRead } from '../../api/query.js';
import { count, moment } from '../../lib/format.js';
import { style } from '../../parts/values.js';
import { Chart } from '../../parts/chart.js';
import { outcomesOf, seriesOperation, timesOf, usePrevious } from '../../parts/series.js';
import { pickRange, type OwnRange } from '../../parts/range.js';
import { wp } from '../../words.js';
import type { Filters } from './filters.js';

const CHART_MS = 5_000;
/** Until a request is in the statistics, which are later than the log. */
const COUNTED_S = 10;
const DAY_S = 86_400;

/** Groups of statistics by the filter that picks one of their keys. */
const CHARTED = [
  ['channel_id', 'channel'],
  ['tag', 'tag'],
  ['provider', 'provider'],
  ['model', 'model'],
] as const;

/** Requests over the range by outcome, of one model or channel if just that is looked for; a part of it can be picked. */
export function Histogram({
  range,
  isOwn,
  query,
}: {
  readonly range: OwnRange;
  readonly isOwn: boolean;
  readonly query: Filters;
}) {
  const [filter, group] = CHARTED.find(([name]) => query[name] !== '') ?? [];
  const keys = filter === undefined ? {} : { group, keys: query[filter] };
  const { data } = useRead(
    seriesOperation(),
    {
      query: {
        ...{ start_timestamp: range.start, end_timestamp: range.end, group: 'outcome', ...keys },
      },
    },
    { everyMs: Date.now() / 1_000 < range.end + COUNTED_S ? CHART_MS : false },
  );
  const before = usePrevious(range, keys);
  if (data === undefined) return null;
  // Where nobody has picked a range, it begins with its first request.
  const from = isOwn || query.span !== '' ? 0 : firstOf(data);
  return (
    <Chart
      title={wp().overview.traffic}
      kind="bars"
      times={timesOf(data).slice(from)}
      format={(value) => count(value, style())}
      timeOf={(seconds) => moment(seconds, style())}
      before={before?.part.requests.slice(from)}
      series={outcomesOf(data.series).map((one) => ({ ...one, values: one.values.slice(from) }))}
      onPick={pickRange}
    />
  );
}

/** The first step with anything to show, with a day’s steps at least. */
function firstOf({ series, steps, step_s: step }: ReplyOf<'usageSeries'>): number {
  const at = Array.from({ length: steps }, (_, index) => index).find((index) =>
    series.some(({ requests }) => (requests[index] ?? 0) > 0),
  );
  return Math.max(0, Math.min(at ?? steps, steps - DAY_S / step));
}
