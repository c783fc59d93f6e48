import Joi from 'joi';
import { standingOf, type BudgetMembers, type BudgetUse } from '../core/budget.js';
import { MAX_QUOTA } from '../core/quota.js';
import { nullable } from './shape.js';

/** A budget's standing on the wire; the members that set the budget are sent beside it. */
export const BUDGET_USE = {
  budget_spent: Joi.number()
    .integer()
    .min(0)
    .max(MAX_QUOTA)
    .description('Units of the budget that are spent or reserved in this period.'),
  budget_renews_at: nullable(Joi.number().integer()).description(
    'When the next period begins, in unix seconds; null where there is no budget.',
  ),
};

/** The same before it goes on the wire. */
export function budgetUse(
  members: BudgetMembers,
  use: BudgetUse,
  nowMs: number,
): { readonly budgetSpent: number; readonly budgetRenewsAt: number | undefined } {
  const standing = standingOf(members, use, nowMs);
  return {
    budgetSpent: standing?.spent ?? 0,
    budgetRenewsAt: standing && Math.floor(standing.renewsAtMs / 1000),
  };
}
