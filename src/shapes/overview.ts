import Joi from 'joi';
import type { ChannelTraffic, Overview } from '../management/overview.js';
import { WHY_NOT_LIVE } from './channel.js';
import { COUNT } from './counts.js';
import { ID } from './lists.js';
import { NODES, nodesWire } from './node.js';
import { PRICE_CHANGE, priceChangeWire } from './price.js';
import {
  BREAKDOWN,
  breakdownWire,
  MILLISECONDS,
  rounded,
  SERIES,
  seriesWire,
  SUMMARY,
  summaryWire,
} from './stats.js';
import { arrayOf, choice, shape, wireOf, type Of } from './shape.js';

const PACE = shape({ requests: COUNT.description('Those that went well.'), p95: MILLISECONDS });

const CHANNEL = shape({
  key: Joi.string()
    .allow('')
    .description('Its id; empty: of no known channel; others: all that are not listed.'),
  name: Joi.string().allow('').description('What that is called now.'),
  because: WHY_NOT_LIVE,
  total: SUMMARY,
  recent_requests: COUNT.description(
    'Of the last five minutes, or of the last step if steps are longer.',
  ),
  recent_failed: COUNT.description('Likewise.'),
});

export const OVERVIEW = shape({
  traffic: SERIES.description('By outcome.'),
  channels: arrayOf(CHANNEL).description(
    'By requests, most first: those that fail, and the busiest, twelve or more in all.',
  ),
  nodes: NODES,
  dark_models: arrayOf(Joi.string()).description('Models that no live channel serves.'),
  last_hour: PACE,
  day_before: PACE.description('The same hour of the day before.'),
  ending: shape({
    names: arrayOf(Joi.string()).description('The first few.'),
    total: COUNT,
  }).description('Keys that expire within three days.'),
  running_out: arrayOf(
    shape({
      of: choice('key', 'account'),
      id: ID,
      name: Joi.string(),
      hours: Joi.number().min(0).description('For which what is left lasts.'),
    }),
  ).description('What will be spent within three days at the rate of the last day, five at most.'),
  today: BREAKDOWN.description('The five accounts that spent most.'),
  price_changes: arrayOf(PRICE_CHANGE).description('Of the span.'),
});
export type OverviewWire = Of<typeof OVERVIEW>;

export function overviewWire(overview: Overview): OverviewWire {
  const { traffic, channels, nodes, watched, today, priceChanges } = overview;
  const { lastHour, dayBefore, runningOut } = watched;
  return wireOf(OVERVIEW, {
    ...overview,
    ...watched,
    traffic: seriesWire(traffic),
    channels: channels.map(channelWire),
    nodes: nodesWire(nodes),
    lastHour: { requests: lastHour.requests, p95: rounded(lastHour.p95) },
    dayBefore: { requests: dayBefore.requests, p95: rounded(dayBefore.p95) },
    ending: { ...watched.ending },
    runningOut: runningOut.map((one) => ({ ...one })),
    today: breakdownWire(today, true),
    priceChanges: priceChanges.map(priceChangeWire),
  });
}

function channelWire({ total, recent, because, ...channel }: ChannelTraffic): Of<typeof CHANNEL> {
  return wireOf(CHANNEL, {
    ...channel,
    because: because ?? null,
    total: summaryWire(total),
    recentRequests: recent.requests,
    recentFailed: recent.failed,
  });
}
