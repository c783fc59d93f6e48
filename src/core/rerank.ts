import { bestFirst } from './best-first.js';
import type { Documents } from '../bytes/index.js';

/**
 * What a caller may ask beyond the contract's own fields. Passed to a provider that knows it, dropped for one that does not.
 */
export interface RerankOptions {
  readonly rankFields?: readonly string[];
  readonly maxChunksPerDoc?: number;
  readonly maxTokensPerDoc?: number;
  readonly overlapTokens?: number;
  readonly instruction?: string;
  readonly truncation?: boolean;
  readonly priority?: number;
}

/**
 * One valid rerank request: the query is not blank, there is at least one document, and `topN` does not exceed their number.
 */
export interface RerankRequest {
  /** The model as the caller named it. */
  readonly model: string;
  readonly query: string;
  readonly documents: Documents;
  /** How many rows the reply has: 1 … `documents.count`. */
  readonly topN: number;
  readonly returnDocuments: boolean;
  readonly options: RerankOptions;
}

/** What an upstream reported; whatever is missing is estimated. All counts are non-negative integers. */
export interface ReportedUsage {
  readonly inputTokens?: number | undefined;
  readonly searchUnits?: number | undefined;
  /** Not reported: what a ranking of prompts and answers likely took, where that is more than the query and the documents. */
  readonly likelyTokens?: number | undefined;
}

/** One row as the upstream gave it. */
export interface UpstreamRow {
  readonly index: number;
  /**
   * `undefined` if the upstream says, in the way of its form, that it has none for this document; NaN for anything that
   * is not a score.
   */
  readonly score: number | undefined;
}

/** Rows in exactly the bytes in which the contract writes them. */
interface RowsAsBytes {
  readonly kind: 'rows';
  readonly bytes: Buffer;
  readonly rows: readonly UpstreamRow[];
}

/** The scores of rows as the upstream wrote them; an empty text for one that must be written again. */
interface ScoresAsTexts {
  readonly kind: 'scores';
  readonly rows: readonly UpstreamRow[];
  readonly texts: readonly string[];
}

export type WrittenRows = RowsAsBytes | ScoresAsTexts;

/** What a converter makes of a reply; `normalizeRanking` decides whether it is a ranking. */
export interface UpstreamRanking {
  readonly rows: readonly UpstreamRow[];
  readonly usage?: ReportedUsage;
  /** The upstream sorted by relevance without scores (listwise): rows get falling scores in the order given. */
  readonly orderOnly?: boolean;
  /** What a caller should know about the scores; passed on in `meta.warnings`. */
  readonly warning?: string;
}

export interface RankedRow {
  readonly index: number;
  readonly score: number;
}

export interface Usage {
  readonly inputTokens: number;
  readonly searchUnits: number;
  /** Whether the upstream reported the tokens, or they were estimated from the text. */
  readonly estimated: boolean;
}

/** A reply that cannot be turned into a ranking of the caller's documents; the message names the rule it broke. */
export class InvalidRankingError extends Error {
  override readonly name = 'InvalidRankingError';
}

/** How scores are passed on: as the upstream gave them, or its logits through the logistic function. */
export type ScoreTransform = 'none' | 'logistic';

/**
 * Judges and orders an upstream's rows: every index an integer into the caller's list and there once, best first, equal
 * scores in the upstream's order, exactly `topN` rows, finite scores. Documents that the upstream says it could not score come
 * last with the lowest score there is. Sorting happens before the transform, which may saturate.
 * @throws InvalidRankingError when the rows cannot be that ranking.
 */
export function normalizeRanking(
  ranking: UpstreamRanking,
  documentCount: number,
  topN: number,
  transform: ScoreTransform,
): RankedRow[] {
  const { rows } = ranking;
  if (rows.length < topN) {
    throw new InvalidRankingError(`${rows.length} rows came back, but ${topN} were expected`);
  }
  if (rows.length > documentCount) {
    throw new InvalidRankingError(`${rows.length} rows came back for ${documentCount} documents`);
  }
  checkIndexes(rows, documentCount);
  if (isRanked(ranking, topN, transform)) return rows as RankedRow[];
  const ranked: RankedRow[] = [];
  const unscored: number[] = [];
  let lowest = Infinity;
  for (let at = 0; at < rows.length; at += 1) {
    const row = rows[at];
    if (row === undefined) break;
    const { index } = row;
    const given = ranking.orderOnly === true ? { index, score: 1 - at / rows.length } : row;
    if (!isScored(given)) {
      unscored.push(index);
      continue;
    }
    if (Number.isNaN(given.score)) throw new InvalidRankingError(`row ${at} has no valid score`);
    const kept = Number.isFinite(given.score) ? given : { index, score: clamped(given.score) };
    if (kept.score < lowest) lowest = kept.score;
    ranked.push(kept);
  }
  if (ranked.length === 0) throw new InvalidRankingError('no row has a score');
  const sorted = bestFirst(ranked);
  for (const index of unscored) sorted.push({ index, score: lowest });
  if (sorted.length > topN) sorted.length = topN;
  return transform === 'none'
    ? sorted
    : sorted.map(({ index, score }) => ({ index, score: logistic(score) }));
}

/** @throws InvalidRankingError unless each is one of the caller's list, and there once. */
function checkIndexes(rows: readonly UpstreamRow[], documentCount: number): void {
  const seen = clearedFlags(documentCount);
  for (let at = 0; at < rows.length; at += 1) {
    const index = rows[at]?.index ?? Number.NaN;
    if (!Number.isInteger(index) || index < 0 || index >= documentCount) {
      throw new InvalidRankingError(`row ${at} has no valid index`);
    }
    if (seen[index] === 1) throw new InvalidRankingError(`index ${index} came back twice`);
    seen[index] = 1;
  }
}

/** Whether the rows are as nearly all upstreams send them: as many as were asked for, best first, each with a finite score. */
function isRanked(
  { rows, orderOnly }: UpstreamRanking,
  topN: number,
  transform: ScoreTransform,
): boolean {
  if (orderOnly === true || transform !== 'none' || rows.length !== topN) return false;
  let previous = Infinity;
  for (const { score } of rows) {
    if (score === undefined || !Number.isFinite(score) || score > previous) return false;
    previous = score;
  }
  return true;
}

function isScored(row: UpstreamRow): row is RankedRow {
  return row.score !== undefined;
}

/** An infinite score, such as `1e999`, becomes the greatest number that JSON can express; a negative one the least. */
function clamped(score: number): number {
  return score > 0 ? Number.MAX_VALUE : -Number.MAX_VALUE;
}

let flags = new Uint8Array(1_024);

/** One zero per document: used by one ranking at a time, and again by the next. */
function clearedFlags(count: number): Uint8Array {
  if (flags.length < count) flags = new Uint8Array(count * 2);
  else flags.fill(0, 0, count);
  return flags;
}

/** The logistic function: a logit as a probability. */
function logistic(logit: number): number {
  return 1 / (1 + Math.exp(-logit));
}

/** Documents covered by one search unit, Cohere's unit that others have adopted. */
const DOCUMENTS_PER_SEARCH_UNIT = 100;

/**
 * A rough count for text whose tokens were not reported: four bytes per token of what the text means, however it is spelled, the
 * query once per document, as cross-encoders read it.
 */
export function estimateTokens(query: string, documents: Documents): number {
  return Math.max(
    1,
    Math.ceil((Buffer.byteLength(query) * documents.count + documents.meantBytes) / 4),
  );
}

export function searchUnits(documentCount: number): number {
  return Math.max(1, Math.ceil(documentCount / DOCUMENTS_PER_SEARCH_UNIT));
}

/**
 * The usage: the upstream's report if believable, otherwise an estimate. A count is believed up to a hundred times the
 * gateway's own estimate, so that a broken upstream cannot empty an account.
 */
export function completeUsage(
  reported: ReportedUsage | undefined,
  query: string,
  documents: Documents,
): Usage {
  const ownUnits = searchUnits(documents.count);
  const ownTokens = Math.max(estimateTokens(query, documents), reported?.likelyTokens ?? 0);
  const tokens = believable(reported?.inputTokens, ownTokens);
  const units = believable(reported?.searchUnits, ownUnits);
  return {
    inputTokens: tokens ?? ownTokens,
    searchUnits: units === undefined || units === 0 ? ownUnits : units,
    estimated: tokens === undefined,
  };
}

/**
 * What remains of a report by a server that is known to count other units than tokens, such as characters: its tokens are
 * dropped if they are more than the text can have by the gateway's own estimate.
 */
export function withoutForeignUnits(
  reported: ReportedUsage | undefined,
  query: string,
  documents: Documents,
): ReportedUsage | undefined {
  const tokens = reported?.inputTokens;
  if (tokens === undefined) return reported;
  const most =
    LIKELY_FACTOR * estimateTokens(query, documents) + MARKS_PER_DOCUMENT * documents.count;
  return tokens > most ? { ...reported, inputTokens: undefined } : reported;
}

/**
 * The estimate takes four bytes per token, and a character has one to three: alphabetic text counted in characters exceeds
 * it.
 */
const LIKELY_FACTOR = 1.8;
/** What a tokenizer puts around a pair. */
const MARKS_PER_DOCUMENT = 4;

const BELIEVABLE_FACTOR = 100;

function believable(count: number | undefined, own: number): number | undefined {
  if (count === undefined || !Number.isFinite(count) || count < 0) return undefined;
  const whole = Math.ceil(count);
  return whole > own * BELIEVABLE_FACTOR + BELIEVABLE_FACTOR ? undefined : whole;
}
