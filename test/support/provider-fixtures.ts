import { readFileSync, readdirSync } from 'node:fs';
import { documentsOf, type DocumentPart } from '../../src/bytes/index.js';
import type { RerankOptions } from '../../src/core/rerank.js';
import type { FaultKind } from '../../src/core/retry.js';
import { Secret } from '../../src/core/secret.js';
import type { Endpoint, SettingValue, UpstreamCall } from '../../src/providers/provider.js';

/**
 * One provider's fixture: what is sent for a request and what is made of a reply, with replies as the provider really
 * sends them. `test/fixtures/providers/<id>.json`.
 */
export interface ProviderFixture {
  /** Where the facts come from, and how sure they are; `uncertain` lists what no source settles. */
  readonly source: string;
  readonly uncertain?: readonly string[];
  /** The channel that the cases are for, unless a case says otherwise. */
  readonly channel?: FixtureChannel;
  readonly cases: readonly ProviderCase[];
}

export interface FixtureChannel {
  readonly baseUrl?: string;
  readonly credentials?: Readonly<Record<string, string>>;
  readonly settings?: Readonly<Record<string, SettingValue>>;
}

export interface ProviderCase {
  /** A sentence about behaviour; a trap is named by what would go wrong. */
  readonly name: string;
  readonly channel?: FixtureChannel;
  /** Defaults to the query and three documents that all fixtures share. */
  readonly request?: {
    readonly model?: string;
    readonly query?: string;
    readonly documents?: readonly unknown[];
    readonly top_n?: number;
    readonly options?: RerankOptions;
    /** For a page after the first, of providers that hand rows out in pages. */
    readonly page?: string;
    /** For signatures and tokens. */
    readonly now?: string;
  };
  /** What goes out, where the case is about it. Headers are the provider's own, in lower case; a body is compared as JSON. */
  readonly sent?: {
    readonly method: 'POST';
    readonly path: string;
    readonly headers?: Readonly<Record<string, string>>;
    readonly body: unknown;
  };
  readonly reply?: {
    readonly status?: number;
    readonly headers?: Readonly<Record<string, string>>;
    /** A JSON value, or the exact text in `text`. */
    readonly json?: unknown;
    readonly text?: string;
  };
  /** In place of `sent` and `reply`, of a provider that ranks by several calls: each of them, in the order of sending. */
  readonly calls?: readonly {
    /** The body, compared as JSON. */
    readonly sent?: unknown;
    readonly reply?: ProviderCase['reply'];
  }[];
  /** The ranking after normalising, or the failure. */
  readonly result?: {
    readonly rows: readonly { readonly index: number; readonly score: number }[];
    readonly usage?: { readonly inputTokens?: number; readonly searchUnits?: number };
  };
  readonly failure?: {
    readonly kind: FaultKind;
    readonly message?: string;
    readonly retryAfterMs?: number;
  };
}

export const FIXTURE_QUERY = 'Which planet has the most moons?';
export const FIXTURE_DOCUMENTS = [
  'Mercury has no moons at all.',
  'Saturn is circled by well over a hundred moons.',
  'Olive oil keeps best in the dark.',
] as const;

const FOLDER = new URL('../fixtures/providers/', import.meta.url);

export function fixtureIds(): string[] {
  return readdirSync(FOLDER).map((name) => name.replace(/\.json$/, ''));
}

export function readFixture(id: string): ProviderFixture {
  return JSON.parse(readFileSync(new URL(`${id}.json`, FOLDER), 'utf8')) as ProviderFixture;
}

/** The documents of a fixture: strings, or objects with `text` and `image`. */
export function fixtureDocuments(documents: readonly unknown[]): DocumentPart[] {
  return documents.map((source) => {
    if (typeof source === 'string') return { text: source, source };
    const { text, image } = source as { text?: string; image?: string };
    return {
      ...(text === undefined ? {} : { text }),
      ...(image === undefined ? {} : { image }),
      source,
    };
  });
}

export function fixtureEndpoint(
  channel: FixtureChannel | undefined,
  baseUrl: string | undefined,
  defaults: Readonly<Record<string, SettingValue>>,
): Endpoint {
  const credentials = channel?.credentials ?? { apiKey: 'test-key' };
  return {
    baseUrl: channel?.baseUrl ?? baseUrl ?? 'http://upstream.test',
    credentials: Object.fromEntries(
      Object.entries(credentials).map(([name, value]) => [name, new Secret(value)]),
    ),
    settings: { ...defaults, ...channel?.settings },
  };
}

export function fixtureCall(
  request: ProviderCase['request'],
  settings: Endpoint['settings'],
  exampleModel: string,
): UpstreamCall {
  const documents = documentsOf(fixtureDocuments(request?.documents ?? FIXTURE_DOCUMENTS));
  return {
    model: request?.model ?? exampleModel,
    query: request?.query ?? FIXTURE_QUERY,
    documents,
    topN: Math.min(request?.top_n ?? documents.count, documents.count),
    options: request?.options ?? {},
    settings,
    ...(request?.page === undefined ? {} : { page: request.page }),
  };
}
