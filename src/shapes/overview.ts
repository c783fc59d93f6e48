import Joi from 'joi';
import type { RunsOut } from '../core/running-out.js';
import type { ChannelTraffic, Overview, Watched } from '../management/overview.js';
import { REQUIRED_COUNT } from './counts.js';
import { ID } from './lists.js';
import { NODES_REPLY, nodesWire, type NodesWire } from './node.js';
import { PRICE_CHANGE, priceChangeWire, type PriceChangeWire } from './price.js';
import {
  BREAKDOWN_REPLY,
  breakdownWire,
  MILLISECONDS,
  rounded,
  SERIES_REPLY,
  seriesWire,
  SUMMARY,
  summaryWire,
  type BreakdownWire,
  type SeriesWire,
  type SummaryWire,
} from './stats.js';

interface ChannelTrafficWire {
  key: string;
  name: string;
  total: SummaryWire;
  recent_requests: number;
  recent_failed: number;
}

interface PaceWire {
  requests: number;
  p95: number | null;
}

interface EndingWire {
  names: string[];
  total: number;
}

type RunsOutWire = { -readonly [K in keyof RunsOut]: RunsOut[K] };

export interface OverviewWire {
  traffic: SeriesWire;
  channels: ChannelTrafficWire[];
  nodes: NodesWire;
  dark_models: string[];
  last_hour: PaceWire;
  day_before: PaceWire;
  ending: EndingWire;
  running_out: RunsOutWire[];
  today: BreakdownWire;
  price_changes: PriceChangeWire[];
}

const PACE = {
  requests: REQUIRED_COUNT.description('Those that went well.'),
  p95: MILLISECONDS.required(),
};

export const OVERVIEW_REPLY = Joi.object<OverviewWire, true>({
  traffic: SERIES_REPLY.required().description('By outcome.'),
  channels: Joi.array()
    .items(
      Joi.object<ChannelTrafficWire, true>({
        key: Joi.string()
          .allow('')
          .required()
          .description('Its id; empty: of no known channel; others: all that are not listed.'),
        name: Joi.string().allow('').required().description('What that is called now.'),
        total: SUMMARY,
        recent_requests: REQUIRED_COUNT.description(
          'Of the last five minutes, or of the last step if steps are longer.',
        ),
        recent_failed: REQUIRED_COUNT.description('Likewise.'),
      }),
    )
    .required()
    .description('By requests, most first: up to six that fail, and the busiest, twelve in all.'),
  nodes: Joi.object<NodesWire, true>(NODES_REPLY).required(),
  dark_models: Joi.array()
    .items(Joi.string())
    .required()
    .description('Models that no live channel serves.'),
  last_hour: Joi.object<PaceWire, true>(PACE).required(),
  day_before: Joi.object<PaceWire, true>(PACE)
    .required()
    .description('The same hour of the day before.'),
  ending: Joi.object<EndingWire, true>({
    names: Joi.array().items(Joi.string()).required().description('The first few.'),
    total: REQUIRED_COUNT,
  })
    .required()
    .description('Keys that expire within three days.'),
  running_out: Joi.array()
    .items(
      Joi.object<RunsOutWire, true>({
        of: Joi.string<RunsOut['of']>().valid('key', 'account').required(),
        id: ID.required(),
        name: Joi.string().required(),
        hours: Joi.number().min(0).required().description('For which what is left lasts.'),
      }),
    )
    .required()
    .description('What will be spent within three days at the rate of the last day, five at most.'),
  today: BREAKDOWN_REPLY.required().description('The five accounts that spent most.'),
  price_changes: Joi.array().items(PRICE_CHANGE).required().description('Of the span.'),
}).required();

export function overviewWire(overview: Overview): OverviewWire {
  const { traffic, channels, nodes, darkModels, watched, today, priceChanges } = overview;
  return {
    traffic: seriesWire(traffic),
    channels: channels.map(channelWire),
    nodes: nodesWire(nodes),
    dark_models: [...darkModels],
    ...watchedWire(watched),
    today: breakdownWire(today),
    price_changes: priceChanges.map(priceChangeWire),
  };
}

function channelWire({ key, name, total, recent }: ChannelTraffic): ChannelTrafficWire {
  const { requests: recent_requests, failed: recent_failed } = recent;
  return { ...{ key, name, recent_requests, recent_failed }, total: summaryWire(total) };
}

function watchedWire({
  lastHour,
  dayBefore,
  ending,
  runningOut,
}: Watched): Pick<OverviewWire, 'last_hour' | 'day_before' | 'ending' | 'running_out'> {
  return {
    last_hour: { requests: lastHour.requests, p95: rounded(lastHour.p95) },
    day_before: { requests: dayBefore.requests, p95: rounded(dayBefore.p95) },
    ending: { names: [...ending.names], total: ending.total },
    running_out: runningOut.map((one) => ({ ...one })),
  };
}
