import { JsonShapeError, parseNumeric, type Json, type JsonBody } from '../core/json.js';
import type { ReportedUsage, UpstreamRanking, UpstreamRow } from '../core/rerank.js';
import type { UpstreamCall } from './provider.js';

/**
 * Rows of a list of objects. Index and score may be written as decimal strings; a score that is null, NaN or missing is
 * a document that was not scored, a bad index is left for the ranking's own check. Reads without a wrapper for each row,
 * since a list may have ten thousand.
 */
export function readRows(list: Json, indexKey: string, scoreKey: string): UpstreamRow[] {
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
      score: parseNumeric(members[scoreKey]),
    });
  }
  return rows;
}

/** Rows of scores by position: the n-th score belongs to the n-th document. */
export function readPositional(list: Json): UpstreamRow[] {
  return list.array().map((value, index) => ({ index, score: parseNumeric(value) }));
}

/** Tokens as most replies name them: `usage.total_tokens`, else `usage.prompt_tokens`. */
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

/** The request of the widest family: `model`, `query`, `documents` as strings, `top_n`, and no echo asked for. */
export function jinaLikeBody({
  model,
  query,
  documents,
  topN,
}: UpstreamCall): Record<string, JsonBody> {
  return { model, query, documents: documents.texts(), top_n: topN, return_documents: false };
}

/** The reply of the widest family: `results[]` of `index` and `relevance_score`, tokens in `usage` or `meta`. */
export function decodeJinaLike(reply: Json): UpstreamRanking {
  const meta = readMeta(reply);
  return {
    rows: readRows(reply.field('results'), 'index', 'relevance_score'),
    usage: { ...meta, inputTokens: readUsage(reply).inputTokens ?? meta.inputTokens },
  };
}
