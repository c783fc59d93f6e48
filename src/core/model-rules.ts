/** How one of several equally good channels is chosen. */
const SELECTIONS = ['weighted', 'least_busy', 'fastest', 'cheapest', 'sticky'] as const;
/**
 * `weighted`: at random by weight. `least_busy`: of two drawn by weight, the one with fewer attempts in flight. `fastest`:
 * of two, the one that should answer sooner, judging by recent answers and by how many requests are waiting for it.
 * `cheapest`: by weight among those that cost the least; dearer ones only while none of these can serve.
 * `sticky`: always the same one for the same key.
 */
export type Selection = (typeof SELECTIONS)[number];

interface RuleText {
  /** What it means, for docs/configuration.md; without a full stop. */
  readonly help: string;
}

type RuleSpec = RuleText &
  (
    | { readonly type: 'choice'; readonly choices: readonly string[]; readonly default: string }
    | { readonly type: 'boolean'; readonly default: boolean }
    /** Milliseconds; 0: not at all. */
    | { readonly type: 'milliseconds'; readonly default: number }
    | { readonly type: 'models'; readonly default: readonly string[] }
  );

/**
 * The rules of a model besides trying its channels in turn, one row each. Settings, their defaults and the table in
 * docs/configuration.md are generated from it; `gateway/plan.ts` reads it.
 */
const MODEL_RULES = {
  select: {
    type: 'choice',
    choices: SELECTIONS,
    default: 'weighted',
    help: 'How to choose among channels of the same priority',
  },
  fallbacks: {
    type: 'models',
    default: [],
    help: 'Models to try in turn when no channel of this one returns a ranking',
  },
  split: {
    type: 'boolean',
    default: true,
    help: "Whether lists beyond a channel's limits are sent in windows and merged; only for models with pointwise scores",
  },
  hedge: {
    type: 'boolean',
    default: false,
    help: 'Whether an attempt slower than 95 of 100 recent ones is joined by a second one on another channel',
  },
  coalesce: {
    type: 'boolean',
    default: false,
    help: 'Whether identical calls of one account that are in flight together share one ranking; each is charged',
  },
  cacheTtlMs: {
    type: 'milliseconds',
    default: 0,
    help: 'How long a kept ranking answers identical calls of the same account; `0`: not at all',
  },
  cacheShared: {
    type: 'boolean',
    default: false,
    help: 'Whether kept rankings are shared by all nodes, through the store',
  },
  queueMs: {
    type: 'milliseconds',
    default: 0,
    help: 'How long a request may wait when every channel is at its `max_concurrency`; `0`: it is refused at once',
  },
} as const satisfies Readonly<Record<string, RuleSpec>>;

type RuleValue<S extends RuleSpec> = S extends { readonly choices: readonly (infer C)[] }
  ? C
  : S['type'] extends 'boolean'
    ? boolean
    : S['type'] extends 'models'
      ? readonly string[]
      : number;

type Specs = typeof MODEL_RULES;

export type ModelRules = { readonly [K in keyof Specs]: RuleValue<Specs[K]> };

/** The rows in their order. */
export const RULE_ROWS = Object.entries<RuleSpec>(MODEL_RULES).map(([name, spec]) => ({
  name,
  ...spec,
}));

/** The rules of a model without its own. */
export const DEFAULT_RULES = Object.fromEntries(
  RULE_ROWS.map(({ name, default: value }) => [name, value]),
  // Each name has the default of its row, whose type is the rule's.
) as ModelRules;
