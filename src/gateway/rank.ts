import type { Candidate } from '../core/channel.js';
import type { Documents } from '../core/documents.js';
import type { Misfit, Room } from '../core/eligibility.js';
import type { RankedRow, ReportedUsage, RerankOptions, WrittenRows } from '../core/rerank.js';
import type { Selection } from '../core/model-rules.js';
import type { UpstreamFailure } from '../core/retry.js';
import type { Slides } from '../core/slides.js';
import type { WindowLimits } from '../core/split.js';
import type { ScoreScale } from '../providers/provider.js';
import type { Route } from './route.js';
import type { Scope } from './scope.js';
import type { ServedBy, Trace } from './trace.js';

/** What is to be ranked. Layers make new jobs from it: fewer documents, another model, a part of its life. */
export interface Job {
  readonly requestId: string;
  /** Who asks, and what bounds the answer besides the job itself: rankings are shared inside one owner alone. */
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
  /** Whether the key may get a ranking of another model in place of the one that it asked for. */
  readonly mayAnswer: (model: string) => boolean;
  readonly scope: Scope;
  /** Attempts are added to it; nothing in it is overwritten. */
  readonly trace: Trace;
  /** Where parts of a list that its channel failed to rank may go; absent where the list is not cut. */
  readonly elsewhere?: Pick<Candidates, 'twinOf' | 'heard'> | undefined;
  /** Bound of one attempt, where it has to leave time for another. */
  readonly mostMs?: number | undefined;
  /** How old a kept ranking may be; 0: only a fresh one will do; absent: as old as the model's rule says. */
  readonly mayBeOldMs?: number | undefined;
  /** Whether a channel is asked although it, or its tag, is switched off: for trials that an admin makes. */
  readonly ignoresSwitches?: boolean | undefined;
}

export interface Ranking {
  readonly rows: readonly RankedRow[];
  readonly usage: ReportedUsage | undefined;
  /** What a caller should know of the scores. */
  readonly warnings: readonly string[];
  /** Rows as the upstream wrote them, which may be these. */
  readonly written: WrittenRows | undefined;
  /** Several where rankings were merged. */
  readonly servedBy: readonly ServedBy[];
  /** The model that answered, where it is not the one that was asked for. */
  readonly model?: string;
  /** Whether a last resort answered, whose scores are no match for the model's. */
  readonly isDegraded?: boolean;
  /** Whether it had been kept from an earlier call. */
  readonly from?: 'cache';
}

/** Why there is no ranking: a value, for layers to decide on. `refusals.ts` puts it into words. */
export type NoRanking =
  /** The input is at fault. */
  | { readonly kind: 'refused'; readonly failure: UpstreamFailure }
  /** Every candidate that was asked has failed. */
  | { readonly kind: 'exhausted'; readonly failures: readonly UpstreamFailure[] }
  /** No channel ever takes such a request. */
  | { readonly kind: 'misfit'; readonly misfits: readonly Misfit[] }
  /** Channels would take it, and none can now. */
  | {
      readonly kind: 'busy';
      /** When one of them may be asked again; 0 where it is as busy as it may be. */
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
  /** Nothing was sent, or nobody waits for it any more: as if the channel had not been chosen. */
  | { readonly kind: 'withdrawn' };

/** What a model reads, and what becomes of longer documents. */
export interface Reads {
  /** Of query and document together. */
  readonly pairTokens: number;
  /** Of a document, where that is less. */
  readonly documentTokens: number | undefined;
  /** Whether they are ranked by the best of their passages. */
  readonly chunks: boolean;
  /** Whether they are cut here, since the provider would refuse them; else it cuts them. */
  readonly cuts: boolean;
}

/** A channel as it serves one model: whatever does not depend on the request, worked out when channels change. */
export interface Offer extends Candidate {
  readonly route: Route;
  /** The upstream's name of the model. */
  readonly upstreamModel: string;
  /** What it takes of documents and text. */
  readonly room: Room;
  /** What the model reads of long documents, where something is to be done about it. */
  readonly reads: Reads | undefined;
  /** How longer lists are shown to a model that ranks all documents together; `undefined` where they are not divided. */
  readonly slides: Slides | undefined;
  /** What one window may hold, where longer lists are split and merged; `undefined` where they are not. */
  readonly window: WindowLimits | undefined;
  readonly scale: ScoreScale;
  readonly servedBy: readonly [ServedBy];
}

/** The channels of one job, best first, each at most once. */
export interface Candidates {
  /** The next channel to ask; `undefined` when none is left that can serve the job now. */
  next(): Offer | undefined;
  /** What became of an offer that `next` gave out. */
  heard(offer: Offer, outcome: AttemptOutcome): void;
  /** Whether there is another one now, which `next` would give. */
  hasMore(): boolean;
  /** The next one whose scores can stand beside those of an offer: the same model of the same provider, set alike. */
  twinOf(offer: Offer): Offer | undefined;
  /** Lets channels be asked once more whose failure may have passed. */
  again(): void;
  whyNone(): NoRanking;
}

/** Ranks for a model. @throws GatewayError when the job's scope ends first. */
export type Rank = (job: Job) => Promise<Outcome>;
/** Ranks by one channel. @throws GatewayError when the job's scope ends first. */
export type Attempt = (offer: Offer, job: Job) => Promise<AttemptOutcome>;
/** One step of failover: asks the next candidate, or several; `undefined` when there is none. */
export type Turn = (job: Job, candidates: Candidates) => Promise<AttemptOutcome | undefined>;

/** What is done for a model, from its offers and its rules. */
export interface Plan {
  readonly rank: Rank;
  /** The same without its fallbacks to other models. */
  readonly rankAlone: Rank;
  /** Asks one offer and no other, as traffic would be sent to it. */
  readonly ask: Attempt;
  /** What becomes of a request on its way to one channel, ahead of the call itself. */
  readonly shaped: Layer<Attempt>;
  readonly select: Selection;
  /** Models whose ranking the caller may get, this one first. */
  readonly answers: readonly string[];
  /** Whether nothing but a ranker without a model stands behind it. */
  readonly isLastResort: boolean;
  /** Every usable channel of the model, live or not. */
  readonly offers: readonly Offer[];
  /** Those that take traffic, ready to be chosen from. */
  readonly tiers: readonly Tier[];
}

/** Live offers of one priority. */
export interface Tier {
  readonly offers: readonly Offer[];
  /** Sums of the weights up to and with each offer. */
  readonly cumulative: Float64Array;
}

/** How much a node knows of the store's channels, and how fresh it is. */
export interface Freshness {
  isFresh(): boolean;
  /** @throws GatewayError when the store cannot be asked. */
  ensureFresh(): Promise<void>;
}

export type Layer<F> = (next: F) => F;

/** Wraps `inner` into layers; the first is the outermost. What is switched off is not there, and costs nothing. */
export function stack<F>(inner: F, ...layers: readonly (Layer<F> | false | undefined)[]): F {
  return layers.reduceRight<F>(
    (next, layer) => (layer === false || layer === undefined ? next : layer(next)),
    inner,
  );
}
