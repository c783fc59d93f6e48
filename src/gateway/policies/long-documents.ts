import type { Documents } from '../../core/documents.js';
import { bestPassages, passageList } from '../../core/passages.js';
import {
  cutToTokens,
  leastTokens,
  mayExceed,
  maySurelyExceed,
  mostTokens,
} from '../../core/tokens.js';
import type { Attempt, AttemptOutcome, Job, Layer, Offer, Reads } from '../rank.js';

/** What a tokenizer puts around a query and a document. */
const MARKS = 8;
/** The share of what a model reads that a document gets at least, however long the query is. */
const DOCUMENT_SHARE = 1 / 4;

const CUT = 'Documents longer than the model reads were cut; what lies behind was not ranked.';

/**
 * Handles documents longer than the model reads: they are cut if the provider would refuse them, ranked by the best of their
 * passages if the channel says so, and reported to the caller if the provider cuts them silently.
 */
export const longDocuments: Layer<Attempt> = (next) => (offer, job) => {
  const { reads } = offer;
  if (reads === undefined) return next(offer, job);
  const { options } = job;
  // A caller who sets the tokens or the passages per document has decided.
  const isTold = options.maxTokensPerDoc !== undefined || options.maxChunksPerDoc !== undefined;
  if (reads.chunks && !isTold) return byPassages(next, offer, job, reads);
  if (options.truncation === false) return next(offer, job);
  if (!reads.cuts) return hasSurelyLong(job, reads) ? told(next(offer, job)) : next(offer, job);
  const room = roomFor(job.query, reads);
  const long = longOnes(job.documents, room);
  if (long.length === 0) return next(offer, job);
  const texts = new Map(
    long.map((index) => [index, cutToTokens(job.documents.text(index).trimStart(), room)]),
  );
  return told(next(offer, { ...job, documents: job.documents.withTexts(texts) }));
};

async function byPassages(
  next: Attempt,
  offer: Offer,
  job: Job,
  reads: Reads,
): Promise<AttemptOutcome> {
  const room = roomFor(job.query, reads);
  const long = longOnes(job.documents, room);
  if (long.length === 0) return next(offer, job);
  const { documents, of, isCut } = passageList(job.documents, long, room);
  // Several passages of one document may be the best: all must be returned.
  const asked = next(offer, { ...job, documents, topN: documents.count });
  const outcome = await (isCut ? told(asked) : asked);
  if (outcome.kind !== 'ranked') return outcome;
  const { ranking } = outcome;
  const rows = bestPassages(ranking.rows, of, job.topN);
  return { kind: 'ranked', ranking: { ...ranking, rows, written: undefined } };
}

/** Tokens that remain for a document beside the query. */
function roomFor(query: string, { pairTokens, documentTokens }: Reads): number {
  const left = pairTokens - MARKS - mostTokens(query, pairTokens);
  const room = Math.max(left, Math.floor(pairTokens * DOCUMENT_SHARE));
  return Math.min(room, documentTokens ?? Infinity);
}

/** Documents that may be longer; an image has a token count of its own. */
function longOnes(documents: Documents, room: number): number[] {
  if (!mayExceed(documents.sizeBytes, room)) return [];
  const long: number[] = [];
  for (let index = 0; index < documents.count; index += 1) {
    if (!mayExceed(documents.textBytes(index), room)) continue;
    if (mostTokens(documents.text(index), room) > room) long.push(index);
  }
  return long;
}

/** Whether a document is certainly longer than what is read of it. */
function hasSurelyLong({ query, documents }: Job, { pairTokens, documentTokens }: Reads): boolean {
  const room = Math.min(pairTokens - leastTokens(query, pairTokens), documentTokens ?? Infinity);
  if (!maySurelyExceed(documents.sizeBytes, room)) return false;
  for (let index = 0; index < documents.count; index += 1) {
    if (!maySurelyExceed(documents.textBytes(index), room)) continue;
    if (leastTokens(documents.text(index), room) > room) return true;
  }
  return false;
}

async function told(asked: Promise<AttemptOutcome>): Promise<AttemptOutcome> {
  const outcome = await asked;
  if (outcome.kind !== 'ranked') return outcome;
  const { ranking } = outcome;
  return { kind: 'ranked', ranking: { ...ranking, warnings: [...ranking.warnings, CUT] } };
}
