import Joi from 'joi';
import { UNITS_PER_DOLLAR } from '../core/quota.js';
import { type Sums } from '../core/tally.js';
import type { BreakdownRow, UsageBreakdown } from '../management/usage-breakdown.js';
import type { Summary, UsageSeries } from '../management/usage-series.js';
import { REQUIRED_COUNT } from './counts.js';
import { SECONDS } from './log.js';
import { secondFrom } from './seconds.js';

interface SumsWire {
  requests: number;
  failed: number;
  documents: number;
  tokens: number;
  search_units: number;
  quota: number;
}

export interface SummaryWire extends SumsWire {
  p50: number | null;
  p95: number | null;
  p99: number | null;
}

/** One list per member, with a number for each step. */
interface SeriesPartWire {
  key: string;
  name: string;
  total: SummaryWire;
  requests: number[];
  failed: number[];
  documents: number[];
  tokens: number[];
  quota: number[];
  p50: (number | null)[];
  p95: (number | null)[];
  p99: (number | null)[];
}

export interface SeriesWire {
  start_timestamp: number;
  step_s: number;
  steps: number;
  complete_from: number | null;
  total: SummaryWire;
  series: SeriesPartWire[];
}

export interface BreakdownRowWire extends SumsWire {
  user_id: number | null;
  username: string | null;
  token_id: number | null;
  token_name: string | null;
  model: string | null;
  channel_id: number | null;
  channel: string | null;
  tag: string | null;
  provider: string | null;
  hour: number | null;
  day: number | null;
  is_rest: boolean;
}

export interface BreakdownWire {
  start_timestamp: number;
  end_timestamp: number;
  complete_from: number | null;
  rows: BreakdownRowWire[];
  total: SumsWire;
}

/** The longest span of a series: statistics by the hour are not kept for longer. */
export const MAX_SERIES_DAYS = 36;

export const MILLISECONDS = Joi.number().min(0).allow(null);
const NUMBERS = Joi.array().items(Joi.number().min(0)).required();
const DURATIONS = Joi.array().items(MILLISECONDS).required();
const ID_OR_NULL = REQUIRED_COUNT.allow(null);
const TEXT_OR_NULL = Joi.string().allow('', null).required();
const COMPLETE_FROM = SECONDS.allow(null)
  .required()
  .description('Since when nothing is missing; null before the first numbers.');

const SUMS_MEMBERS = {
  requests: REQUIRED_COUNT,
  failed: REQUIRED_COUNT,
  documents: REQUIRED_COUNT,
  tokens: REQUIRED_COUNT,
  search_units: REQUIRED_COUNT,
  quota: REQUIRED_COUNT.description('Units charged.'),
};
export const SUMMARY = Joi.object<SummaryWire, true>({
  ...SUMS_MEMBERS,
  p50: MILLISECONDS.required().description('Half of them took no longer, in about milliseconds.'),
  p95: MILLISECONDS.required(),
  p99: MILLISECONDS.required(),
}).required();

export const SERIES_REPLY = Joi.object<SeriesWire, true>({
  start_timestamp: SECONDS.required().description('The start of the first step, in unix seconds.'),
  step_s: REQUIRED_COUNT.description('The length of a step, in seconds.'),
  steps: REQUIRED_COUNT,
  complete_from: COMPLETE_FROM,
  total: SUMMARY,
  series: Joi.array()
    .items(
      Joi.object<SeriesPartWire, true>({
        key: Joi.string()
          .allow('')
          .required()
          .description(
            'What it is about, an id or a name; empty if unknown; others: everything after the first twelve.',
          ),
        name: Joi.string().allow('').required().description('What that is called now.'),
        total: SUMMARY,
        requests: NUMBERS,
        failed: NUMBERS,
        documents: NUMBERS,
        tokens: NUMBERS,
        quota: NUMBERS,
        p50: DURATIONS,
        p95: DURATIONS,
        p99: DURATIONS,
      }),
    )
    .required()
    .description('By requests, most first; each list has one number per step.'),
});

/** The members of a row that identify a group, and those that name it. */
const ROW_MEMBERS = {
  user_id: ID_OR_NULL,
  username: TEXT_OR_NULL,
  token_id: ID_OR_NULL,
  token_name: TEXT_OR_NULL,
  model: TEXT_OR_NULL,
  channel_id: ID_OR_NULL,
  channel: TEXT_OR_NULL,
  tag: TEXT_OR_NULL,
  provider: TEXT_OR_NULL,
  hour: ID_OR_NULL.description('The start of the hour, in unix seconds.'),
  day: ID_OR_NULL.description(
    'The start of the day, in unix seconds; of the span, if that begins later.',
  ),
};

export const BREAKDOWN_REPLY = Joi.object<BreakdownWire, true>({
  start_timestamp: SECONDS.required().description('What was read begins here, in unix seconds.'),
  end_timestamp: SECONDS.required().description('And ends here.'),
  complete_from: COMPLETE_FROM,
  rows: Joi.array()
    .items(
      Joi.object<BreakdownRowWire, true>({
        ...ROW_MEMBERS,
        is_rest: Joi.boolean()
          .required()
          .description('Whether it stands for all rows after the first 1000.'),
        ...SUMS_MEMBERS,
      }),
    )
    .required()
    .description('What was not asked for is null. Those that spent most come first.'),
  total: Joi.object<SumsWire, true>(SUMS_MEMBERS).required().description('The sum of the rows.'),
});

const BREAKDOWN_COLUMNS = [
  ...Object.keys(ROW_MEMBERS),
  ...Object.keys(SUMS_MEMBERS),
] as (keyof Omit<BreakdownRowWire, 'is_rest'>)[];

/** As a file has it: a heading, then a line for each row; money in dollars too. */
export function breakdownTable({ rows }: BreakdownWire): {
  readonly heading: readonly string[];
  readonly lines: readonly (readonly (string | number | null)[])[];
} {
  return {
    heading: [...BREAKDOWN_COLUMNS, 'dollars'],
    lines: rows.map((row) => [
      ...BREAKDOWN_COLUMNS.map((column) => row[column]),
      row.quota / UNITS_PER_DOLLAR,
    ]),
  };
}

export function seriesWire(series: UsageSeries): SeriesWire {
  return {
    start_timestamp: Math.floor(series.fromMs / 1_000),
    step_s: series.stepMs / 1_000,
    steps: series.steps,
    complete_from: secondFrom(series.completeFromMs),
    total: summaryWire(series.total),
    series: series.series.map(({ key, name, total, points }) => ({
      ...{ key, name },
      total: summaryWire(total),
      requests: points.map(({ requests }) => requests),
      failed: points.map(({ failed }) => failed),
      documents: points.map(({ documents }) => documents),
      tokens: points.map(({ inputTokens }) => inputTokens),
      quota: points.map(({ quota }) => quota),
      p50: points.map(({ p50 }) => rounded(p50)),
      p95: points.map(({ p95 }) => rounded(p95)),
      p99: points.map(({ p99 }) => rounded(p99)),
    })),
  };
}

export function breakdownWire(breakdown: UsageBreakdown): BreakdownWire {
  return {
    start_timestamp: Math.floor(breakdown.fromMs / 1_000),
    end_timestamp: Math.floor(breakdown.toMs / 1_000),
    complete_from: secondFrom(breakdown.completeFromMs),
    rows: breakdown.rows.map(rowWire),
    total: sumsWire(breakdown.total),
  };
}

function rowWire({ of, names, isRest, sums }: BreakdownRow): BreakdownRowWire {
  const id = (value: string | number | undefined): number | null =>
    typeof value === 'number' ? value : null;
  const text = (value: string | number | undefined): string | null =>
    typeof value === 'string' ? value : null;
  return {
    user_id: id(of.user),
    username: names.user ?? null,
    token_id: id(of.token),
    token_name: names.token ?? null,
    model: text(of.model),
    channel_id: id(of.channel),
    channel: names.channel ?? null,
    tag: text(of.tag),
    provider: text(of.provider),
    hour: id(of.hour),
    day: id(of.day),
    is_rest: isRest,
    ...sumsWire(sums),
  };
}

function sumsWire({
  requests,
  failed,
  documents,
  inputTokens,
  searchUnits,
  quota,
}: Sums): SumsWire {
  return {
    ...{ requests, failed, documents, quota },
    tokens: inputTokens,
    search_units: searchUnits,
  };
}

export function summaryWire(summary: Summary): SummaryWire {
  const { p50, p95, p99 } = summary;
  return { ...sumsWire(summary), p50: rounded(p50), p95: rounded(p95), p99: rounded(p99) };
}

/** The bounds of a histogram are far apart: three digits are already more than it can tell. */
export function rounded(ms: number | undefined): number | null {
  return ms === undefined ? null : Number(ms.toPrecision(3));
}
