import type { Documents } from '../bytes/index.js';
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
  /** The query and one document: the excess would be cut, which a caller may forbid. */
  readonly wholeTokens: number | undefined;
  /** One document, likewise. */
  readonly documentTokens: number | undefined;
  readonly images: boolean;
}

/** What at least one of several channels takes, member by member; of none, nothing is known. */
export function widestRoom(rooms: readonly Room[]): Partial<Room> {
  const [first, ...others] = rooms;
  if (first === undefined) return {};
  return others.reduce<Room>(
    (widest, room) => ({
      documents: most(widest.documents, room.documents),
      documentsWithImages: most(widest.documentsWithImages, room.documentsWithImages),
      queryCharacters: most(widest.queryCharacters, room.queryCharacters),
      documentCharacters: most(widest.documentCharacters, room.documentCharacters),
      requestCharacters: most(widest.requestCharacters, room.requestCharacters),
      requestBytes: most(widest.requestBytes, room.requestBytes),
      requestTokens: most(widest.requestTokens, room.requestTokens),
      wholeTokens: most(widest.wholeTokens, room.wholeTokens),
      documentTokens: most(widest.documentTokens, room.documentTokens),
      images: widest.images || room.images,
    }),
    first,
  );
}

/** Without a limit is more than every limit. */
function most(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? undefined : Math.max(one, other);
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
  const most = documents.images !== 'none' ? room.documentsWithImages : room.documents;
  if (most !== undefined && documents.count > most) return { limit: 'documents', most };
  if (documents.images === 'alone' && !room.images) return { limit: 'images' };
  return hasTooManyCharacters(room, request) || hasTooManyTokens(room, request)
    ? { limit: 'length' }
    : undefined;
}

function leastCharacters({ documentCharacters, requestCharacters }: Room): number {
  return Math.min(documentCharacters ?? Infinity, requestCharacters ?? Infinity);
}

function hasTooManyCharacters(room: Room, { query, documents }: Fitting): boolean {
  const { queryCharacters, documentCharacters, requestCharacters, requestBytes } = room;
  if (queryCharacters !== undefined && query.length > queryCharacters) return true;
  const sizeBytes = documents.sizeBytes + query.length;
  if (requestBytes !== undefined && sizeBytes > requestBytes) return true;
  if (sizeBytes <= leastCharacters(room)) return false;
  const { characters, longestCharacters } = countsOf(documents);
  const isOver = query.length + characters > (requestCharacters ?? Infinity);
  return isOver || longestCharacters > (documentCharacters ?? Infinity);
}

function mayHaveTooManyTokens(room: Room, { query, documents, options }: Fitting): boolean {
  const bytes = documents.sizeBytes + 3 * query.length;
  return maySurelyExceed(bytes, leastTokensOfRoom(room, options.truncation === false));
}

/** The smallest of the limits that count. */
function leastTokensOfRoom(
  { requestTokens = Infinity, wholeTokens = Infinity, documentTokens = Infinity }: Room,
  isWhole: boolean,
): number {
  return isWhole ? Math.min(requestTokens, wholeTokens, documentTokens) : requestTokens;
}

/** Whether the request certainly exceeds the limit; if it only might, the provider decides. */
function hasTooManyTokens(room: Room, request: Fitting): boolean {
  if (!mayHaveTooManyTokens(room, request)) return false;
  const { requestTokens = Infinity, wholeTokens = Infinity, documentTokens = Infinity } = room;
  const { query, documents, options } = request;
  const isWhole = options.truncation === false;
  const ofQuery = leastTokens(query, leastTokensOfRoom(room, isWhole));
  const { tokens, longestTokens } = countsOf(documents);
  if (ofQuery + tokens > requestTokens) return true;
  return isWhole && (ofQuery + longestTokens > wholeTokens || longestTokens > documentTokens);
}

interface Counts {
  readonly characters: number;
  readonly longestCharacters: number;
  /** At least. */
  readonly tokens: number;
  /** Of one document, at least. */
  readonly longestTokens: number;
}

/** Lists that were counted: every channel considered asks about the same one. */
const COUNTED = new WeakMap<Documents, Counts>();

function countsOf(documents: Documents): Counts {
  let counts = COUNTED.get(documents);
  if (counts === undefined) {
    counts = countTexts(documents);
    COUNTED.set(documents, counts);
  }
  return counts;
}

function countTexts(documents: Documents): Counts {
  let [characters, longestCharacters, tokens, longestTokens] = [0, 0, 0, 0];
  for (let index = 0; index < documents.count; index += 1) {
    const text = documents.text(index);
    const ownTokens = leastTokens(text);
    characters += text.length;
    tokens += ownTokens;
    longestCharacters = Math.max(longestCharacters, text.length);
    longestTokens = Math.max(longestTokens, ownTokens);
  }
  return { characters, longestCharacters, tokens, longestTokens };
}
