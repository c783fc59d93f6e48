import type Joi from 'joi';
import type { GatewayError } from '../core/errors.js';
import type { Documents, JsonBody, ListPlace } from '../bytes/index.js';
import type { RankedRow, RerankRequest, Usage, WrittenRows } from '../core/rerank.js';
import {
  findDocuments,
  type IngressRequest,
  type RequestHeaders,
  type WantedList,
} from './read.js';

/** A request as read: the model may still come from the key or the configuration. */
export interface ParsedRerank<Kept = unknown> extends Omit<RerankRequest, 'model'> {
  readonly model: string | undefined;
  /** Anything else of the request that the reply needs. */
  readonly kept?: Kept;
}

/** What a request asks for, but for its documents. */
export interface Asked<Kept = unknown> {
  readonly list: WantedList;
  /** The request, once the documents of the list have been found. */
  readonly found: (documents: Documents) => ParsedRerank<Kept>;
}

/** A ranking to write. */
export interface Ranking {
  readonly rows: readonly RankedRow[];
  readonly usage: Usage;
  readonly warnings: readonly string[];
  /** Rows as the upstream wrote them, possibly the same as `rows`. */
  readonly written: WrittenRows | undefined;
  /** Whether a last resort answered, whose scores are not comparable with the model's. */
  readonly isDegraded?: boolean;
}

/** An error in a dialect's own form. */
export interface IngressError {
  readonly body: string;
  /** Set if the original's status differs from the gateway's. */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The time at which a reply is written. */
export interface ReplyClock {
  readonly nowMs: number;
  /** Since the request arrived. */
  readonly elapsedMs: number;
}

/** How a request on a path that several dialects share is recognised. */
export interface Claim {
  /** The member that holds the documents. Of the dialects with the same one, the first that recognises the request reads it. */
  readonly list: string;
  /** Whether the headers alone identify it; known before the body is read. */
  readonly byHeaders?: (headers: RequestHeaders) => boolean;
  /** Whether the members of the body identify it. */
  readonly byMembers?: (members: Readonly<Record<string, unknown>>) => boolean;
}

/**
 * A form of requests and replies: one small pure file, the mirror of a provider. Nothing behind it knows which one the
 * caller used. `Kept` is any part of the request that its reply needs beyond what every request has.
 */
export interface IngressDialect<Kept = unknown> {
  /** Its name in keys' settings, in fixtures and in the log. */
  readonly id: string;
  /** The clients that use it, for human readers. */
  readonly title: string;
  /**
   * Its own paths, with the one that the documentation names first: `{model}` stands for one segment, `{model+}` for one
   * or more. A leading version may be left out or written twice.
   */
  readonly paths: readonly string[];
  /** Paths that clients made for other hosts of this form call; the API's document leaves them out. */
  readonly hostPaths?: readonly string[];
  /** Paths of others where some servers speak it: used if the body has its list of documents, and not that of the path's own. */
  readonly guestPaths?: readonly string[];
  /** Members that may hold its documents, as strings or as objects with a text: these stay bytes. */
  readonly lists: readonly ListPlace[];
  /** How it is recognised on shared paths; absent if it uses none, or if only a key's setting selects it. */
  readonly claim?: Claim;
  /**
   * Judges the members of a body, and says which documents it wants; called once.
   * @throws GatewayError 400 or 413 that names the member, says what is wrong with it and what would be right.
   */
  readonly parse: (request: IngressRequest) => Asked<Kept>;
  /** The schema by which `parse` judges the members of a body, for the API's document. */
  readonly members?: Joi.Schema;
  /** Bodies as its clients send them, one per form of its replies: its part of the API's document is made from them. */
  readonly examples: readonly [object, ...object[]];
  /** The body of a ranking. The clock is read for a `timed` dialect, and stands still for every other. */
  readonly reply: (
    id: string,
    request: RerankRequest,
    ranking: Ranking,
    kept: Kept,
    clock: ReplyClock,
  ) => JsonBody;
  readonly error: (error: GatewayError, requestId: string, headers: RequestHeaders) => IngressError;
  /** Headers of its replies, errors included, beyond those that all replies have. */
  readonly headers?: (requestId: string) => Readonly<Record<string, string>>;
  readonly timed?: true;
  /** Whether its replies may be lists, to which nothing can be added. */
  readonly listed?: true;
}

/** A dialect without the type of what it keeps: the exchange hands `reply` the value that `parse` made. */
export function defineDialect<Kept>(dialect: IngressDialect<Kept>): IngressDialect {
  return dialect as IngressDialect;
}

/** What a request asks for in a dialect: at once, unless its body is large. */
export function readIn<Kept>(
  { parse }: Pick<IngressDialect<Kept>, 'parse'>,
  request: IngressRequest,
): ParsedRerank<Kept> | Promise<ParsedRerank<Kept>> {
  const { list, found } = parse(request);
  const documents = findDocuments(request, list);
  return documents instanceof Promise ? documents.then(found) : found(documents);
}
