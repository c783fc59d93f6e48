import {
  isObject,
  count,
  flag,
  list,
  object,
  Refusal,
  string,
  valueAt,
  type Members,
  type RefusalKind,
} from './checks.js';
import { alterRows } from './faults.js';
import { bestFirst, countTokens, scoreAll, type Scale, type ScoredRow } from './score.js';
import {
  STUB_KEY,
  type Blame,
  type Stub,
  type StubCall,
  type StubChannel,
  type StubFailure,
  type StubReply,
} from './stub.js';

/** An error as a provider is about to tell it. */
export interface Problem {
  readonly status: number;
  readonly message: string;
  readonly kind: RefusalKind | undefined;
  readonly at: string;
  readonly code: string | undefined;
}

export type ErrorShape = (problem: Problem) => StubReply;

/** A row with what the caller sent for it. */
export interface WireRow extends ScoredRow {
  readonly text: string;
  readonly source: unknown;
}

/** A request that was accepted. */
export interface Asked {
  readonly call: StubCall;
  readonly body: unknown;
  readonly model: string;
  readonly query: string;
  readonly texts: readonly string[];
  readonly topN: number;
  readonly echo: boolean;
  readonly tokens: number;
}

/** An error of the provider's list: status, words, and its code where it has one; it blames the channel unless said. */
export interface ListedError {
  readonly status: number;
  readonly message: string;
  readonly code?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** In place of the provider's usual shape. */
  readonly reply?: StubReply;
  readonly blames?: Blame;
}

/**
 * A provider's wire form as data. What is left out is as in the widest family: Jina's and Cohere's, with a bearer key,
 * `model`, `query`, `documents`, `top_n`, `return_documents`, and `results[]` of `index` and `relevance_score`.
 */
export interface Wire {
  readonly paths?: readonly (string | RegExp)[];
  /** Throws a refusal of kind `no-key` or `key`. */
  readonly auth?: (call: StubCall) => void;
  readonly required?: Members;
  readonly optional?: Members;
  readonly unknown?: 'refused' | 'ignored';
  /** What members cannot tell one by one; throws refusals. */
  readonly also?: (body: unknown, call: StubCall) => void;
  /** Where in the body things are. */
  readonly names?: {
    readonly model?: string;
    readonly query?: string;
    readonly documents?: string;
    readonly topN?: string;
    readonly echo?: string;
  };
  readonly echoDefault?: boolean;
  readonly topNZeroIsAll?: boolean;
  readonly ignoresTopN?: boolean;
  readonly textOf?: (document: unknown) => string;
  readonly order?: 'sorted' | 'input';
  readonly scale?: Scale | ((model: string) => Scale);
  readonly score?: string;
  /** Members of a row beside index and score. */
  readonly rowMembers?: (row: WireRow, asked: Asked) => Readonly<Record<string, unknown>>;
  /** The reply from its rows; by default `results` and what `around` adds. */
  readonly reply?: (rows: readonly WireRow[], asked: Asked) => unknown;
  readonly list?: string;
  readonly around?: (asked: Asked) => Readonly<Record<string, unknown>>;
  readonly replyHeaders?: (asked: Asked) => Readonly<Record<string, string>>;
  readonly error: ErrorShape;
  readonly statuses?: Readonly<Partial<Record<RefusalKind, number>>>;
  readonly errors?: Readonly<Record<string, ListedError>>;
  readonly variants?: Readonly<Record<string, string>>;
  readonly channel?: StubChannel;
  readonly indexed?: boolean;
  readonly orderOnly?: boolean;
  /** Answers other routes, such as those that hand out tokens. */
  readonly beside?: (call: StubCall) => StubReply | undefined;
}

const STATUSES: Readonly<Record<RefusalKind, number>> = {
  method: 405,
  path: 404,
  'no-key': 401,
  key: 401,
  'content-type': 415,
  json: 400,
  unknown: 400,
  missing: 400,
  type: 400,
  range: 400,
  empty: 400,
  blank: 400,
  'too-many': 400,
  'too-long': 400,
  model: 404,
};

/** A header that must have just this value. */
export function header(name: string, value: string): (call: StubCall) => void {
  return ({ headers }) => {
    if (headers[name] === undefined) throw new Refusal('no-key', name, 'no API key was given');
    if (headers[name] !== value) throw new Refusal('key', name, 'invalid API key');
  };
}

export const bearerKey = (key = STUB_KEY) => header('authorization', `Bearer ${key}`);

export const open = (): void => undefined;

/** The text of a document as most take it: a string, or an object's `text`. */
export function plainText(document: unknown): string {
  if (typeof document === 'string') return document;
  const text = valueAt(document, 'text');
  return typeof text === 'string' ? text : '';
}

/** The member that names the documents when rows carry them back as `{text}`. */
export const echoObject = ({ text }: WireRow, { echo }: Asked) =>
  echo ? { document: { text } } : {};

export const echoString = ({ text }: WireRow, { echo }: Asked) => (echo ? { document: text } : {});

export function wireStub(wire: Wire): Stub {
  const failures = Object.fromEntries(
    Object.entries(wire.errors ?? {}).map(([name, listed]) => [name, failureOf(wire, listed)]),
  );
  return {
    channel: { credentials: { apiKey: STUB_KEY }, ...wire.channel },
    failures,
    variants: wire.variants ?? {},
    guarded: wire.auth !== open,
    indexed: wire.indexed ?? true,
    orderOnly: wire.orderOnly ?? false,
    answer: (call) => {
      try {
        return answer(wire, call);
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        return refusalReply(wire, error);
      }
    },
  };
}

function failureOf(wire: Wire, listed: ListedError): StubFailure {
  const { status, message, code, blames = 'channel', headers = {} } = listed;
  const shaped = listed.reply ?? wire.error({ status, message, code, kind: undefined, at: '' });
  return { reply: { ...shaped, headers: { ...shaped.headers, ...headers } }, blames };
}

function refusalReply(wire: Wire, { kind, at, message, code }: Refusal): StubReply {
  const status = wire.statuses?.[kind] ?? STATUSES[kind];
  return wire.error({ status, message, kind, at, code });
}

function answer(wire: Wire, call: StubCall): StubReply {
  const beside = wire.beside?.(call);
  if (beside !== undefined) return beside;
  const paths = wire.paths ?? ['/v1/rerank'];
  if (
    !paths.some((path) => (typeof path === 'string' ? path === call.path : path.test(call.path)))
  ) {
    throw new Refusal('path', '', '404 page not found');
  }
  if (call.method !== 'POST') throw new Refusal('method', '', 'Method Not Allowed');
  (wire.auth ?? bearerKey())(call);
  const asked = readRequest(wire, call);
  const rows = rowsOf(wire, asked);
  const reply = wire.reply?.(rows, asked) ?? {
    ...wire.around?.(asked),
    [wire.list ?? 'results']: rows.map((row) => ({
      index: row.index,
      [wire.score ?? 'relevance_score']: row.score,
      ...wire.rowMembers?.(row, asked),
    })),
  };
  const headers = wire.replyHeaders?.(asked);
  return { status: 200, json: reply, ...(headers === undefined ? {} : { headers }) };
}

function readRequest(wire: Wire, call: StubCall): Asked {
  if (!/^application\/json\b/i.test(call.headers['content-type'] ?? '')) {
    throw new Refusal('content-type', '', 'Expected request with `Content-Type: application/json`');
  }
  const body = parseBody(call);
  const names = {
    model: 'model',
    query: 'query',
    documents: 'documents',
    topN: 'top_n',
    echo: 'return_documents',
    ...wire.names,
  };
  object(
    wire.required ?? { model: string(), query: string(), documents: list(string()) },
    wire.optional ?? { top_n: count, return_documents: flag },
    wire.unknown ?? 'ignored',
  )(body, '');
  wire.also?.(body, call);
  const sources = valueAt(body, names.documents);
  const documents = Array.isArray(sources) ? (sources as unknown[]) : [sources];
  const texts = documents.map((document) => (wire.textOf ?? plainText)(document));
  const query = plainText(valueAt(body, names.query));
  const asked = Number(valueAt(body, names.topN) ?? texts.length);
  const all = (asked === 0 && wire.topNZeroIsAll === true) || wire.ignoresTopN === true;
  return {
    call,
    body,
    model: plainText(valueAt(body, names.model)),
    query,
    texts,
    topN: all ? texts.length : Math.min(asked, texts.length),
    echo: Boolean(valueAt(body, names.echo) ?? wire.echoDefault ?? false),
    tokens: countTokens(query, texts),
  };
}

function parseBody({ body }: StubCall): unknown {
  let value: unknown;
  try {
    value = JSON.parse(body.toString('utf8'));
  } catch (error) {
    throw new Refusal('json', '', error instanceof Error ? error.message : 'invalid JSON');
  }
  if (!isObject(value)) throw new Refusal('json', '', 'the body must be a JSON object');
  return value;
}

function rowsOf(wire: Wire, asked: Asked): WireRow[] {
  const { query, texts, topN, model, body } = asked;
  const scale = typeof wire.scale === 'function' ? wire.scale(model) : wire.scale;
  const scored = scoreAll(query, texts, scale ?? 'probability');
  const sorted = (wire.order ?? 'sorted') === 'sorted' ? bestFirst(scored) : scored;
  const sources = valueAt(body, wire.names?.documents ?? 'documents');
  return alterRows(sorted.slice(0, topN), asked.call.modes, wire.indexed ?? true).map((row) => ({
    ...row,
    text: texts[row.index] ?? '',
    source: Array.isArray(sources) ? (sources[row.index] as unknown) : undefined,
  }));
}
