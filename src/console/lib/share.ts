import { NO_OPTIONS, type LaneOptions, type LaneSpec } from './lanes.js';

/** What a share link of the playground carries: only inputs, nothing executable. */
export interface Shared {
  readonly query: string;
  readonly documents: string;
  readonly lanes: readonly LaneSpec[];
  /** How relevant documents are, by their index in the list. */
  readonly labels: readonly (readonly [index: number, grade: number])[];
  /** What documents are called where they come from, by their index in the list. */
  readonly ids: readonly (readonly [index: number, id: string])[];
  readonly options: LaneOptions;
  readonly runs: number;
  /** What was ranked when the link was made; it is somebody else’s word. */
  readonly results: readonly SharedResults[];
  readonly many?: SharedMany;
}

/** Many queries with their documents, and how each lane did with them if somebody ran it. */
export interface SharedMany {
  /** Of the file; its ending says how the text is read. */
  readonly name: string;
  readonly text: string;
  /** As they were ranked. */
  readonly queries: readonly string[];
  readonly lanes: readonly SharedScores[];
}

export interface SharedScores {
  /** Of the lane, as `keyOf` makes it. */
  readonly key: string;
  readonly failed: number;
  readonly scores: readonly (readonly [
    query: number,
    ndcg: number,
    reciprocalRank: number,
    ms: number,
    quota: number,
  ])[];
}

/** Why a link is not read: it is not of a playground of this release, too long, or was cut off or changed on its way. */
export type LinkFault = 'foreign' | 'large' | 'broken';

/** The ranking of one lane, without the channel that gave it. */
export interface SharedResults {
  /** Of the lane, as `keyOf` makes it. */
  readonly key: string;
  readonly model: string;
  /** Index and score of each document, best first. */
  readonly rows: readonly (readonly [index: number, score: number])[];
  readonly ms: number;
  readonly quota: number;
  readonly tokens: number;
}

const PREFIX = 'v1.';
/** Browsers and chats truncate longer addresses. */
export const MAX_LINK = 32_768;

export async function shareText(shared: Shared): Promise<string> {
  const bytes = new TextEncoder().encode(JSON.stringify(shared));
  const packed = await through(bytes, new CompressionStream('deflate-raw'));
  let binary = '';
  for (const byte of packed) binary += String.fromCharCode(byte);
  return PREFIX + btoa(binary).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}

export async function readShared(text: string): Promise<Shared | LinkFault> {
  if (!text.startsWith(PREFIX)) return 'foreign';
  if (text.length > MAX_LINK) return 'large';
  try {
    const binary = atob(text.slice(PREFIX.length).replaceAll('-', '+').replaceAll('_', '/'));
    const bytes = Uint8Array.from(binary, (character) => character.charCodeAt(0));
    const plain = await through(bytes, new DecompressionStream('deflate-raw'));
    const value: unknown = JSON.parse(new TextDecoder().decode(plain));
    return sharedOf(value) ?? 'foreign';
  } catch {
    // Whatever is wrong with it, this page did not make it so.
    return 'broken';
  }
}

/** The content of a link or of a saved file; links from before lanes had channels contain only model names. */
export function sharedOf(value: unknown): Shared | undefined {
  if (!isRecord(value)) return undefined;
  const { query, documents, options = {}, runs, many } = value;
  if (typeof query !== 'string' || typeof documents !== 'string' || !isRecord(options)) {
    return undefined;
  }
  const { lanes, labels = [], ids = [], results = [] } = value;
  if (![lanes, labels, ids, results].every(Array.isArray)) return undefined;
  const [specs, grades, named, ranked] = [lanes, labels, ids, results] as [List, List, List, List];
  const known = specs.map(laneOf).filter((lane) => lane !== undefined);
  if (known.length < specs.length || !grades.every(isLabel)) return undefined;
  return {
    ...{ query, documents, lanes: known, labels: grades, ids: named.filter(isId) },
    options: optionsOf(options),
    runs: runsOf(runs),
    results: ranked.filter(isResults),
    ...(isMany(many) ? { many } : {}),
  };
}

type List = readonly unknown[];

function runsOf(runs: unknown): number {
  return typeof runs === 'number' && runs >= 1 ? Math.min(runs, MAX_RUNS) : 1;
}

function optionsOf(options: Readonly<Record<string, unknown>>): LaneOptions {
  return {
    top_n: textOf(options.top_n),
    max_tokens_per_doc: textOf(options.max_tokens_per_doc),
    instruction: textOf(options.instruction),
    priority: textOf(options.priority),
    truncation: truncationOf(options.truncation),
  };
}

const MAX_RUNS = 10;

/** The content to share, with defaults for everything that is not given. */
export function sharing(
  query: string,
  documents: string,
  lanes: readonly LaneSpec[],
  more: Partial<Shared> = {},
): Shared {
  return {
    ...{ query, documents, lanes, labels: [], ids: [] },
    ...{ options: NO_OPTIONS, runs: 1, results: [] },
    ...more,
  };
}

function truncationOf(value: unknown): LaneOptions['truncation'] {
  return value === 'true' || value === 'false' ? value : '';
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function laneOf(value: unknown): LaneSpec | undefined {
  if (typeof value === 'string') return { model: value };
  if (!isRecord(value) || typeof value.model !== 'string') return undefined;
  const { model, channel, instruction } = value;
  return {
    model,
    ...(Number.isSafeInteger(channel) ? { channel: Number(channel) } : {}),
    ...(typeof instruction === 'string' ? { instruction } : {}),
  };
}

type Is<T> = (value: unknown) => value is T;

const isText: Is<string> = (value) => typeof value === 'string';
const isNumber = (value: unknown): value is number =>
  typeof value === 'number' && Number.isFinite(value);
const isInteger = (value: unknown): value is number => Number.isSafeInteger(value);
const isIndex = (value: unknown): value is number => isInteger(value) && value >= 0;
const isGrade = (value: unknown): value is number => isInteger(value) && value >= 0 && value <= 3;

function isListOf<T>(is: Is<T>): Is<readonly T[]> {
  return (value) => Array.isArray(value) && value.every(is);
}

/** A list with just these parts; of what comes after them nothing is read. */
function isTupleOf<T extends readonly unknown[]>(...parts: { [K in keyof T]: Is<T[K]> }): Is<T> {
  return (value): value is T =>
    Array.isArray(value) && parts.every((is: Is<unknown>, at) => is(value[at]));
}

function isRecordOf<T extends object>(members: { readonly [K in keyof T]: Is<T[K]> }): Is<T> {
  const all = Object.entries<Is<unknown>>(members);
  return (value): value is T => isRecord(value) && all.every(([name, is]) => is(value[name]));
}

const isLabel = isTupleOf<readonly [number, number]>(isInteger, isGrade);
const isId = isTupleOf<readonly [number, string]>(isInteger, isText);
const isResults = isRecordOf<SharedResults>({
  ...{ key: isText, model: isText, ms: isNumber, quota: isNumber, tokens: isNumber },
  rows: isListOf(isTupleOf<readonly [number, number]>(isIndex, isNumber)),
});
const isScores = isRecordOf<SharedScores>({
  ...{ key: isText, failed: isInteger },
  scores: isListOf(
    isTupleOf<SharedScores['scores'][number]>(isNumber, isNumber, isNumber, isNumber, isNumber),
  ),
});
const isMany = isRecordOf<SharedMany>({
  ...{ name: isText, text: isText, queries: isListOf(isText), lanes: isListOf(isScores) },
});

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

const MAX_PLAIN = 8 * 1024 * 1024;

async function through(
  bytes: Uint8Array<ArrayBuffer>,
  stream: CompressionStream | DecompressionStream,
): Promise<Uint8Array> {
  const reader = new Blob([bytes]).stream().pipeThrough(stream).getReader();
  const parts: Uint8Array[] = [];
  let size = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    size += value.length;
    if (size > MAX_PLAIN) throw new Error('too large');
    parts.push(value);
  }
  const whole = new Uint8Array(size);
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
