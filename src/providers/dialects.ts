import { Json, JsonShapeError, parseNumeric } from '../core/json.js';
import { JsonFragment, NumberRows, type Documents, type JsonBody } from '../bytes/index.js';
import type { ReportedUsage, UpstreamRanking, UpstreamRow } from '../core/rerank.js';
import type { FaultKind } from '../core/retry.js';
import type { UpstreamCall, UpstreamReply } from './provider.js';
import { readErrorMessage } from './reply.js';

/** How a server marks a row without a score: never, by null, or by leaving the score out. */
type Unscored = 'never' | 'null' | 'absent';

/**
 * Rows of a list of objects. Index and score may be written as decimal strings; anything but a number becomes NaN, which
 * the ranking's own check refuses, unless it is the server's mark for a missing score. Rows are read without a wrapper for
 * each, since a list may have ten thousand.
 */
export function readRows(
  list: Json,
  indexKey: string,
  scoreKey: string,
  unscored: Unscored = 'never',
): UpstreamRow[] {
  if (list.value instanceof NumberRows) {
    const rows = list.value.ranked(indexKey, scoreKey);
    if (rows !== undefined) return rows;
  }
  const items = list.array();
  const rows: UpstreamRow[] = [];
  for (let at = 0; at < items.length; at += 1) {
    const item = items[at];
    if (typeof item !== 'object' || item === null) {
      throw new JsonShapeError(`row ${at} should be an object`);
    }
    const members = item as Readonly<Record<string, unknown>>;
    rows.push({
      index: parseNumeric(members[indexKey]) ?? Number.NaN,
      score: readScore(members[scoreKey], unscored),
    });
  }
  return rows;
}

/** Any other value in place of a number is not a score, and the reply is not a ranking. */
function readScore(value: unknown, unscored: Unscored): number | undefined {
  const isMarked = unscored === 'null' ? value === null : unscored === 'absent' && value == null;
  return isMarked ? undefined : (parseNumeric(value) ?? Number.NaN);
}

/**
 * Rows of scores by position: the n-th score belongs to the n-th document. Any other number of scores than `count`, the number
 * of documents sent, is refused, because the missing ones are unknown.
 */
export function readPositional(list: Json, count: number): UpstreamRow[] {
  const scores = list.array();
  if (scores.length !== count) {
    throw list.mismatch(`a list of ${count} scores, not of ${scores.length},`);
  }
  return scores.map((value, index) => ({ index, score: readScore(value, 'never') }));
}

const LIST_NAMES = ['results', 'data', 'rankings', 'rerank', 'result', 'scores'] as const;
const SCORE_NAMES = ['relevance_score', 'score', 'logit'] as const;

/** The list of rows from a server whose backend is unknown: the reply itself, or the first member with a usual name. */
export function findRows(reply: Json): Json {
  return reply.isArray() ? reply : reply.firstOf(...LIST_NAMES);
}

/** Rows from a server whose backend is unknown: objects with any usual name of the score, or scores by position. */
export function readAnyRows(list: Json, count: number, indexKey = 'index'): UpstreamRow[] {
  const row = list.first();
  if (typeof row.value === 'number') return readPositional(list, count);
  const scoreKey = SCORE_NAMES.find((name) => row.maybe(name).value !== undefined);
  return readRows(list, indexKey, scoreKey ?? 'relevance_score');
}

/** Tokens as most replies name them: `usage.total_tokens`, else `usage.prompt_tokens` or `usage.input_tokens`. */
export function readUsage(reply: Json): ReportedUsage {
  const usage = reply.maybe('usage');
  return {
    inputTokens: usage.firstOf('total_tokens', 'prompt_tokens', 'input_tokens').optionalNumber(),
  };
}

/** Cohere's `meta`: billed search units and input tokens. */
export function readMeta(reply: Json): ReportedUsage {
  const meta = reply.maybe('meta');
  return {
    searchUnits: meta.maybe('billed_units').maybe('search_units').optionalNumber(),
    inputTokens:
      meta.maybe('tokens').maybe('input_tokens').optionalNumber() ??
      meta.maybe('billed_units').maybe('input_tokens').optionalNumber(),
  };
}

/** The most common request: `model`, `query`, `documents` as strings, `top_n`, and no echo. */
export function jinaLikeBody({
  model,
  query,
  documents,
  topN,
}: UpstreamCall): Record<string, JsonBody> {
  return { model, query, documents: documents.texts(), top_n: topN, return_documents: false };
}

/** Like `jinaLikeBody`, for servers that do not know `return_documents`. */
export function plainBody({
  model,
  query,
  documents,
  topN,
}: UpstreamCall): Record<string, JsonBody> {
  return { model, query, documents: documents.texts(), top_n: topN };
}

/**
 * Objects reduced to the fields that the caller ranks by, for providers that rank objects; `undefined` if no fields are
 * named or a document lacks one of them as a string, which such providers refuse: then the documents are sent as texts.
 */
export function pickFields({
  documents,
  options,
}: Pick<UpstreamCall, 'documents' | 'options'>): JsonBody {
  const fields = options.rankFields ?? [];
  if (fields.length === 0) return undefined;
  const picked: JsonBody[] = [];
  for (let index = 0; index < documents.count; index += 1) {
    const source = new Json(JSON.parse(documents.json(index).source.toString()));
    const members = fields.map(
      (field) => [field.toWellFormed(), source.maybe(field).value] as const,
    );
    if (!members.every((member): member is [string, string] => typeof member[1] === 'string')) {
      return undefined;
    }
    picked.push(Object.fromEntries(members));
  }
  return picked;
}

/** A JSON array of objects, each with the text under `key`, plus the image if there is one. */
export function objectsOf(documents: Documents, key = 'text'): JsonBody {
  if (documents.images === 'none') return documents.texts(`{${JSON.stringify(key)}:`, '}');
  return contentsOf(documents, ({ text, image }) => ({ [key]: text, image }));
}

/** The result of `write` for the text and the image of each; one of them may be absent. */
export function contentsOf(
  documents: Documents,
  write: (content: { readonly text?: JsonFragment; readonly image?: JsonFragment }) => JsonBody,
): readonly JsonBody[] {
  return Array.from({ length: documents.count }, (_, index) => write(documents.json(index)));
}

/** The most common reply: `results[]` of `index` and `relevance_score`, tokens in `usage` or `meta`. */
export function decodeJinaLike(reply: Json): UpstreamRanking {
  const meta = readMeta(reply);
  return {
    rows: readRows(reply.field('results'), 'index', 'relevance_score'),
    usage: { ...meta, inputTokens: readUsage(reply).inputTokens ?? meta.inputTokens },
  };
}

/** The reply of a server that passes on the reply of an unknown backend. */
export function decodeAny(reply: Json, call: UpstreamCall): UpstreamRanking {
  const meta = readMeta(reply);
  return {
    rows: readAnyRows(findRows(reply), call.documents.count),
    usage: { ...meta, inputTokens: readUsage(reply).inputTokens ?? meta.inputTokens },
  };
}

/** A refusal with this status, or with any, that has these words in its message. */
type Refusal = readonly [status: number | 'any', words: RegExp, kind: FaultKind];

/** Judges refusals by their words: the first row that fits decides. */
export function faultByWords(
  ...refusals: readonly Refusal[]
): (reply: UpstreamReply) => FaultKind | undefined {
  return (reply) => {
    if (reply.status < 400) return undefined;
    const message = readErrorMessage(reply);
    const fits = ([status, words]: Refusal) =>
      (status === 'any' || status === reply.status) && words.test(message);
    return refusals.find(fits)?.[2];
  };
}

const IMAGE_TYPES: readonly (readonly [prefix: string, type: string])[] = [
  ['iVBORw0KGgo', 'image/png'],
  ['R0lGOD', 'image/gif'],
  ['UklGR', 'image/webp'],
];

/** An image as a URL: base64 without a scheme becomes a `data:` URL, with its type read from the first bytes. */
export function imageUrl(image: JsonFragment): JsonFragment {
  const json = image.bytes;
  const head = json.toString('latin1', 1, BEGINNING_BYTES);
  const beginning = head.includes('\\') ? (JSON.parse(json.toString()) as string) : head;
  if (/^(https?|data):/i.test(beginning)) return image;
  const type = IMAGE_TYPES.find(([prefix]) => beginning.startsWith(prefix))?.[1] ?? 'image/jpeg';
  return JsonFragment.joined([`"data:${type};base64,`, json.subarray(1)]);
}

/** The beginning of an image, as JSON, which shows its kind. */
const BEGINNING_BYTES = 16;

/** Whether a text, as JSON, is there and has nothing in it. */
export function isEmptyText(text: JsonFragment | undefined): boolean {
  return text?.size === EMPTY_BYTES;
}

const EMPTY_BYTES = 2;
