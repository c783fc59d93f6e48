import type { Layer, Plan, Rank } from '../rank.js';

/**
 * Asks other models, in turn, where no channel of the model gave a ranking. A refusal of the input is final: another
 * model would be asked the same. `planOf` finds the plan in force; a fallback without one is passed over.
 */
export function fallbacks(
  models: readonly string[],
  planOf: (model: string) => Plan | undefined,
): Layer<Rank> {
  return (next) => async (job) => {
    const first = await next(job);
    if (first.kind === 'ranked' || first.why.kind === 'refused') return first;
    for (const model of models) {
      const plan = planOf(model);
      if (plan === undefined || !job.mayAnswer(model)) continue;
      const outcome = await plan.rankAlone({ ...job, model });
      if (outcome.kind !== 'ranked') continue;
      const { ranking } = outcome;
      return { kind: 'ranked', ranking: { ...ranking, model, isDegraded: plan.isLastResort } };
    }
    // What the caller asked for is what it hears of.
    return first;
  };
}
