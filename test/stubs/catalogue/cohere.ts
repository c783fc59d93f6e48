import {
  count,
  either,
  flag,
  isObject,
  list,
  oneOf,
  Refusal,
  string,
  valueAt,
  whole,
  type Check,
} from '../checks.js';
import { entraIssuer, issuedBy } from '../issuers.js';
import { STUB_KEY, type Stub } from '../stub.js';
import {
  echoObject,
  wireStub,
  type Asked,
  type ErrorShape,
  type ListedError,
  type Wire,
  type WireRow,
} from '../wire.js';

const MAX_DOCUMENTS = 10_000;

const error: ErrorShape = ({ status, message, kind, at }) => ({
  status,
  json: {
    id: '5f0c2c9e-0000-4000-8000-0000000000ff',
    message:
      kind === 'unknown' ? `unknown field: parameter '${at}' is not a valid field.` : message,
  },
});

const ERRORS: Readonly<Record<string, ListedError>> = {
  'no-key': { status: 401, message: 'no api key supplied' },
  'trial-expired': { status: 401, message: 'your trial key has expired' },
  billing: { status: 402, message: 'please add a payment method' },
  forbidden: { status: 403, message: 'forbidden' },
  'edge-forbidden': {
    status: 403,
    message: '',
    reply: {
      status: 403,
      headers: { 'content-type': 'text/html' },
      text: '<html><head><title>403 Forbidden</title></head></html>',
    },
  },
  'unknown-model': {
    status: 404,
    message: "model 'x' not found, make sure the correct model ID was used",
  },
  'trial-minute': {
    status: 429,
    message: 'You are using a Trial key, which is limited to 10 API calls / minute.',
  },
  'trial-month': {
    status: 429,
    message: 'You are using a Trial key, which is limited to 1000 API calls / month.',
  },
  'deny-listed': { status: 498, message: 'blocked' },
  cancelled: { status: 499, message: 'request cancelled' },
  internal: { status: 500, message: 'internal server error' },
  'not-implemented': { status: 501, message: 'not implemented' },
  unavailable: { status: 503, message: 'service unavailable' },
  'gateway-timeout': { status: 504, message: 'gateway timeout' },
  chunks: { status: 400, message: 'total number of chunks cannot exceed 10000', blames: 'limit' },
  invalid: { status: 400, message: 'query must not be empty', blames: 'caller' },
};

const meta =
  (version: string) =>
  ({ texts, call }: Asked) => ({
    id: '5f0c2c9e-0000-4000-8000-000000000001',
    meta: {
      api_version: call.modes.has('bare-meta') ? { version } : { version, is_experimental: false },
      billed_units: { search_units: Math.ceil(texts.length / 100) },
    },
  });

const common = {
  unknown: 'refused',
  statuses: { unknown: 422, type: 422, 'content-type': 400 },
  error,
  errors: ERRORS,
  variants: { 'bare-meta': 'meta without is_experimental' },
} satisfies Partial<Wire>;

const query = string({ min: 1, blank: false });
const strings = list(string({ min: 1 }), { max: MAX_DOCUMENTS });

export const cohereWire: Wire = {
  ...common,
  paths: ['/v2/rerank'],
  required: { model: string({ min: 1 }), query, documents: strings },
  optional: { top_n: count, max_tokens_per_doc: count, priority: whole(0, 999) },
  around: meta('2'),
};

const stringValues: Check = (value, at) => {
  if (!isObject(value)) throw new Refusal('type', at, `${at} must be an object`);
  for (const [name, member] of Object.entries(value)) string()(member, `${at}.${name}`);
};

/** Each object must have the fields that are ranked. */
function hasRankFields(body: unknown): void {
  const fields = valueAt(body, 'rank_fields') ?? ['text'];
  const documents = valueAt(body, 'documents');
  if (!Array.isArray(fields) || !Array.isArray(documents)) return;
  documents.forEach((document, index) => {
    if (!isObject(document)) return;
    for (const field of fields.map(String)) {
      if (document[field] === undefined) {
        throw new Refusal(
          'missing',
          `documents.${index}`,
          `documents.${index} has no field ${field}`,
        );
      }
    }
  });
}

function joinedText(document: unknown): string {
  return isObject(document) ? Object.values(document).join('\n') : String(document);
}

const cohereV1Wire: Wire = {
  ...common,
  required: {
    // The schema calls it optional, newer keys do not.
    model: string({ min: 1 }),
    query,
    documents: list(either(string({ min: 1 }), stringValues), { max: MAX_DOCUMENTS }),
  },
  optional: {
    top_n: count,
    return_documents: flag,
    rank_fields: list(string({ min: 1 })),
    max_chunks_per_doc: count,
  },
  also: hasRankFields,
  textOf: joinedText,
  rowMembers: (row: WireRow, asked: Asked) =>
    isObject(row.source) && asked.echo ? { document: row.source } : echoObject(row, asked),
  around: meta('1'),
};

/** Azure's gateway tells a wrong key in its own way, then speaks as Cohere does. */
function azure(wire: Wire, paths: readonly string[]): Stub {
  return wireStub({
    ...wire,
    paths,
    beside: entraIssuer,
    auth: (call) => {
      if (call.headers.authorization?.startsWith('Bearer entra.') === true) {
        issuedBy('entra')(call);
        return;
      }
      const key = call.headers['api-key'] ?? call.headers.authorization?.replace(/^Bearer /i, '');
      if (key === undefined) throw new Refusal('no-key', '', NO_TOKEN);
      if (key !== STUB_KEY) throw new Refusal('key', '', NO_TOKEN);
      if (call.search.has('api-version')) {
        throw new Refusal('range', 'api-version', 'API version not supported');
      }
    },
    error: (problem) =>
      problem.status === 401
        ? { status: 401, json: { statusCode: 401, message: NO_TOKEN } }
        : problem.at === 'api-version'
          ? { status: 400, json: { error: { code: 'BadRequest', message: problem.message } } }
          : error(problem),
    errors: {
      ...ERRORS,
      'bad-version': {
        status: 400,
        message: '',
        reply: {
          status: 400,
          json: { error: { code: 'BadRequest', message: 'API version not supported' } },
        },
      },
      'model-fault': { status: 424, message: 'the model container failed' },
      'rate-limit': {
        status: 429,
        message: 'Rate limit is exceeded. Try again in 3 seconds.',
        headers: { 'retry-after': '3' },
      },
    },
    replyHeaders: () => ({ 'azureml-model-group': 'offer-cohere-rerank-mul-paygo' }),
  });
}

/** Microsoft's own ranker: a key or a token, a version in the address of the general service. */
function azureRanker(version: boolean): Stub {
  return wireStub({
    paths: ['/inference/semanticReranking'],
    beside: entraIssuer,
    auth: (call) => {
      if (version !== call.search.has('api-version')) {
        throw new Refusal('range', 'api-version', 'the api-version query parameter is wrong');
      }
      if (call.headers.authorization?.startsWith('Bearer entra.') === true) {
        issuedBy('entra')(call);
        return;
      }
      const key = call.headers['api-key'];
      if (key === undefined) throw new Refusal('no-key', '', NO_TOKEN);
      if (key !== STUB_KEY) throw new Refusal('key', '', NO_TOKEN);
    },
    required: { query: string({ min: 1 }), documents: list(string({ min: 1 })) },
    optional: {
      model: string({ min: 1 }),
      return_documents: flag,
      top_k: count,
      batch_size: count,
      sort: flag,
      document_type: oneOf('string', 'json'),
      target_paths: list(string({ min: 1 })),
    },
    unknown: 'refused',
    names: { topN: 'top_k' },
    reply: (rows, { tokens }) => ({
      scores: rows.map(({ index, score }) => ({ index, score })),
      meta: { tokenUsage: { totalTokens: tokens } },
    }),
    replyHeaders: () => ({ 'x-correlation-id': '9c2e0000-0000-4000-8000-000000000001' }),
    error: ({ status, message, code }) => ({
      status,
      json: { error: { code: code ?? 'BadRequest', message } },
    }),
    errors: {
      invalid: { status: 400, message: 'documents must not be empty', blames: 'caller' },
      'rate-limit': { status: 429, message: 'Too many requests', code: 'TooManyRequests' },
      'bad-gateway': { status: 502, message: 'bad gateway', code: 'BadGateway' },
    },
  });
}

const NO_TOKEN =
  'Unauthorized. Access token is missing, invalid, audience is incorrect, or have expired.';

export const COHERE_STUBS = {
  cohere: wireStub(cohereWire),
  'cohere-v1': wireStub(cohereV1Wire),
  'azure-data-ai': azureRanker(true),
  'azure-cosmos-rerank': azureRanker(false),
  'azure-serverless': azure(cohereWire, ['/v2/rerank']),
  'azure-serverless-v1': azure(cohereV1Wire, ['/v1/rerank']),
  'azure-foundry': azure(cohereWire, ['/providers/cohere/v2/rerank']),
} satisfies Record<string, Stub>;
