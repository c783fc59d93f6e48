import { seesAll } from '../about.js';
import type { ReplyOf } from '../api/call.js';
import { useRead } from '../api/query.js';

/** What the API answers of a period, ungrouped. */
type Part = ReplyOf<'usageSeries'>['series'][number];

/** The series of the period before one, of the same length and with the same steps; nothing where nothing was kept of it. */
export function usePrevious(
  { start, end }: { readonly start: number; readonly end: number },
  of: { readonly group?: 'channel' | 'tag' | 'provider' | 'model'; readonly keys?: string } = {},
): { readonly part: Part; readonly times: readonly number[] } | undefined {
  const query = { start_timestamp: start - (end - start), end_timestamp: start, ...of };
  // Others group by what they see alone.
  const operation = seesAll() ? 'usageSeries' : ('ownUsageSeries' as 'usageSeries');
  const { data } = useRead(operation, { query });
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
