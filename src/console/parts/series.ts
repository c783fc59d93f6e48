import { seesAll } from '../about.js';
import type { ReplyOf } from '../api/call.js';
import { useRead } from '../api/query.js';
import { wp } from '../words.js';
import type { ChartSeries } from './chart.js';

type Part = ReplyOf<'usageSeries'>['series'][number];

/** Others group by what they see alone. */
export function seriesOperation() {
  return seesAll() ? 'usageSeries' : ('ownUsageSeries' as 'usageSeries');
}

/** The series of the period before one, of the same length and with the same steps; nothing where nothing was kept of it. */
export function usePrevious(
  { start, end }: { readonly start: number; readonly end: number },
  of: { readonly group?: 'channel' | 'tag' | 'provider' | 'model'; readonly keys?: string } = {},
): { readonly part: Part; readonly times: readonly number[] } | undefined {
  const query = { start_timestamp: start - (end - start), end_timestamp: start, ...of };
  const { data } = useRead(seriesOperation(), { query });
  const [part] = data?.series ?? [];
  if (data === undefined || part === undefined || part.total.requests === 0) return undefined;
  return { part, times: timesOf(data) };
}

/** The start of each step of a series. */
export function timesOf({
  start_timestamp: start,
  step_s: step,
  steps,
}: Pick<ReplyOf<'usageSeries'>, 'start_timestamp' | 'step_s' | 'steps'>): number[] {
  return Array.from({ length: steps }, (_, index) => start + index * step);
}

/** How requests end, with what charts call it and the colour of that. */
export function outcomes() {
  return [
    ['ok', wp().overview.ok, 1],
    ['refused', wp().requests.refused, 2],
    ['failed', wp().requests.failed, 4],
  ] as const;
}

/** Bars by outcome; where the statistics are of one thing, those that went well and those that did not. */
export function outcomesOf(parts: readonly Part[]): ChartSeries[] {
  const byOutcome = outcomes().flatMap(([key, name, color]) => {
    const found = parts.find((part) => part.key === key);
    return found === undefined ? [] : [{ name, color, values: found.requests }];
  });
  const [only] = parts;
  if (byOutcome.length > 0 || only === undefined) return byOutcome;
  const well = only.requests.map((all, index) => all - (only.failed[index] ?? 0));
  return [
    { name: wp().overview.ok, color: 1, values: well },
    { name: wp().requests.failed, color: 4, values: only.failed },
  ];
}
