import type Joi from 'joi';
import type { GatewayError } from '../core/errors.js';
import type { JsonFragment } from '../core/json/json.js';
import type { RankedRow, RerankRequest, Usage, WrittenRows } from '../core/rerank.js';
import type { IngressRequest, RequestHeaders } from './read.js';

/** A request as it was read: the model may still come from the key or the configuration. */
export interface ParsedRerank<Kept = unknown> extends Omit<RerankRequest, 'model'> {
  readonly model: string | undefined;
  /** What the reply needs of the request beyond that. */
  readonly kept?: Kept;
}

/** A ranking that is to be written. */
export interface Ranking {
  readonly rows: readonly RankedRow[];
  readonly usage: Usage;
  readonly warnings: readonly string[];
  /** Rows as the upstream wrote them, which may be these. */
  readonly written: WrittenRows | undefined;
  /** Whether a last resort answered, whose scores are no match for the model's. */
  readonly isDegraded?: boolean;
}

/** An error in a dialect's own form. */
export interface IngressError {
  readonly body: string;
  /** Where the original answers with another status than the gateway would. */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

/** When a reply is written. */
export interface ReplyClock {
  readonly nowMs: number;
  /** Since the request came. */
  readonly elapsedMs: number;
}

/** How a request on a path that several dialects share is recognised. */
export interface Claim {
  /** The member that holds the documents. Of those that claim the same one, the first whose `marks` match speaks. */
  readonly list: string;
  /** Whether the headers alone tell; known before the body is read. */
  readonly byHeaders?: (headers: RequestHeaders) => boolean;
  /** Whether the members of the body tell. */
  readonly byMembers?: (members: Readonly<Record<string, unknown>>) => boolean;
}

/**
 * A form in which callers ask and are answered: one small pure file, the mirror of a provider. Nothing behind it knows
 * which one was spoken. `Kept` is what its reply needs of the request beyond what every request has.
 */
export interface IngressDialect<Kept = unknown> {
  /** Names it in settings of keys, in fixtures and in the log. */
  readonly id: string;
  /** The clients that speak it, for people. */
  readonly title: string;
  /**
   * Paths that are its own, with the one that documents name first: `{model}` stands for one segment, `{model+}` for one or
   * more. A leading version may be left out or written twice.
   */
  readonly paths: readonly string[];
  /** How it is told apart on the paths that it shares; absent where it has none, or where a key's setting alone selects it. */
  readonly claim?: Claim;
  /** @throws GatewayError 400 or 413 that names the member, what is wrong with it and what would be right. */
  readonly parse: (request: IngressRequest) => ParsedRerank<Kept>;
  /** What `parse` judges the members of a body by, for the API's document. */
  readonly members?: Joi.Schema;
  /** Bodies as its clients send them, one for each form that its replies have: its document is made from them. */
  readonly examples: readonly [object, ...object[]];
  /** The body of a ranking. The clock is read for a dialect that is `timed`, and stands still for every other. */
  readonly reply: (
    id: string,
    request: RerankRequest,
    ranking: Ranking,
    kept: Kept,
    clock: ReplyClock,
  ) => string | Buffer | JsonFragment;
  readonly error: (error: GatewayError, requestId: string) => IngressError;
  /** Headers that its replies have, errors included, beyond those that all have. */
  readonly headers?: (requestId: string) => Readonly<Record<string, string>>;
  readonly timed?: true;
  /** Whether its replies are lists, which nothing can be added to. */
  readonly listed?: true;
}

/** A dialect with the type of what it keeps left out: the exchange hands `reply` what `parse` has made. */
export function defineDialect<Kept>(dialect: IngressDialect<Kept>): IngressDialect {
  return dialect as IngressDialect;
}
