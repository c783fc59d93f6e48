import { InvalidArgumentError, Option, type Command } from 'commander';
import type { Client, InputOf, ReplyOf } from '../client/client.js';
import { forecast, forecastSpan } from '../core/forecast.js';
import { UNITS_PER_DOLLAR } from '../core/figures.js';
import { present } from '../core/records.js';
import { dayOf, isTimeZone, startOfDay, timeOf, type CalendarDay } from '../core/time-zone.js';
import { BREAKDOWN_GROUPS, type BreakdownGroup } from '../management/usage-breakdown.js';
import type { BreakdownRowWire } from '../shapes/stats.js';
import { namedUser, seesAll } from './accounts.js';
import { UsageError } from './errors.js';
import { asList, type Columns } from './listing.js';
import { addReconcileCommand } from './reconcile.js';
import { onGateway, type CliIo, type Session } from './session.js';
import { amount, counted, facts, moment } from './text.js';
import { past } from './values.js';

interface SpendOptions {
  readonly by: BreakdownGroup;
  readonly then?: BreakdownGroup;
  readonly user?: string;
  readonly label?: string;
  readonly since?: When;
  readonly until?: When;
  readonly month?: Month;
  readonly timeZone: string;
  readonly forecast?: true;
}

/** In unix seconds, or a day, which begins where the report's time zone says. */
type When = number | CalendarDay;

interface Month {
  readonly year: number;
  readonly month: number;
}

const MONTH_S = 30 * 24 * 3_600;
/** Groups whose rows are listed in their order. */
const TIMES: readonly BreakdownGroup[] = ['hour', 'day', 'month'];
const SUMS = {
  requests: ({ requests }) => requests,
  failed: ({ failed }) => failed,
  documents: ({ documents }) => documents,
  tokens: ({ tokens }) => tokens,
  quota: ({ quota: units }) => ({ units }),
  dollars: ({ quota }) => quota / UNITS_PER_DOLLAR,
} satisfies Columns<Totals>;
/** For those who see the spending of everybody. */
const MARGIN = {
  cost: ({ cost: units = 0 }) => ({ units }),
  margin: ({ margin: units = 0 }) => ({ units }),
  'cost-dollars': ({ cost = 0 }) => cost / UNITS_PER_DOLLAR,
  'margin-dollars': ({ margin = 0 }) => margin / UNITS_PER_DOLLAR,
} satisfies Columns<Totals>;

export function addCommands(program: Command, io: CliIo): void {
  const choices = [...BREAKDOWN_GROUPS];
  const spend = asList(program.command('spend'), columnsOf(['user'], 'UTC'))
    .addOption(new Option('--by <what>', 'a row for each').choices(choices).default('user'))
    .addOption(new Option('--then <what>', 'and in it, a row for each').choices(choices))
    .option('--user <user>', 'of this account: id, name or address')
    .option('--label <label>', 'with --by label: the label, such as team; team=search: of it alone')
    .option(
      '--since <when>',
      'since when: 30d for the last 30 days, or a date (default: 30d)',
      pastOrDay(io.now),
    )
    .option('--until <when>', 'until when (default: now)', pastOrDay(io.now))
    .addOption(
      new Option('--month <month>', 'of this month, such as 2026-10')
        .argParser(monthOf)
        .conflicts(['since', 'until']),
    )
    .option(
      '--time-zone <zone>',
      'where days, months and dates begin: Europe/Berlin',
      zoneOf,
      'UTC',
    )
    .addOption(
      new Option(
        '--forecast',
        'what this month will have cost at its end, at the rate of the last seven days',
      ).conflicts(['month', 'since', 'until', 'then', 'csv']),
    )
    .action(
      onGateway(io, (session, command) => {
        const options = command.opts<SpendOptions>();
        const run = options.forecast === true ? showForecast : showSpending;
        return run(session, options, io.now());
      }),
    );
  addReconcileCommand(spend, io, spanOf);
}

async function showForecast(
  { client, show }: Session,
  { user, label, timeZone }: SpendOptions,
  nowMs: number,
): Promise<void> {
  const { fromMs, monthMs } = forecastSpan(nowMs, timeZone);
  const span = { start_timestamp: fromMs / 1_000, end_timestamp: Math.floor(nowMs / 1_000) + 1 };
  const asked = { by: 'day' as const, ...span, ...present({ label }), time_zone: timeZone };
  const { rows, complete_from: since } = await breakdownOf(client, asked, user);
  const days = rows.map(({ day, quota }) => ({ startMs: (day ?? 0) * 1_000, units: quota }));
  const knownFromMs = since === null ? nowMs : since * 1_000;
  const { spent, perDay, days: rateDays, total } = forecast(days, nowMs, timeZone, knownFromMs);
  const month = timeOf(monthMs, timeZone).slice(0, 'yyyy-mm'.length);
  const of = rateDays === 0 ? 'today' : `the last ${counted(rateDays, 'whole day')}`;
  show(
    { month, time_zone: timeZone, spent, per_day: perDay, rate_days: rateDays, forecast: total },
    facts([
      [`spent in ${month}`, amount(spent)],
      ['a day', `${amount(perDay)}, by ${of}`],
      ['at its end', `${amount(total)}: spent, and that rate for the days that are left`],
    ]),
  );
}

async function showSpending(
  { client, list }: Session,
  { by, then, user, label, since, until, month, timeZone }: SpendOptions,
  nowMs: number,
): Promise<void> {
  const groups = then === undefined || then === by ? [by] : [by, then];
  if (label === undefined && groups.includes('label')) {
    throw new UsageError('Name the label to group by: --label team.');
  }
  const end = secondsOf(until, timeZone) ?? Math.floor(nowMs / 1_000) + 1;
  const span =
    month === undefined
      ? { start_timestamp: secondsOf(since, timeZone) ?? end - MONTH_S, end_timestamp: end }
      : spanOf(month, timeZone);
  const asked = { by, then: groups[1], ...span, ...present({ label }), time_zone: timeZone };
  const breakdown = await breakdownOf(client, asked, user);
  const { total } = breakdown;
  const rows = inOrder(breakdown.rows, by);
  await list<SpendRow>({
    columns: columnsOf(groups, timeZone, total.cost !== undefined),
    rows,
    none: `Nothing was spent in that time on ${client.place}.`,
    json: breakdown,
    entries: 'rows',
    sum: { ...total, is_total: true },
    extra: ['dollars', 'cost-dollars', 'margin-dollars'],
  });
}

type Totals = ReplyOf<'usageBreakdown'>['total'];
type SpendRow = BreakdownRowWire | (Totals & { readonly is_total: true });

/** A column for each group, and the sums. */
function columnsOf(
  groups: readonly BreakdownGroup[],
  timeZone: string,
  withCost = true,
): Columns<SpendRow> {
  const named = groups.map((group, at) => [
    group,
    (row: SpendRow) =>
      'is_total' in row ? (at === 0 ? 'total' : null) : nameOf(row, group, timeZone),
  ]);
  const sums = withCost ? { ...SUMS, ...MARGIN } : SUMS;
  return { ...(Object.fromEntries(named) as Columns<SpendRow>), ...sums };
}

function pastOrDay(now: () => number): (text: string) => When {
  return (text) => {
    const seconds = past(now)(text);
    return /^\d{4}-\d\d-\d\d$/.test(text) ? dayOf(seconds * 1_000, 'UTC') : seconds;
  };
}

function secondsOf(when: When | undefined, timeZone: string): number | undefined {
  return typeof when === 'object' ? startOfDay(when, timeZone) / 1_000 : when;
}

function monthOf(text: string): Month {
  const [, year, month] = /^(\d{4})-(0[1-9]|1[0-2])$/.exec(text) ?? [];
  if (month === undefined) throw new InvalidArgumentError('Give a month such as 2026-10.');
  return { year: Number(year), month: Number(month) };
}

function zoneOf(text: string): string {
  if (isTimeZone(text)) return text;
  throw new InvalidArgumentError('Give the name of a time zone, such as UTC or Europe/Berlin.');
}

function spanOf({ year, month }: Month, timeZone: string) {
  const [start, end] = [month, month + 1].map((each) =>
    startOfDay({ year, month: each, date: 1 }, timeZone),
  ) as [number, number];
  return { start_timestamp: start / 1_000, end_timestamp: end / 1_000 };
}

/** Rows of hours, days and months by time; others as they come. */
function inOrder(rows: readonly BreakdownRowWire[], by: BreakdownGroup): BreakdownRowWire[] {
  if (!TIMES.includes(by)) return [...rows];
  const timeOf = ({ hour, day, month }: BreakdownRowWire): number =>
    hour ?? day ?? month ?? Infinity;
  return rows.toSorted((one, other) => timeOf(one) - timeOf(other));
}

type Breakdown = NonNullable<InputOf<'usageBreakdown'>['query']>;

/** Spending of everybody, of one account, or of one's own for those who see no other. */
async function breakdownOf(
  client: Client,
  asked: Breakdown,
  user: string | undefined,
): Promise<ReplyOf<'usageBreakdown'>> {
  // Those who see only their own can name no other account.
  const owner = user === undefined ? undefined : (await namedUser(client, user)).id;
  if (await seesAll(client)) {
    return client.call('usageBreakdown', { query: { ...asked, user_id: owner } });
  }
  // One's own spending has one user.
  const { by, ...others } = asked;
  const groups = by === 'user' || by === undefined ? {} : { by };
  return client.call('ownUsageBreakdown', { query: { ...others, ...groups } });
}

function nameOrId(name: string | null, id: number | null): string {
  return name ?? String(id ?? '');
}

/** The beginning of a day or month, as much of it as there is in `form`. */
function beginning(seconds: number | null, timeZone: string, form: string): string {
  return seconds === null ? '' : timeOf(seconds * 1_000, timeZone).slice(0, form.length);
}

/** The group that a row is about, by its name if it has one. */
function nameOf(row: BreakdownRowWire, group: BreakdownGroup, timeZone: string): string {
  if (row.is_rest) return 'others';
  switch (group) {
    case 'user':
      return nameOrId(row.username, row.user_id);
    case 'token':
      return nameOrId(row.token_name, row.token_id);
    case 'channel':
      return nameOrId(row.channel, row.channel_id);
    case 'hour':
      return row.hour === null ? '' : moment(row.hour);
    case 'day':
      return beginning(row.day, timeZone, 'yyyy-mm-dd');
    case 'month':
      return beginning(row.month, timeZone, 'yyyy-mm');
    case 'label':
    case 'model':
    case 'provider':
    case 'tag':
      return row[group] ?? '';
  }
}
