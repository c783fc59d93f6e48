import type { ErrorCode } from './errors.js';
import type { Selection } from './model-rules.js';
import type { Price } from './quota.js';

/** A channel as an explanation names it. */
export interface ExplainedChannel {
  readonly id: number;
  readonly name: string;
  readonly provider: string;
  readonly tag: string | undefined;
}

/** A channel that could be asked now. */
export interface ExplainedCandidate extends ExplainedChannel {
  readonly priority: number;
  readonly weight: number;
  /** The probability of being tried first among those of its priority. */
  readonly chance: number;
  readonly upstreamModel: string;
}

/** What keeps a channel from a request. */
export const PASSED_OVER_BECAUSE = [
  'disabled',
  'auto_disabled',
  'tag_disabled',
  'unusable',
  'request_tag',
  'key_tags',
  'cooling',
  'full',
  'at_limit',
  'over_budget',
  'too_many_documents',
  'too_long',
  'no_images',
  'other_models',
] as const;

export interface PassedOver extends ExplainedChannel {
  readonly because: (typeof PASSED_OVER_BECAUSE)[number];
  /** For people, with any numbers that apply. */
  readonly message: string;
  /** Who switched it off, and when in unix seconds, if known. */
  readonly by?: string | undefined;
  readonly since?: number | undefined;
  /** When it may be tried again, in unix milliseconds. */
  readonly untilMs?: number | undefined;
}

/** What a model has to offer a request. */
export interface ExplainedModel {
  readonly model: string;
  /** How one of several equally good channels is chosen. */
  readonly select: Selection | undefined;
  /** In the order in which they are tried. */
  readonly candidates: readonly ExplainedCandidate[];
  readonly passedOver: readonly PassedOver[];
  /** How many more channels, which serve other models, are not among them. */
  readonly morePassedOver: number;
}

/** A request as it would be sent, without anything that reveals whose account is used. */
export interface Outgoing {
  readonly url: string;
  readonly method: string;
  /** Values that depend on credentials are hidden. */
  readonly headers: Readonly<Record<string, string>>;
  /** The beginning of the body. */
  readonly body: string;
  readonly bodyBytes: number;
}

/** The way that a request would take right now. */
export interface Explanation extends ExplainedModel {
  /** The form that it is in; `undefined` if none has been recognised yet. */
  readonly dialect: string | undefined;
  /** As named in the request. */
  readonly asked: string;
  readonly tag: string | undefined;
  readonly documents: number;
  /** Why it would be refused. */
  readonly refusal:
    { readonly code: ErrorCode; readonly status: number; readonly message: string } | undefined;
  /** Models that are tried in turn if this one gives no ranking. */
  readonly fallbacks: readonly ExplainedModel[];
  /** For the first candidate; `undefined` if there is none, or if it ranks inside the gateway. */
  readonly outgoing: Outgoing | undefined;
  readonly cost: {
    readonly price: Price;
    /** By the model's price, as far as the request allows an estimate. */
    readonly estimated: number;
    /** The amount reserved until the real cost is known. */
    readonly reserved: number;
  };
}
