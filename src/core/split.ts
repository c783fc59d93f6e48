import type { Documents } from '../bytes/index.js';
import type { RankedRow, ReportedUsage } from './rerank.js';
import { mayExceed, mostTokens, unitsBeyond } from './tokens.js';

/** What one window may hold; `undefined` means no known limit. */
export interface WindowLimits {
  readonly documents: number | undefined;
  /** The query and all documents of a window. */
  readonly characters: number | undefined;
  /** The query and all documents of a window. */
  readonly bytes: number | undefined;
  /** The documents of a window plus the query once per document, as providers with such a limit count. */
  readonly tokens: number | undefined;
}

/** Consecutive documents that are sent together: from the first to before the last. */
export interface Window {
  readonly from: number;
  readonly to: number;
}

/** A limit of a window in some unit: what the query takes of it, and what each document takes. */
interface Measure {
  readonly most: number;
  readonly ofQuery: number;
  readonly of: (index: number) => number;
}

/** Whether a list fits into one window for certain: judged by its size, without counting. */
export function surelyFits(documents: Documents, query: string, limits: WindowLimits): boolean {
  const { documents: most = Infinity } = limits;
  return documents.count <= Math.max(1, most) && measuresOf(documents, query, limits).length === 0;
}

/** Cuts a list into as few windows as fit the limits, of about equal length. A single document is never cut. */
export function windowsOf(documents: Documents, query: string, limits: WindowLimits): Window[] {
  const { count } = documents;
  const { documents: most } = limits;
  const size = most === undefined ? count : Math.ceil(count / Math.ceil(count / Math.max(1, most)));
  const measures = measuresOf(documents, query, limits);
  const empty = measures.map(({ ofQuery }) => ofQuery);
  const windows: Window[] = [];
  let from = 0;
  let filled = [...empty];
  for (let index = 0; index < count; index += 1) {
    const sizes = measures.map(({ of }) => of(index));
    const grown = filled.map((size, at) => size + (sizes[at] ?? 0));
    const isFull = index - from >= size || grown.some((size, at) => size > mostOf(measures, at));
    if (isFull && index > from) {
      windows.push({ from, to: index });
      from = index;
      filled = empty.map((size, at) => size + (sizes[at] ?? 0));
    } else {
      filled = grown;
    }
  }
  windows.push({ from, to: count });
  return windows;
}

function mostOf(measures: readonly Measure[], at: number): number {
  return measures[at]?.most ?? Infinity;
}

/** The limits that a list might exceed, judged by its bytes: small lists need no count. */
function measuresOf(
  documents: Documents,
  query: string,
  { characters, bytes, tokens }: WindowLimits,
): Measure[] {
  const { count, sizeBytes } = documents;
  const measures: Measure[] = [];
  // A character has at least one byte.
  if (characters !== undefined && sizeBytes + query.length > characters) {
    const of = (index: number): number => documents.text(index).length;
    measures.push({ most: characters, ofQuery: query.length, of });
  }
  const queryBytes = Buffer.byteLength(query);
  if (bytes !== undefined && sizeBytes + queryBytes > bytes) {
    // A comma separates two documents.
    const of = (index: number): number => documents.textBytes(index) + 1;
    measures.push({ most: bytes, ofQuery: queryBytes, of });
  }
  if (tokens !== undefined && mayExceed(sizeBytes + queryBytes * count, tokens)) {
    const perDocument = mostTokens(query, tokens);
    const units = unitsBeyond(tokens);
    const of = (index: number): number =>
      perDocument + mostTokens(documents.text(index, units), tokens);
    measures.push({ most: tokens, ofQuery: 0, of });
  }
  return measures;
}

/** The ranking of one window, its rows numbered from 0. */
export interface WindowRanking {
  readonly window: Window;
  readonly rows: readonly RankedRow[];
}

/** One ranking of the whole list, best first; ties keep the order of the list. */
export function mergeWindows(rankings: readonly WindowRanking[], topN: number): RankedRow[] {
  const rows = rankings.flatMap(({ window, rows: own }) =>
    own.map(({ index, score }) => ({ index: window.from + index, score })),
  );
  rows.sort((one, other) => other.score - one.score || one.index - other.index);
  return rows.slice(0, topN);
}

/** What all windows used together; a count that any of them did not report is unknown. */
export function sumUsage(reports: readonly (ReportedUsage | undefined)[]): ReportedUsage {
  return {
    inputTokens: sumOf(reports.map((report) => report?.inputTokens)),
    searchUnits: sumOf(reports.map((report) => report?.searchUnits)),
    likelyTokens: sumOf(reports.map((report) => report?.likelyTokens)),
  };
}

function sumOf(counts: readonly (number | undefined)[]): number | undefined {
  let total = 0;
  for (const count of counts) {
    if (count === undefined) return undefined;
    total += count;
  }
  return total;
}
