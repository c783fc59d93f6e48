import type { OwnRange } from '../../parts/range.js';

/** What the list of requests can be filtered by, under the names of the address. */
export const FILTERS = [
  'log',
  'outcome',
  'model',
  'token_name',
  'channel_id',
  'provider',
  'tag',
  'user_id',
  'slower',
  'span',
] as const;

export type Filters = Readonly<Record<(typeof FILTERS)[number], string>>;

/** Without what only operators filter by: others are not told of it, and a link may come from an operator. */
export function ownFilters(filters: Filters): Filters {
  return { ...filters, channel_id: '', provider: '', tag: '', user_id: '' };
}

export const KINDS = ['admitted', 'refused'] as const;
export const SPANS: Readonly<Record<string, number>> = {
  '15m': 900,
  '1h': 3_600,
  '24h': 86_400,
  '7d': 604_800,
};
/** What the chart shows of all requests: statistics by the hour are kept a little longer. */
const CHARTED_S = 30 * 86_400;

/** What is asked for, and the range that the chart shows. */
export function matchingOf(query: Filters, own: OwnRange | undefined, minute: number) {
  const number = (text: string): number | undefined => (text === '' ? undefined : Number(text));
  const span = Object.hasOwn(SPANS, query.span) ? SPANS[query.span] : undefined;
  return {
    range: own ?? { start: minute + 60 - (span ?? CHARTED_S), end: minute + 60 },
    matching: {
      kind: KINDS.find((kind) => kind === query.log),
      model: query.model,
      token_name: query.token_name,
      outcome: query.outcome,
      min_duration_ms: number(query.slower),
      // Rounded to the minute, so that not every render makes a new query.
      start_timestamp: own?.start ?? (span === undefined ? undefined : minute - span),
      // In the log the last second belongs to the range.
      end_timestamp: own === undefined ? undefined : own.end - 1,
      channel_id: number(query.channel_id),
      user_id: number(query.user_id),
      provider: query.provider,
      tag: query.tag,
    },
  };
}
