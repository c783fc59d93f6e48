import type { Documents } from '../../bytes/index.js';
import { bestPassages, passageList } from '../../core/passages.js';
import {
  CUT_DOCUMENTS,
  cutToTokens,
  leastTokens,
  mayExceed,
  maySurelyExceed,
  mostTokens,
  unitsBeyond,
} from '../../core/tokens.js';
import type { Attempt, AttemptOutcome, Job, Layer, Offer, Reads } from '../rank.js';

/** What a tokenizer puts around a query and a document. */
const MARKS = 8;
/** The share of what a model reads that a document gets at least, however long the query is. */
const DOCUMENT_SHARE = 1 / 4;

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
  const isChunked = reads.chunks && !isTold;
  if (!isChunked && options.truncation === false) return next(offer, job);
  if (!isChunked && !reads.cuts) return toldIfLong(next, offer, job, reads);
  const room = roomFor(job.query, reads);
  const suspects = suspectsOf(job.documents, room, mayExceed);
  if (suspects.length === 0) return next(offer, job);
  const long = longOnes(job.documents, suspects, room);
  if (long.length === 0) return next(offer, job);
  return isChunked ? byPassages(next, offer, job, long, room) : cut(next, offer, job, long, room);
};

/** Says so where the provider cuts a document that is surely longer than what is read of it. */
function toldIfLong(
  next: Attempt,
  offer: Offer,
  job: Job,
  { pairTokens, documentTokens }: Reads,
): Promise<AttemptOutcome> {
  const roomBeside = (queryTokens: number): number =>
    Math.min(pairTokens - queryTokens, documentTokens ?? Infinity);
  // No unit is surely more than a token: most lists fit whatever the query counts.
  const { query, documents } = job;
  if (!maySurelyExceed(documents.sizeBytes, roomBeside(query.length))) return next(offer, job);
  const room = roomBeside(leastTokens(query, pairTokens));
  const suspects = suspectsOf(job.documents, room, maySurelyExceed);
  if (suspects.length === 0) return next(offer, job);
  const isLong = suspects.some((index) => isSurelyLong(documents, index, room));
  return isLong ? told(next(offer, job)) : next(offer, job);
}

function cut(
  next: Attempt,
  offer: Offer,
  job: Job,
  long: readonly number[],
  room: number,
): Promise<AttemptOutcome> {
  const documents = cutOnes(job.documents, long, room);
  return told(next(offer, { ...job, documents }));
}

async function byPassages(
  next: Attempt,
  offer: Offer,
  job: Job,
  long: readonly number[],
  room: number,
): Promise<AttemptOutcome> {
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

/** Documents that may be longer by their bytes: others need no count. */
function suspectsOf(documents: Documents, room: number, may: typeof mayExceed): number[] {
  if (!may(documents.sizeBytes, room)) return [];
  const suspects: number[] = [];
  for (let index = 0; index < documents.count; index += 1) {
    if (may(documents.textBytes(index), room)) suspects.push(index);
  }
  return suspects;
}

/** Of the suspects those that may be longer; an image has its own count of tokens. */
function longOnes(documents: Documents, suspects: readonly number[], room: number): number[] {
  return suspects.filter(
    (index) => mostTokens(documents.text(index, unitsBeyond(room)), room) > room,
  );
}

/** By its beginning: a document of megabytes is not decoded for this. */
function isSurelyLong(documents: Documents, index: number, room: number): boolean {
  return leastTokens(documents.text(index, UNITS_PER_TOKEN * room), room) > room;
}

/** More than a text has that is not mostly white space. */
const UNITS_PER_TOKEN = 32;

/** The documents, with those at `long` cut to the tokens that there is room for. */
function cutOnes(documents: Documents, long: readonly number[], room: number): Documents {
  const texts = new Map<number, string>();
  for (const index of long) {
    const beginning = documents.text(index, unitsBeyond(room));
    const isIndented = beginning.trimStart() !== beginning;
    const text = isIndented ? documents.text(index).trimStart() : beginning;
    texts.set(index, cutToTokens(text, room));
  }
  return documents.pick(undefined, { texts });
}

async function told(asked: Promise<AttemptOutcome>): Promise<AttemptOutcome> {
  const outcome = await asked;
  if (outcome.kind !== 'ranked') return outcome;
  const { ranking } = outcome;
  const warnings = [...new Set([...ranking.warnings, CUT_DOCUMENTS])];
  return { kind: 'ranked', ranking: { ...ranking, warnings } };
}
