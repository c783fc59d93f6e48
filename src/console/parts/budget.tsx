import type { ReplyOf } from '../api/call.js';
import { wp } from '../words.js';
import { factOf, type Shown } from './shown.js';
import { Meter, Moment, Money } from './values.js';

type Budgeted = Pick<
  ReplyOf<'getToken'>,
  'budget' | 'budget_period' | 'budget_time_zone' | 'budget_spent' | 'budget_renews_at'
>;

const LOW = 0.05;

/** The state of a renewable budget; nothing if there is none. */
export function budgetFacts<One extends Budgeted>(): readonly Shown<One>[] {
  const words = wp().budget;
  return [
    {
      ...factOf<One>(
        words.periods.month,
        ({ budget, budget_spent: spent, budget_renews_at: at }) => {
          if (at === null) return undefined;
          const share = Math.max(0, budget - spent) / budget;
          return (
            <>
              <Meter share={share} low={share < LOW} /> <Money units={spent} /> /{' '}
              <Money units={budget} />
            </>
          );
        },
      ),
      label: ({ budget_period: period }) => words.periods[period],
    },
    factOf(words.renews, ({ budget_renews_at: at, budget_time_zone: zone }) =>
      at === null ? undefined : (
        <>
          <Moment seconds={at} /> ({zone})
        </>
      ),
    ),
  ];
}
