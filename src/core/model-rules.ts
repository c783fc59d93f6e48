/** How one of several equally good channels is chosen. */
export const SELECTIONS = ['weighted', 'least_busy', 'fastest', 'sticky'] as const;
/**
 * `weighted`: at random by weight. `least_busy`: of two drawn by weight the one with fewer attempts under way. `fastest`:
 * of two the one whose recent answers, by how many wait for it, came sooner. `sticky`: the same for the same key.
 */
export type Selection = (typeof SELECTIONS)[number];

/** What is done for a model besides asking one channel after the other. */
export interface ModelRules {
  readonly select: Selection;
  /** Models that are asked in turn when no channel of this one gave a ranking. */
  readonly fallbacks: readonly string[];
  /** Whether lists beyond a channel's limits go out in windows and are merged; pointwise models only. */
  readonly split: boolean;
  /** Whether a slow attempt gets a second one beside it. */
  readonly hedge: boolean;
  /** Whether identical calls that are under way at the same time share one ranking. */
  readonly coalesce: boolean;
  /** How long a ranking answers identical calls; 0: not at all. */
  readonly cacheTtlMs: number;
  /** How long a request may wait where every channel has as much to do as it may have; 0: not at all. */
  readonly queueMs: number;
}
