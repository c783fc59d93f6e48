import Joi from 'joi';
import { UNITS_PER_DOLLAR } from '../core/figures.js';
import { type Sums } from '../core/tally.js';
import type { BreakdownRow, UsageBreakdown } from '../management/usage-breakdown.js';
import type { Summary, UsageSeries } from '../management/usage-series.js';
import { COUNT } from './counts.js';
import { SECONDS } from './log.js';
import { secondFrom, secondsOf } from './seconds.js';
import { arrayOf, extended, namesOf, nullable, partial, shape, wireOf, type Of } from './shape.js';

/** The longest span of a series: statistics by the hour are not kept for longer. */
export const MAX_SERIES_DAYS = 36;

export const MILLISECONDS = nullable(Joi.number().min(0));
const NUMBERS = arrayOf(Joi.number().min(0));
const DURATIONS = arrayOf(MILLISECONDS);
const ID_OR_NULL = nullable(COUNT);
const TEXT_OR_NULL = nullable(Joi.string().allow(''));
const COMPLETE_FROM = nullable(SECONDS).description(
  'Since when nothing is missing; null before the first numbers.',
);

const SUMS = {
  requests: COUNT,
  failed: COUNT,
  documents: COUNT,
  tokens: COUNT,
  search_units: COUNT,
  quota: COUNT.description('Units charged.'),
};
const TOTAL = shape(SUMS);
/** For those who see the spending of everybody. */
const MARGIN = partial({
  cost: COUNT.description('Paid to upstreams, by `cost` of their channels.'),
  margin: Joi.number().integer().description('`quota` less `cost`.'),
});
const MARGIN_TOTAL = extended(TOTAL, MARGIN);

export const SUMMARY = extended(TOTAL, {
  p50: MILLISECONDS.description('Half of them took no longer, in about milliseconds.'),
  p95: MILLISECONDS,
  p99: MILLISECONDS,
});
export type SummaryWire = Of<typeof SUMMARY>;

export const SERIES = shape({
  start_timestamp: SECONDS.description('The start of the first step, in unix seconds.'),
  step_s: COUNT.description('The length of a step, in seconds.'),
  steps: COUNT,
  complete_from: COMPLETE_FROM,
  total: SUMMARY,
  series: arrayOf(
    shape({
      key: Joi.string()
        .allow('')
        .description(
          'What it is about, an id or a name; empty if unknown; others: everything after the first twelve.',
        ),
      name: Joi.string().allow('').description('What that is called now.'),
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
  ).description('By requests, most first; each list has one number per step.'),
});
export type SeriesWire = Of<typeof SERIES>;

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
  label: TEXT_OR_NULL.description(
    'The value of the label; null where neither key nor account has it.',
  ),
  hour: ID_OR_NULL.description('The start of the hour, in unix seconds.'),
  day: ID_OR_NULL.description(
    'The start of the day, in unix seconds; of the span, if that begins later.',
  ),
  month: ID_OR_NULL.description('The start of the month, in unix seconds.'),
};

const ROW = shape({
  ...ROW_MEMBERS,
  is_rest: Joi.boolean().description('Whether it stands for all rows after the first 1000.'),
  ...SUMS,
  ...MARGIN,
});
export type BreakdownRowWire = Of<typeof ROW>;

export const BREAKDOWN = shape({
  start_timestamp: SECONDS.description('What was read begins here, in unix seconds.'),
  end_timestamp: SECONDS.description('And ends here.'),
  complete_from: COMPLETE_FROM,
  rows: arrayOf(ROW).description(
    'What was not asked for is null. Those that spent most come first.',
  ),
  total: MARGIN_TOTAL.description('The sum of the rows.'),
});
export type BreakdownWire = Of<typeof BREAKDOWN>;

const BREAKDOWN_COLUMNS = namesOf(shape({ ...ROW_MEMBERS, ...SUMS }));

/** As a file has it: a heading, then a line for each row; money in dollars too. */
export function breakdownTable({ rows, total }: BreakdownWire): {
  readonly heading: readonly string[];
  readonly lines: readonly (readonly (string | number | null)[])[];
} {
  return {
    heading: [...BREAKDOWN_COLUMNS, ...dollarColumns(total)],
    lines: rows.map((row) => [
      ...BREAKDOWN_COLUMNS.map((column) => row[column]),
      ...dollarsOf(row),
    ]),
  };
}

type MoneyWire = Pick<BreakdownRowWire, 'quota' | 'cost' | 'margin'>;

/** The headings of `dollarsOf`. */
function dollarColumns({ cost }: MoneyWire): readonly string[] {
  return cost === undefined ? ['dollars'] : ['dollars', 'cost_dollars', 'margin_dollars'];
}

/** What was charged, paid and left, in dollars, as far as the reader may see it. */
function dollarsOf({ quota, cost, margin }: MoneyWire): readonly number[] {
  return [quota, cost, margin].flatMap((units) =>
    units === undefined ? [] : [units / UNITS_PER_DOLLAR],
  );
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

/** A breakdown; with what upstreams cost, which callers never see, only where that is asked for. */
export function breakdownWire(breakdown: UsageBreakdown, withCost = false): BreakdownWire {
  return wireOf(BREAKDOWN, {
    startTimestamp: secondsOf(breakdown.fromMs),
    endTimestamp: secondsOf(breakdown.toMs),
    completeFrom: secondFrom(breakdown.completeFromMs),
    rows: breakdown.rows.map((row) => rowWire(row, withCost)),
    total: moneyWire(breakdown.total, withCost),
  });
}

function rowWire({ of, names, isRest, sums }: BreakdownRow, withCost: boolean): BreakdownRowWire {
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
    label: text(of.label),
    hour: id(of.hour),
    day: id(of.day),
    month: id(of.month),
    is_rest: isRest,
    ...moneyWire(sums, withCost),
  };
}

function sumsWire(sums: Sums): Of<typeof TOTAL> {
  return wireOf(TOTAL, { ...sums, tokens: sums.inputTokens });
}

function moneyWire(sums: Sums, withCost: boolean): Of<typeof MARGIN_TOTAL> {
  const { quota, cost } = sums;
  return { ...sumsWire(sums), ...(withCost ? { cost, margin: quota - cost } : {}) };
}

export function summaryWire(summary: Summary): SummaryWire {
  const { p50, p95, p99 } = summary;
  return { ...sumsWire(summary), p50: rounded(p50), p95: rounded(p95), p99: rounded(p99) };
}

/** The bounds of a histogram are far apart: three digits are already more than it can tell. */
export function rounded(ms: number | undefined): number | null {
  return ms === undefined ? null : Number(ms.toPrecision(3));
}
