import Joi from 'joi';
import { standingOf, type BudgetMembers, type BudgetUse } from '../core/budget.js';
import { MAX_QUOTA } from '../core/quota.js';

/** A budget's standing on the wire; the members that set the budget are sent beside it. */
export interface BudgetUseWire {
  /** Units, including those reserved for requests in progress; 0 without a budget. */
  budget_spent: number;
  /** Unix seconds; null without a budget. */
  budget_renews_at: number | null;
}

/** The members of `BudgetUseWire` for the schema of a reply. */
export const BUDGET_USE_REPLY = {
  budget_spent: Joi.number()
    .integer()
    .min(0)
    .max(MAX_QUOTA)
    .required()
    .description('Units of the budget that are spent or reserved in this period.'),
  budget_renews_at: Joi.number()
    .integer()
    .allow(null)
    .required()
    .description('When the next period begins, in unix seconds; null where there is no budget.'),
};

export function budgetUseWire(
  members: BudgetMembers,
  use: BudgetUse,
  nowMs: number,
): BudgetUseWire {
  const standing = standingOf(members, use, nowMs);
  return {
    budget_spent: standing?.spent ?? 0,
    budget_renews_at: standing === undefined ? null : Math.floor(standing.renewsAtMs / 1000),
  };
}
