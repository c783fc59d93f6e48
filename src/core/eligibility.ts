import type { Documents } from './documents.js';
import type { RerankOptions } from './rerank.js';
import { leastTokens, maySurelyExceed } from './tokens.js';

/** How much of one request a channel takes for a model; `undefined` means no known limit. */
export interface Room {
  readonly documents: number | undefined;
  /** Documents in a request that includes images. */
  readonly documentsWithImages: number | undefined;
  readonly queryCharacters: number | undefined;
  readonly documentCharacters: number | undefined;
  /** The query and all documents together. */
  readonly requestCharacters: number | undefined;
  /** Bytes of the query and all documents together. */
  readonly requestBytes: number | undefined;
  /** The query and all documents together. */
  readonly requestTokens: number | undefined;
  /** The query and one document: any excess would be cut, which a caller may forbid. */
  readonly wholeTokens: number | undefined;
  /** One document, likewise. */
  readonly documentTokens: number | undefined;
  readonly images: boolean;
}

/** Why a channel never takes a request, whatever its load. */
export type Misfit =
  { readonly limit: 'documents'; readonly most: number } | { readonly limit: 'length' | 'images' };

/** What a request asks of a channel's room. */
export interface Fitting {
  readonly query: string;
  readonly documents: Documents;
  readonly options: Pick<RerankOptions, 'truncation'>;
}

/** Why a request does not fit; `undefined` if it does. Long texts are counted only if their size in bytes leaves it open. */
export function misfitOf(room: Room, request: Fitting): Misfit | undefined {
  const { documents } = request;
  const most = documents.hasImages ? room.documentsWithImages : room.documents;
  if (most !== undefined && documents.count > most) return { limit: 'documents', most };
  if (documents.hasLoneImages && !room.images) return { limit: 'images' };
  return hasTooManyCharacters(room, request) || hasTooManyTokens(room, request)
    ? { limit: 'length' }
    : undefined;
}

function hasTooManyCharacters(
  { queryCharacters, documentCharacters, requestCharacters, requestBytes }: Room,
  { query, documents }: Fitting,
): boolean {
  if (queryCharacters !== undefined && query.length > queryCharacters) return true;
  const sizeBytes = documents.sizeBytes + query.length;
  if (requestBytes !== undefined && sizeBytes > requestBytes) return true;
  const least = Math.min(documentCharacters ?? Infinity, requestCharacters ?? Infinity);
  if (sizeBytes <= least) return false;
  let total = query.length;
  for (let index = 0; index < documents.count; index += 1) {
    const { length } = documents.text(index);
    if (length > (documentCharacters ?? Infinity)) return true;
    total += length;
  }
  return total > (requestCharacters ?? Infinity);
}

/** Whether the request certainly exceeds the limit; if it only might, the provider decides. */
function hasTooManyTokens(
  { requestTokens = Infinity, wholeTokens = Infinity, documentTokens = Infinity }: Room,
  { query, documents, options }: Fitting,
): boolean {
  const bytes = documents.sizeBytes + 3 * query.length;
  const isWhole = options.truncation === false;
  const least = isWhole ? Math.min(requestTokens, wholeTokens, documentTokens) : requestTokens;
  if (!maySurelyExceed(bytes, least)) return false;
  const ofQuery = leastTokens(query, least);
  const { total, longest } = leastOf(documents, requestTokens, isWhole ? least : Infinity);
  if (ofQuery + total > requestTokens) return true;
  return isWhole && (ofQuery + longest > wholeTokens || longest > documentTokens);
}

interface LeastTokens {
  readonly total: number;
  readonly longest: number;
}

/** Lists that were counted: every channel considered asks about the same one. */
const COUNTED = new WeakMap<Documents, LeastTokens>();

/**
 * The least number of tokens that a list and its longest document can have. Counting stops as soon as either is too much.
 */
function leastOf(documents: Documents, mostInAll: number, mostOfOne: number): LeastTokens {
  const known = COUNTED.get(documents);
  if (known !== undefined) return known;
  let total = 0;
  let longest = 0;
  for (let index = 0; index < documents.count; index += 1) {
    const tokens = leastTokens(documents.text(index), Math.min(mostInAll - total, mostOfOne));
    total += tokens;
    longest = Math.max(longest, tokens);
    if (total > mostInAll || longest > mostOfOne) return { total, longest };
  }
  COUNTED.set(documents, { total, longest });
  return { total, longest };
}
