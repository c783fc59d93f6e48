import { readFileSync, readdirSync } from 'node:fs';
import type { RerankOptions } from '../../src/core/rerank.js';
import { DIALECTS } from '../../src/ingress/index.js';

/**
 * One caller dialect's fixture: what is understood of a request and what is answered, with requests as its clients really
 * send them. `test/fixtures/ingress/<id>.json`.
 */
export interface IngressFixture {
  /** Where the facts come from, and what no source settles. */
  readonly source: string;
  readonly uncertain?: readonly string[];
  /** JSON schemas written from the original's documentation: of every ranking, and of every error. */
  readonly schemas: { readonly reply: object; readonly error: object };
  readonly example: IngressExample;
  readonly cases: readonly IngressCase[];
}

/** A request of any model, query and documents in this form, and where its reply has the order. */
export interface IngressExample {
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /**
   * With places that are filled in: `{model}`, `{query}`, the list `"{documents}"`, or a list of `{"{each}": …}` with
   * `{document}` and `{index}`.
   */
  readonly body: unknown;
  readonly order: {
    /** The path to the list of rows; empty for the whole reply. */
    readonly list: string;
    /** The member of a row that names the document; without it rows stand for documents by their position. */
    readonly index?: string;
    /** The path in a row to its score, where the order follows from that. */
    readonly score?: string;
  };
}

export interface IngressCase {
  /** A sentence about behaviour; a trap is named by what would go wrong. */
  readonly name: string;
  /** The path, with a query if need be; by default the first of the dialect. */
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** What the key's setting names. */
  readonly setting?: string;
  /** The body as JSON, or the exact text. */
  readonly body?: unknown;
  readonly text?: string;
  /** Members of the request that are not as every case has them unless it says otherwise. */
  readonly request?: {
    readonly model?: string | null;
    readonly query?: string;
    readonly documents?: readonly string[];
    readonly top_n?: number;
    readonly return_documents?: boolean;
    readonly options?: RerankOptions;
  };
  /** The scores of the ranking that is answered, best first, and of which documents; by default `RANKED`. */
  readonly ranked?: readonly (readonly [index: number, score: number])[];
  /** What is answered. */
  readonly reply?: unknown;
  /** What is answered where the request is refused. */
  readonly error?: { readonly status: number; readonly json: unknown };
}

export const FIXTURE_QUERY = 'Which planet has the most moons?';
export const FIXTURE_DOCUMENTS = [
  'Mercury has no moons at all.',
  'Saturn is circled by well over a hundred moons.',
  'Olive oil keeps best in the dark.',
] as const;
export const RANKED = [
  [1, 0.875],
  [0, 0.25],
  [2, 0.0625],
] as const;

const FOLDER = new URL('../fixtures/ingress/', import.meta.url);

export function ingressFixtureIds(): string[] {
  return readdirSync(FOLDER).map((name) => name.replace(/\.json$/, ''));
}

export function ingressFixture(id: string): IngressFixture {
  return JSON.parse(readFileSync(new URL(`${id}.json`, FOLDER), 'utf8')) as IngressFixture;
}

/** The request of an example, for `fetch`. */
export function askExample(
  id: string,
  { path = ownPath(id), headers = {}, body }: IngressExample,
  asked: { readonly model: string; readonly query: string; readonly documents: readonly string[] },
): { readonly path: string; readonly headers: Record<string, string>; readonly body: string } {
  const model = encodeURIComponent(asked.model);
  return {
    path: path.replace('{model}', model),
    headers: filled(headers, asked) as Record<string, string>,
    body: JSON.stringify(filled(body, asked)),
  };
}

/** The first path of a dialect, or the one that all share. */
export function ownPath(id: string): string {
  return DIALECTS.find((dialect) => dialect.id === id)?.paths[0] ?? '/v1/rerank';
}

type Asked = Parameters<typeof askExample>[2];

function filled(value: unknown, asked: Asked, document = '', index = 0): unknown {
  if (value === '{documents}') return asked.documents;
  if (typeof value === 'string') {
    return value
      .replace('{model}', asked.model)
      .replace('{query}', asked.query)
      .replace('{index}', String(index))
      .replace('{document}', document);
  }
  if (Array.isArray(value)) return value.map((item) => filled(item, asked, document, index));
  if (typeof value !== 'object' || value === null) return value;
  const { '{each}': each } = value as Readonly<Record<string, unknown>>;
  if (each !== undefined) return asked.documents.map((text, at) => filled(each, asked, text, at));
  const members = Object.entries(value).map(([name, member]) => [
    name,
    filled(member, asked, document, index),
  ]);
  return Object.fromEntries(members) as unknown;
}

/** The documents of a reply, best first. */
export function orderOf(reply: unknown, { list, index, score }: IngressExample['order']): number[] {
  const rows = at(reply, list) as readonly unknown[];
  if (index !== undefined) return rows.map((row) => Number(at(row, index)));
  const scores = rows.map((row) => Number(at(row, score ?? '')));
  return scores.map((_, row) => row).sort((a, b) => (scores[b] ?? 0) - (scores[a] ?? 0));
}

function at(value: unknown, path: string): unknown {
  if (path === '') return value;
  return path
    .split('.')
    .reduce<unknown>((inner, name) => (inner as Readonly<Record<string, unknown>>)[name], value);
}
