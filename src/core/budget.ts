import { defaultsOf, type MembersOf, type MemberSpec } from './members.js';
import { dollars, MAX_QUOTA } from './quota.js';
import { dayOf, startOfDay, timeOf, type CalendarDay } from './time-zone.js';

/** What a key, an account, a tag or a channel may spend in each calendar period, one row a member. */
export const BUDGET_MEMBERS = {
  /** Units in each period; 0: no budget. */
  budget: {
    type: 'units',
    least: 0,
    most: MAX_QUOTA,
    default: 0,
    flag: 'budget <amount>',
    label: 'budget',
    title: 'Renewing budget in dollars',
    hint: 'The most that may be spent in each period, besides any balance. Empty: no such limit.',
    unset: 'none',
    help: 'The most that may be spent in each period, in units, whatever the balance; 0: no budget.',
  },
  /** The calendar period with which the budget renews. */
  budgetPeriod: {
    type: 'choice',
    choices: ['day', 'week', 'month'],
    default: 'month',
    flag: 'budget-period <period>',
    label: 'budget period',
    title: 'It renews',
    choiceTitles: {
      day: 'each day',
      week: 'each week, on Monday',
      month: 'each month, on the first',
    },
    help: 'How often the budget renews: each day, each week on Monday, or on the first of each month.',
  },
  /** The IANA zone by whose midnights days, weeks and months begin. */
  budgetTimeZone: {
    type: 'time_zone',
    default: 'UTC',
    flag: 'budget-time-zone <zone>',
    label: 'budget time zone',
    title: 'At midnight in',
    hint: 'Such as Europe/Berlin.',
    help: 'The time zone whose midnight begins a period, such as Europe/Berlin.',
  },
} as const satisfies Readonly<Record<string, MemberSpec>>;

/** No budget. */
export const BUDGET_DEFAULTS = defaultsOf(BUDGET_MEMBERS);

export type BudgetMembers = MembersOf<typeof BUDGET_MEMBERS>;
export type BudgetPeriod = BudgetMembers['budgetPeriod'];
/** What tells the periods of a budget apart. */
export type BudgetTerms = Pick<BudgetMembers, 'budgetPeriod' | 'budgetTimeZone'>;

/** What has been used of a budget, reservations included, in the window that ends at `untilMs`; 0: none was begun. */
export interface BudgetUse {
  readonly spent: number;
  readonly untilMs: number;
}

export const NOTHING_USED: BudgetUse = { spent: 0, untilMs: 0 };

/** A period in unix milliseconds; the end is not part of it. */
export interface BudgetWindow {
  readonly fromMs: number;
  readonly untilMs: number;
}

/** The calendar period that a moment is in. */
export function windowOf(terms: BudgetTerms, nowMs: number): BudgetWindow {
  const { budgetPeriod, budgetTimeZone } = terms;
  const starts = (periods: number): number =>
    startOfDay(firstDay(budgetPeriod, dayOf(nowMs, budgetTimeZone), periods), budgetTimeZone);
  const [fromMs, untilMs] = [starts(0), starts(1)];
  // Where clocks go back over midnight, a moment may be past the day that they show.
  if (nowMs >= untilMs) return { fromMs: untilMs, untilMs: starts(2) };
  return { fromMs, untilMs };
}

/** The first day of the period that is so many after the one of `day`. */
function firstDay(period: BudgetPeriod, day: CalendarDay, periods: number): CalendarDay {
  const { year, month, date } = day;
  switch (period) {
    case 'day':
      return { year, month, date: date + periods };
    case 'week': {
      const sinceMonday = (new Date(Date.UTC(year, month - 1, date)).getUTCDay() + 6) % 7;
      return { year, month, date: date - sinceMonday + 7 * periods };
    }
    case 'month':
      return { year, month: month + periods, date: 1 };
  }
}

/** Whether an amount may be taken: something must be left of the budget, and at least this much. */
export function fitsBudget(
  { budget, spent }: Pick<BudgetStanding, 'budget' | 'spent'>,
  amount: number,
): boolean {
  return spent < budget && spent + amount <= budget;
}

/** What counts as used once a budget has changed: another kind of window starts from zero. */
export function useAfter(before: BudgetMembers, use: BudgetUse, after: BudgetMembers): BudgetUse {
  const stays =
    after.budget > 0 &&
    after.budgetPeriod === before.budgetPeriod &&
    after.budgetTimeZone === before.budgetTimeZone;
  return stays ? use : NOTHING_USED;
}

/** What a charge may take of a budget at most; all, where no window has counted reservations yet. */
export function reachOf(budget: number, { spent, untilMs }: BudgetUse): number {
  return budget > 0 && untilMs > 0 ? budget - spent : Infinity;
}

/** A budget as it stands at a moment. */
export interface BudgetStanding {
  readonly budget: number;
  readonly period: BudgetPeriod;
  readonly timeZone: string;
  readonly spent: number;
  readonly renewsAtMs: number;
}

/** How a budget stands now; `undefined` where there is none. */
export function standingOf(
  { budget, ...terms }: BudgetMembers,
  use: BudgetUse,
  nowMs: number,
): BudgetStanding | undefined {
  if (budget === 0) return undefined;
  const isBegun = nowMs < use.untilMs;
  return {
    budget,
    period: terms.budgetPeriod,
    timeZone: terms.budgetTimeZone,
    spent: isBegun ? Math.max(0, use.spent) : 0,
    renewsAtMs: isBegun ? use.untilMs : windowOf(terms, nowMs).untilMs,
  };
}

const ADJECTIVES = { day: 'daily', week: 'weekly', month: 'monthly' } as const;

/**
 * Why a budget does not allow an amount, in words for the caller; `owner` is whose budget it is, such as `this API
 * key`.
 */
export function budgetText(standing: BudgetStanding, owner: string, amount: number): string {
  const { budget, period, spent } = standing;
  const adjective = ADJECTIVES[period];
  if (amount > budget) {
    return `This request may cost ${dollars(amount)}, more than the ${adjective} budget of ${owner}: ${dollars(budget)}.`;
  }
  return (
    `The ${adjective} budget of ${owner} does not cover this request, which may cost ${dollars(amount)}: ` +
    `${dollars(spent)} of ${dollars(budget)} are spent. ${renewalText(standing)}`
  );
}

/** When a budget renews, by the clocks of its zone. */
function renewalText({ renewsAtMs, timeZone }: BudgetStanding): string {
  return `It renews on ${timeOf(renewsAtMs, timeZone)} (${timeZone}).`;
}
