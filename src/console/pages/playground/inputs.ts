import { about } from '../../about.js';
import { draftOf } from '../../drafts.js';
import { csvOf } from '../../../core/csv.js';
import { documentsOfText } from '../../../core/documents-in.js';
import { MAX_LANES, keyOf, type LaneSpec } from '../../lib/lanes.js';
import { sharedOf, sharing, type Shared } from '../../lib/share.js';
import { EXAMPLE_BODY } from '../../lib/snippets.js';
import type { RankedLane } from './use-runs.js';

export const PAGE = 'playground';
export const RUNS = ['1', '3', '5', '10'] as const;
export type Times = (typeof RUNS)[number];

/** How relevant documents are, by their text. */
export type Labels = ReadonlyMap<string, number>;
/** What documents are called where they come from, by their text. */
export type Ids = ReadonlyMap<string, string>;

export const GRADES = ['', '0', '1', '2', '3'] as const;
/** The most documents that the playground takes in one request. */
export const MAX_DOCUMENTS = 1_000;

export function withLabel(labels: Labels, text: string, grade: string): Labels {
  const next = new Map(labels);
  if (grade === '') next.delete(text);
  else next.set(text, Number(grade));
  return next;
}

/** Queries with their documents as they were brought; the ending of the name says in which form. */
export interface QueriesFile {
  readonly name: string;
  readonly text: string;
}

/** What is typed or pasted has no name. */
export const NO_QUERIES: QueriesFile = { name: '', text: '' };

/** What is on the page at first: what was left there, with the lane that the address names, or the example. */
export function begin(address: URLSearchParams): Shared {
  const left = sharedOf(draftOf(PAGE));
  const lanes = [firstLane(address)];
  const named = address.has('model') || address.has('channel');
  if (left !== undefined) return named ? { ...left, lanes } : left;
  const { query, documents } = EXAMPLE_BODY;
  return sharing(query, documents.join('\n'), lanes);
}

export function labelsOf({ documents, labels }: Shared): Labels {
  const listed = documentsOfText(documents);
  return new Map(labels.map(([index, grade]) => [listed[index] ?? '', grade]));
}

export function idsOf({ documents, ids }: Shared): Ids {
  const listed = documentsOfText(documents);
  return new Map(ids.map(([index, id]) => [listed[index] ?? '', id]));
}

/** What documents have, by their text; those without it are left out. */
export function byText<T>(
  documents: readonly string[],
  values: readonly (T | undefined)[],
): ReadonlyMap<string, T> {
  return new Map(
    documents.flatMap((text, index) => {
      const value = values[index];
      return value === undefined ? [] : [[text, value] as const];
    }),
  );
}

/** The same by their index in the list. */
export function byIndex<T>(
  documents: readonly string[],
  values: ReadonlyMap<string, T>,
): (readonly [index: number, value: T])[] {
  return documents.flatMap((text, index) => {
    const value = values.get(text);
    return value === undefined ? [] : [[index, value] as const];
  });
}

export function timesOf({ runs }: Shared): Times {
  return RUNS.find((one) => Number(one) >= runs) ?? '10';
}

/** The lane that the address names, for example after a click on a channel’s playground button. */
function firstLane(address: URLSearchParams): LaneSpec {
  const model = address.get('model') ?? about.get()?.default_model ?? 'local';
  const channel = Number(address.get('channel') ?? 0);
  return Number.isSafeInteger(channel) && channel > 0 ? { model, channel } : { model };
}

/** Merges lanes that would send the same request, and keeps at most `MAX_LANES`. */
export function uniqueLanes(lanes: readonly LaneSpec[]): readonly LaneSpec[] {
  return [...new Map(lanes.map((lane) => [keyOf(lane), lane])).values()].slice(0, MAX_LANES);
}

/** The content of a file that this page saved; `undefined` for any other file. */
export function savedIn(name: string, content: string): Shared | undefined {
  if (!name.endsWith('.json')) return undefined;
  try {
    return sharedOf(JSON.parse(content));
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** All lanes side by side as CSV, one row per document. */
export function tableText(lanes: readonly RankedLane[], ids: Ids): string {
  const documents = lanes[0]?.documents ?? [];
  const head = lanes.flatMap(({ name }) => [`${name} rank`, `${name} score`]);
  const rows = documents.map((text, index) => [
    ...[index + 1, ...(ids.size === 0 ? [] : [ids.get(text) ?? '']), text],
    ...lanes.flatMap(({ reply }) => {
      const rank = reply.results.findIndex((row) => row.index === index);
      return rank < 0 ? ['', ''] : [rank + 1, reply.results[rank]?.relevance_score ?? ''];
    }),
  ]);
  const named = ids.size === 0 ? [] : ['id'];
  return csvOf(['document', ...named, 'text', ...head], rows);
}
