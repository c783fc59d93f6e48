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
