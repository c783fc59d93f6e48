/** How one of several equally good channels is chosen. */
export const SELECTIONS = ['weighted', 'least_busy', 'fastest', 'cheapest', 'sticky'] as const;
/**
 * `weighted`: at random by weight. `least_busy`: of two drawn by weight, the one with fewer attempts in flight. `fastest`:
 * of two, the one that should answer sooner, judging by recent answers and by how many requests are waiting for it.
 * `cheapest`: by weight among those that cost the least; dearer ones only while none of these can serve.
 * `sticky`: always the same one for the same key.
 */
export type Selection = (typeof SELECTIONS)[number];

/** What is done for a model besides trying its channels in turn. */
export interface ModelRules {
  readonly select: Selection;
  /** Models that are tried in turn if no channel of this one gave a ranking. */
  readonly fallbacks: readonly string[];
  /** Whether lists beyond a channel's limits are split into windows and merged; pointwise models only. */
  readonly split: boolean;
  /** Whether a slow attempt gets a second one alongside it. */
  readonly hedge: boolean;
  /** Whether identical calls that are in flight at the same time share one ranking. */
  readonly coalesce: boolean;
  /** How long a ranking answers identical calls; 0: never. */
  readonly cacheTtlMs: number;
  /** Whether it does so on all nodes, by way of the store. */
  readonly cacheShared: boolean;
  /** How long a request may wait while every channel is at its limit; 0: not at all. */
  readonly queueMs: number;
}
