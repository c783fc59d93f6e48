import Joi from 'joi';
import { present } from '../core/records.js';
import { isTimeZone } from '../core/time-zone.js';
import { invalid } from '../management/fields.js';
import { getOverview } from '../management/overview.js';
import type { StatsDeps } from '../management/stats.js';
import {
  BREAKDOWN_GROUPS,
  OWN_BREAKDOWN_GROUPS,
  usageBreakdown,
  type BreakdownGroup,
} from '../management/usage-breakdown.js';
import {
  OWN_SERIES_GROUPS,
  SERIES_GROUPS,
  usageSeries,
  type SeriesGroup,
} from '../management/usage-series.js';
import { ID, LABEL } from '../shapes/lists.js';
import { SECONDS } from '../shapes/log.js';
import { OVERVIEW, overviewWire } from '../shapes/overview.js';
import {
  BREAKDOWN,
  breakdownTable,
  breakdownWire,
  MAX_SERIES_DAYS,
  SERIES,
  seriesWire,
  type BreakdownWire,
} from '../shapes/stats.js';
import { csvOf } from '../core/csv.js';
import { defineOperation, inArea, FileReply } from './operation.js';
import { choice, optional, partial, shape, type ObjectOf, type Of } from '../shapes/shape.js';

const DAY_S = 24 * 3_600;
const MAX_BREAKDOWN_DAYS = 800;
/** A bill by the hour for a month has as many steps as a page can show. */
const MAX_HOURS_DAYS = 36;
const CSV = 'text/csv';
const TIME_ZONE = Joi.string()
  .max(64)
  .default('UTC')
  .description('By day or month: whose they are, as Europe/Berlin.');

const OF_LABEL = LABEL.description(
  'The label to group by: `team`. As `team=search`, only what has this value counts. A key without a label has that of its account. Labels are those of now, or, of what was deleted, of then.',
);

const SPAN = {
  start_timestamp: SECONDS.description('Unix seconds.'),
  end_timestamp: SECONDS.description('Unix seconds; that moment is not included.'),
};
type SpanQuery = ObjectOf<typeof SPAN>;
const KEYS = Joi.string()
  .max(4_096)
  .empty('')
  .description(
    'Ids or names of the group, separated by commas, 100 at most: these alone, and each by itself. Without it, the 12 with the most requests, and all others together.',
  );
const MAX_KEYS = 100;
const FORMAT = choice('json', 'csv').default('json');
const KEPT =
  'Sums over all nodes, up to a few seconds ago; late reports follow within a minute. Minutes are kept for 6 hours, 5 minutes for 3 days, hours for 35 days (of spending for 400), and days of spending for `log.stats_days`; `complete_from` says since when nothing is missing.';

const SERIES_QUERY = shape({
  ...SPAN,
  group: choice(...SERIES_GROUPS).default('none'),
  ...partial({ keys: KEYS, user_id: ID }),
});
type SeriesQuery = Of<typeof SERIES_QUERY>;

const series = defineOperation({
  id: 'usageSeries',
  method: 'GET',
  path: '/api/stats/series',
  summary: 'Requests, failures, latency and spending over time',
  description: `${KEPT} Grouped by channel, tag or provider, requests, failures and latency are those of its attempts. With \`user_id\`, or grouped by token or user, steps are hours, and requests that were refused before admission are not counted; by outcome, there are \`ok\` and \`failed\` with their requests alone.`,
  access: 'auditor',
  query: SERIES_QUERY,
  reply: SERIES,
  handler: async ({ deps, query }) => seriesWire(await usageSeries(deps, seriesQueryOf(query))),
});

const OWN_SERIES_QUERY = shape({
  ...SPAN,
  group: choice<SeriesGroup>(...OWN_SERIES_GROUPS).default('none'),
  keys: optional(KEYS),
});

const ownSeries = defineOperation({
  id: 'ownUsageSeries',
  method: 'GET',
  path: '/api/stats/self/series',
  summary: 'Your own requests, failures, latency and spending, by the hour',
  description: `${KEPT} Requests that were refused before admission are not counted. Grouped by outcome, \`ok\` and \`failed\` have their requests; latency and everything else are in the total alone.`,
  access: 'login',
  query: OWN_SERIES_QUERY,
  reply: SERIES,
  handler: async ({ deps, query, login }) =>
    seriesWire(await usageSeries(deps, { ...seriesQueryOf(query), owner: login.user.id })),
});

const BREAKDOWN_QUERY = shape({
  ...SPAN,
  by: choice(...BREAKDOWN_GROUPS).default('user'),
  ...partial({ then: choice(...BREAKDOWN_GROUPS), user_id: ID, channel_id: ID, label: OF_LABEL }),
  time_zone: TIME_ZONE,
  format: FORMAT,
});
type BreakdownQuery = Of<typeof BREAKDOWN_QUERY>;

const breakdown = defineOperation({
  id: 'usageBreakdown',
  method: 'GET',
  path: '/api/stats/breakdown',
  summary: 'Who spent what, by one or two dimensions, with the total',
  description: `${KEPT} The total is the sum of the rows, and agrees with \`used_quota\` of accounts and keys as far as it reaches.`,
  access: 'auditor',
  query: BREAKDOWN_QUERY,
  reply: BREAKDOWN,
  files: [CSV],
  handler: ({ deps, query }) => breakdownOf(deps, query, { owner: query.user_id, withCost: true }),
});

const ownBreakdown = defineOperation({
  id: 'ownUsageBreakdown',
  method: 'GET',
  path: '/api/stats/self/breakdown',
  summary: 'What you spent, by one or two dimensions, with the total',
  description: KEPT,
  access: 'login',
  query: shape({
    ...SPAN,
    by: choice<BreakdownGroup>(...OWN_BREAKDOWN_GROUPS).default('token'),
    then: optional(choice<BreakdownGroup>(...OWN_BREAKDOWN_GROUPS)),
    label: optional(OF_LABEL),
    time_zone: TIME_ZONE,
    format: FORMAT,
  }),
  reply: BREAKDOWN,
  files: [CSV],
  handler: ({ deps, query, login }) =>
    breakdownOf(deps, query, { owner: login.user.id, withCost: false }),
});

const overview = defineOperation({
  id: 'getOverview',
  method: 'GET',
  path: '/api/overview',
  summary: 'Whether everything is all right: traffic, channels, nodes, and what needs attention',
  description:
    'Parts that change rarely are up to half a minute old, and what other callers were told a moment ago is told again: it is cheap to ask every few seconds.',
  access: 'auditor',
  query: shape({
    ...SPAN,
    day_timestamp: optional(
      SECONDS.description(
        'When the day began that `today` is about, in unix seconds; of the UTC day if not given.',
      ),
    ),
  }),
  reply: OVERVIEW,
  async handler({ deps, query }) {
    const today = Math.floor(deps.now() / 1_000 / DAY_S) * DAY_S;
    const { day_timestamp: day = today } = query;
    const span = spanOf(query, MAX_SERIES_DAYS);
    return overviewWire(
      await getOverview(deps, { ...span, dayFromMs: day * 1_000 }, deps.known.fallbacksOf),
    );
  },
});

function seriesQueryOf(query: SeriesQuery) {
  const keys = query.keys?.split(',');
  if ((keys?.length ?? 0) > MAX_KEYS) throw invalid('keys', `keys may be ${MAX_KEYS} at most.`);
  return {
    ...spanOf(query, MAX_SERIES_DAYS),
    group: query.group,
    ...present({ keys, owner: query.user_id }),
  };
}

async function breakdownOf(
  deps: StatsDeps,
  query: Omit<BreakdownQuery, 'user_id' | 'channel_id'> &
    Pick<Partial<BreakdownQuery>, 'channel_id'>,
  { owner, withCost }: { readonly owner: number | undefined; readonly withCost: boolean },
): Promise<BreakdownWire | FileReply> {
  const { by, then, format, label, time_zone: timeZone } = query;
  const groups = then === undefined ? [by] : [by, then];
  if (!isTimeZone(timeZone)) {
    throw invalid('time_zone', 'time_zone must be the name of a time zone, as Europe/Berlin.');
  }
  if (label === undefined && groups.includes('label')) {
    throw invalid('label', 'label must name the label to group by, such as team.');
  }
  if (label?.includes('=') === false && !groups.includes('label')) {
    throw invalid(
      'label',
      `label must have a value, such as ${label}=search, unless rows are grouped by it.`,
    );
  }
  const maxDays = groups.includes('hour') ? MAX_HOURS_DAYS : MAX_BREAKDOWN_DAYS;
  const found = breakdownWire(
    await usageBreakdown(deps, {
      ...spanOf(query, maxDays),
      ...{ by: groups, timeZone },
      ...present({ owner, label, channelId: query.channel_id }),
    }),
    withCost,
  );
  if (format === 'json') return found;
  const { heading, lines } = breakdownTable(found);
  return new FileReply(CSV, 'spend.csv', csvOf(heading, lines));
}

function spanOf(
  { start_timestamp: start, end_timestamp: end }: SpanQuery,
  maxDays: number,
): { readonly fromMs: number; readonly toMs: number } {
  if (end <= start) {
    throw invalid('end_timestamp', 'end_timestamp must be later than start_timestamp.');
  }
  if (end - start > maxDays * DAY_S) {
    throw invalid('start_timestamp', `The span may be ${maxDays} days long at most.`);
  }
  return { fromMs: start * 1_000, toMs: end * 1_000 };
}

export const STATS_OPERATIONS = inArea('stats', [
  overview,
  series,
  ownSeries,
  breakdown,
  ownBreakdown,
]);
