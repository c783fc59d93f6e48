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
  /** Of being asked first among those of its priority. */
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
  'too_many_documents',
  'too_long',
  'no_images',
  'other_models',
] as const;

export interface PassedOver extends ExplainedChannel {
  readonly because: (typeof PASSED_OVER_BECAUSE)[number];
  /** For people, with whatever numbers there are. */
  readonly message: string;
  /** Who switched it off, and when in unix seconds; where that is known. */
  readonly by?: string | undefined;
  readonly since?: number | undefined;
  /** When it may be asked again, in unix milliseconds. */
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
}

/** A request as it would leave, without what tells whose account is used. */
export interface Outgoing {
  readonly url: string;
  readonly method: string;
  /** Values that depend on credentials are hidden. */
  readonly headers: Readonly<Record<string, string>>;
  /** The beginning of the body. */
  readonly body: string;
  readonly bodyBytes: number;
}

/** What would become of a request at this moment. */
export interface Explanation extends ExplainedModel {
  /** The form that it is in; `undefined` where it has none yet. */
  readonly dialect: string | undefined;
  /** As the request names it. */
  readonly asked: string;
  readonly tag: string | undefined;
  readonly documents: number;
  /** Why it would be refused. */
  readonly refusal:
    { readonly code: ErrorCode; readonly status: number; readonly message: string } | undefined;
  /** Models that are asked in turn where this one gives no ranking. */
  readonly fallbacks: readonly ExplainedModel[];
  /** Of the first candidate; `undefined` where there is none, or where it ranks inside the gateway. */
  readonly outgoing: Outgoing | undefined;
  readonly cost: {
    readonly price: Price;
    /** By the price of the model, as far as the request tells. */
    readonly estimated: number;
    /** What is set aside until the real cost is known. */
    readonly reserved: number;
  };
}
