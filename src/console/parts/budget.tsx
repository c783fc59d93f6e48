import type { ReplyOf } from '../api/call.js';
import { wp } from '../words.js';
import { Meter, Moment, Money } from './values.js';

type Budgeted = Pick<
  ReplyOf<'getToken'>,
  'budget' | 'budget_period' | 'budget_time_zone' | 'budget_spent' | 'budget_renews_at'
>;

const LOW = 0.05;

/** Rows for a list of facts: the state of a renewable budget; none if there is no budget. */
export function BudgetFacts({ of }: { readonly of: Budgeted }) {
  const { budget, budget_spent: spent, budget_renews_at: renewsAt } = of;
  if (renewsAt === null) return null;
  const share = Math.max(0, budget - spent) / budget;
  const words = wp().budget;
  return (
    <>
      <dt>{words.periods[of.budget_period]}</dt>
      <dd>
        <Meter share={share} low={share < LOW} /> <Money units={spent} /> / <Money units={budget} />
      </dd>
      <dt>{words.renews}</dt>
      <dd>
        <Moment seconds={renewsAt} /> ({of.budget_time_zone})
      </dd>
    </>
  );
}
