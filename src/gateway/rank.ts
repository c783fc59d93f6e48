import type { Candidate } from '../core/channel.js';
import type { Documents } from '../bytes/index.js';
import type { Misfit, Room } from '../core/eligibility.js';
import type { RankedRow, ReportedUsage, RerankOptions, WrittenRows } from '../core/rerank.js';
import type { Selection } from '../core/model-rules.js';
import type { UpstreamFailure } from '../core/retry.js';
import type { Slides } from '../core/slides.js';
import type { WindowLimits } from '../core/split.js';
import type { ScoreScale } from '../providers/provider.js';
import type { Route } from './channels/route.js';
import type { Scope } from './scope.js';
import type { AttemptSpan } from './trace-context.js';
import type { ServedBy, Trace } from './trace.js';

/** What is to be ranked. Layers derive new jobs from it: fewer documents, another model, a child scope. */
export interface Job {
  readonly requestId: string;
  /** Who asks, plus everything but the job itself that the answer depends on: rankings are shared within one owner only. */
  readonly owner: string;
  /** The key that asks: some models send each key to the same channel. */
  readonly keyId: number;
  /** The caller's name of the model, without a tag. */
  readonly model: string;
  readonly query: string;
  readonly documents: Documents;
  readonly topN: number;
  readonly options: RerankOptions;
  /** Whether the tags of request and key allow a channel. */
  readonly admits: (route: Route) => boolean;
  /** Whether the key may get a ranking of another model in place of the one it asked for. */
  readonly mayAnswer: (model: string) => boolean;
  readonly scope: Scope;
  /** Attempts are added to it; nothing in it is overwritten. */
  readonly trace: Trace;
  /** Called when an upstream has all of a body. */
  readonly onSent?: (() => void) | undefined;
  /** Where parts of a list that its channel failed to rank may go; absent if the list is not split. */
  readonly elsewhere?: Pick<Candidates, 'twinOf' | 'heard'> | undefined;
  /** Time limit of one attempt, if it has to leave time for another. */
  readonly mostMs?: number | undefined;
  /** How old a cached ranking may be; 0: only a fresh one will do; absent: as old as the model's rule says. */
  readonly mayBeOldMs?: number | undefined;
  /** How long its ranking is kept where the model's rule keeps rankings; absent or 0: as long as that rule says. */
  readonly keepMs?: number | undefined;
  /** Whether a channel is asked although it, or its tag, is switched off: for trials that an admin makes. */
  readonly ignoresSwitches?: boolean | undefined;
  /** The attempt in its request's trace; absent if that belongs to none. */
  readonly span?: AttemptSpan | undefined;
}

export interface Ranking {
  readonly rows: readonly RankedRow[];
  readonly usage: ReportedUsage | undefined;
  /** What a caller should know about the scores. */
  readonly warnings: readonly string[];
  /** Rows as the upstream wrote them, which are passed on if nothing changed. */
  readonly written: WrittenRows | undefined;
  /** Several if rankings were merged. */
  readonly servedBy: readonly ServedBy[];
  /** The model that answered, if it is not the one that was asked for. */
  readonly model?: string;
  /** Whether a last resort answered, whose scores are not comparable with the model's. */
  readonly isDegraded?: boolean;
  /** Whether it was cached by an earlier call. */
  readonly from?: 'cache';
}

/** A failure to rank: a value for layers to decide on. `refusals.ts` puts it into words. */
export type NoRanking =
  /** The input is at fault. */
  | { readonly kind: 'refused'; readonly failure: UpstreamFailure }
  /** Every candidate that was tried has failed. */
  | { readonly kind: 'exhausted'; readonly failures: readonly UpstreamFailure[] }
  /** No channel ever takes such a request. */
  | { readonly kind: 'misfit'; readonly misfits: readonly Misfit[] }
  /** Channels would take it, but none can now. */
  | {
      readonly kind: 'busy';
      /** When one of them may be tried again; 0 if it is at its limit. */
      readonly soonestMs: number;
      readonly retryAfterMs: number;
    }
  /** No channel behind the model takes traffic. */
  | { readonly kind: 'switched_off' };

export type Outcome =
  | { readonly kind: 'ranked'; readonly ranking: Ranking }
  | { readonly kind: 'none'; readonly why: NoRanking };

export type AttemptOutcome =
  | { readonly kind: 'ranked'; readonly ranking: Ranking }
  | { readonly kind: 'failed'; readonly failure: UpstreamFailure }
  /** Nothing was sent, or no caller waits for it any more: as if the channel had not been chosen. */
  | { readonly kind: 'withdrawn' };

/** As if the channel had not been chosen. */
export const WITHDRAWN: Extract<AttemptOutcome, { kind: 'withdrawn' }> = { kind: 'withdrawn' };

/** How much a model reads, and what happens to longer documents. */
export interface Reads {
  /** Of query and document together. */
  readonly pairTokens: number;
  /** Of a document, if that is less. */
  readonly documentTokens: number | undefined;
  /** Whether they are ranked by the best of their passages. */
  readonly chunks: boolean;
  /** Whether they are cut here, because the provider would refuse them; otherwise the provider cuts them. */
  readonly cuts: boolean;
}

/** A channel as it serves one model: everything that does not depend on the request, computed when channels change. */
export interface Offer extends Candidate {
  readonly route: Route;
  /** The upstream's name of the model. */
  readonly upstreamModel: string;
  /** How many documents and how much text it takes. */
  readonly room: Room;
  /** What the model reads of long documents, if something must be done about them. */
  readonly reads: Reads | undefined;
  /** How longer lists are shown to a model that ranks all documents together; `undefined` if they are not divided. */
  readonly slides: Slides | undefined;
  /** What one window may hold, if longer lists are split and merged; `undefined` if they are not. */
  readonly window: WindowLimits | undefined;
  readonly scale: ScoreScale;
  readonly servedBy: readonly [ServedBy];
}

/** The channels of one job, best first, each at most once. */
export interface Candidates {
  /** The next channel to try; `undefined` if none is left that can serve the job now. */
  next(): Offer | undefined;
  /** Reports the outcome of an offer that `next` returned. */
  heard(offer: Offer, outcome: AttemptOutcome): void;
  /** Whether `next` would return another one now. */
  hasMore(): boolean;
  /**
   * How long the job's first attempt, on this offer, may take before another one is asked that is at least as good; `undefined`
   * if there is none, or if that is not less than `limitMs`.
   */
  patienceMs(offer: Offer, limitMs: number): number | undefined;
  /**
   * The next one whose scores are comparable with those of an offer: the same model of the same provider, with the same
   * settings.
   */
  twinOf(offer: Offer): Offer | undefined;
  /** Allows channels whose failure may have passed to be tried once more. */
  again(): void;
  whyNone(): NoRanking;
}

/**
 * Ranks for a model.
 * @throws GatewayError when the job's scope ends first.
 */
export type Rank = (job: Job) => Promise<Outcome>;
/**
 * Ranks with one channel.
 * @throws GatewayError when the job's scope ends first.
 */
export type Attempt = (offer: Offer, job: Job) => Promise<AttemptOutcome>;
/** One step of failover: tries the candidate whose turn it is, and others alongside it where that helps. */
export type Turn = (offer: Offer, job: Job, candidates: Candidates) => Promise<AttemptOutcome>;

/** The plan of a model, given its offers and its rules. */
export interface Plan {
  readonly rank: Rank;
  /**
   * Why a request of a key would not be ranked, if that is certain before anything is done for it. Absent if it never is: the
   * model has no queue, or another model or an earlier ranking may answer.
   */
  readonly refusal: ((keyId: number, deadlineMs: number) => NoRanking | undefined) | undefined;
  /** The same without its fallbacks to other models. */
  readonly rankAlone: Rank;
  /** The same with other fallbacks than those of its rule. */
  readonly rankWith: (models: readonly string[]) => Rank;
  /** Asks one offer and no other, as traffic would be sent to it. */
  readonly ask: Attempt;
  /** What happens to a request on its way to one channel, before the call itself. */
  readonly shaped: Layer<Attempt>;
  readonly select: Selection;
  /** Models whose ranking the caller may get, this one first. */
  readonly answers: readonly string[];
  /** Whether only a ranker without a model serves it. */
  readonly isLastResort: boolean;
  /** Every usable channel of the model, live or not. */
  readonly offers: readonly Offer[];
  /** Those that take traffic, ready to be chosen from. */
  readonly tiers: readonly Tier[];
}

/** Live offers of one priority. */
export interface Tier {
  readonly offers: readonly Offer[];
  /** Sums of the weights up to and including each offer. */
  readonly cumulative: Float64Array;
}

/** How much a node knows about the store's channels, and how fresh that is. */
export interface Freshness {
  isFresh(): boolean;
  /** @throws GatewayError if the store cannot be asked. */
  ensureFresh(): Promise<void>;
}

export type Layer<F> = (next: F) => F;

/** Wraps `inner` in layers; the first is the outermost. What is switched off is absent, and costs nothing. */
export function stack<F>(inner: F, ...layers: readonly (Layer<F> | false | undefined)[]): F {
  return layers.reduceRight<F>(
    (next, layer) => (layer === false || layer === undefined ? next : layer(next)),
    inner,
  );
}
