import type { Layer, Plan, Rank } from '../rank.js';

/**
 * Tries other models, in turn, if no channel of the model gave a ranking. A refusal of the input is final: another model
 * would get the same input. `planOf` finds the plan in force; a fallback without one is skipped.
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
      const isDegraded = ranking.isDegraded === true || plan.isLastResort;
      return { kind: 'ranked', ranking: { ...ranking, model, isDegraded } };
    }
    // The caller learns about the model that it asked for.
    return first;
  };
}
