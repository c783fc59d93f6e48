import {
  anything,
  count,
  isObject,
  list,
  object,
  oneOf,
  Refusal,
  string,
  textAt,
  valueAt,
  whole,
} from '../checks.js';
import { ACCESS_KEY_ID, checkAws, SECRET_KEY } from '../signatures.js';
import { STUB_KEY, type Stub } from '../stub.js';
import { wireStub, type Asked, type ErrorShape, type ListedError, type Wire } from '../wire.js';

const REGION = 'us-west-2';

const AWS_CHANNEL = {
  credentials: { accessKeyId: ACCESS_KEY_ID, secretAccessKey: SECRET_KEY },
  wrongCredentials: { accessKeyId: ACCESS_KEY_ID, secretAccessKey: 'wrong' },
  settings: () => ({ region: REGION }),
  model: 'cohere.rerank-v3-5:0',
};

const AWS_TYPES: Readonly<Record<string, string>> = {
  'unknown-key': 'UnrecognizedClientException',
  signature: 'InvalidSignatureException',
  expired: 'ExpiredTokenException',
  scope: 'InvalidSignatureException',
  malformed: 'IncompleteSignatureException',
};

const awsError: ErrorShape = ({ status, message, code, kind }) => {
  const usual =
    kind === 'key' || kind === 'no-key' ? 'AccessDeniedException' : 'ValidationException';
  const type = AWS_TYPES[code ?? ''] ?? code ?? usual;
  return {
    status,
    headers: { 'x-amzn-errortype': `${type}:http://internal.amazon.com/coral/` },
    json: { message },
  };
};

const AWS_ERRORS: Readonly<Record<string, ListedError>> = {
  validation: {
    status: 400,
    message: 'The query is invalid.',
    code: 'ValidationException',
    blames: 'caller',
  },
  quota: { status: 400, message: 'quota exceeded', code: 'ServiceQuotaExceededException' },
  'access-denied': {
    status: 403,
    message: 'not authorized to perform: bedrock:Rerank',
    code: 'AccessDeniedException',
  },
  'expired-token': {
    status: 403,
    message: 'The security token included in the request is expired',
    code: 'ExpiredTokenException',
  },
  'not-found': { status: 404, message: 'Model not found.', code: 'ResourceNotFoundException' },
  throttling: { status: 429, message: 'Too many requests', code: 'ThrottlingException' },
  internal: { status: 500, message: 'internal error', code: 'InternalServerException' },
};

/** Rows by two and a token for the next ones. */
function pageOf(rows: readonly unknown[], { call, body }: Asked): object {
  if (!call.modes.has('pages')) return { results: rows };
  const from = Number(valueAt(body, 'nextToken') ?? 0);
  const next = from + 2;
  return {
    results: rows.slice(from, next),
    ...(next < rows.length ? { nextToken: String(next) } : {}),
  };
}

const bedrock: Wire = {
  paths: ['/rerank'],
  auth: (call) => {
    checkAws(call, REGION);
  },
  required: {
    queries: list(
      object({
        type: oneOf('TEXT'),
        textQuery: object({ text: string({ min: 1, max: 32_000 }) }),
      }),
      { max: 1 },
    ),
    sources: list(
      object({
        type: oneOf('INLINE'),
        inlineDocumentSource: object(
          { type: oneOf('TEXT', 'JSON') },
          {
            textDocument: object({ text: string({ min: 1, max: 32_000 }) }),
            jsonDocument: anything,
          },
        ),
      }),
      { max: 1_000 },
    ),
    rerankingConfiguration: object({
      type: oneOf('BEDROCK_RERANKING_MODEL'),
      bedrockRerankingConfiguration: object(
        {
          modelConfiguration: object(
            { modelArn: string({ min: 1 }) },
            { additionalModelRequestFields: anything },
          ),
        },
        { numberOfResults: whole(1, 1_000) },
      ),
    }),
  },
  optional: { nextToken: string({ min: 1, max: 2_048 }) },
  unknown: 'refused',
  also: (body) => {
    const configuration = 'rerankingConfiguration.bedrockRerankingConfiguration';
    const sources = valueAt(body, 'sources');
    const results = valueAt(body, `${configuration}.numberOfResults`);
    if (Array.isArray(sources) && Number(results ?? 0) > sources.length) {
      throw new Refusal(
        'range',
        'numberOfResults',
        'Cannot provide numberOfResults value that exceeds the number of sources.',
      );
    }
    const arn = String(valueAt(body, `${configuration}.modelConfiguration.modelArn`));
    if (!/^arn:aws(-[\w-]+)?:bedrock:[\w-]+::foundation-model\/.+$/.test(arn)) {
      throw new Refusal(
        'range',
        'modelArn',
        'The model ARN should be of the form arn:aws:bedrock:region::foundation-model/model',
      );
    }
  },
  names: {
    query: 'queries.0.textQuery',
    documents: 'sources',
    topN: 'rerankingConfiguration.bedrockRerankingConfiguration.numberOfResults',
    model: 'rerankingConfiguration.bedrockRerankingConfiguration.modelConfiguration.modelArn',
  },
  textOf: (source) => textAt(source, 'inlineDocumentSource.textDocument.text'),
  reply: (rows, asked) =>
    pageOf(
      rows.map(({ index, score }) => ({ index, relevanceScore: score })),
      asked,
    ),
  replyHeaders: () => ({ 'x-amzn-requestid': '5f0c2c9e-0000-4000-8000-000000000001' }),
  statuses: { 'no-key': 403, key: 403, 'content-type': 400 },
  error: awsError,
  errors: {
    ...AWS_ERRORS,
    conflict: { status: 409, message: 'conflict', code: 'ConflictException' },
    dependency: { status: 424, message: 'the model failed', code: 'DependencyFailedException' },
    'bad-gateway': { status: 502, message: 'bad gateway', code: 'BadGatewayException' },
    'not-arn': {
      status: 400,
      message: 'The model ARN should be of the form arn:aws:bedrock:region::foundation-model/model',
      code: 'ValidationException',
    },
  },
  variants: { pages: 'two rows a page, and a token for the next' },
  channel: AWS_CHANNEL,
};

const invoke: Wire = {
  paths: [/^\/model\/[^/]+\/invoke$/],
  auth: (call) => {
    if (call.headers.authorization === `Bearer ${STUB_KEY}`) return;
    checkAws(call, REGION);
  },
  required: { query: string({ min: 1 }), documents: list(string({ min: 1 }), { max: 1_000 }) },
  optional: { top_n: count, api_version: whole(1), max_tokens_per_doc: count },
  unknown: 'ignored',
  also: (body, { path }) => {
    const malformed = (what: string): never => {
      throw new Refusal(
        'unknown',
        '',
        `Malformed input request: ${what}, please reformat your input and try again.`,
      );
    };
    const known = ['query', 'documents', 'top_n', 'api_version', 'max_tokens_per_doc'];
    const names = isObject(body) ? Object.keys(body) : [];
    const stranger = names.find((name) => !known.includes(name));
    if (stranger !== undefined) malformed(`extraneous key [${stranger}] is not permitted`);
    // Colons must come escaped, as the SDKs send them.
    if (path.includes(':')) throw new Refusal('path', '', 'The model identifier is not escaped.');
    const ofAmazon = decodeURIComponent(path).includes('amazon.rerank');
    if (ofAmazon && (names.includes('api_version') || names.includes('max_tokens_per_doc'))) {
      malformed('extraneous key [api_version] is not permitted');
    }
    if (!ofAmazon && !names.includes('api_version'))
      malformed('required key [api_version] not found');
  },
  replyHeaders: ({ tokens }) => ({ 'x-amzn-bedrock-input-token-count': String(tokens) }),
  statuses: { 'no-key': 403, key: 403, 'content-type': 400 },
  error: awsError,
  errors: {
    ...AWS_ERRORS,
    'model-timeout': { status: 408, message: 'the model timed out', code: 'ModelTimeoutException' },
    'model-error': { status: 424, message: 'the model failed', code: 'ModelErrorException' },
    'not-ready': { status: 429, message: 'the model is not ready', code: 'ModelNotReadyException' },
    'api-version': {
      status: 400,
      message:
        'Malformed input request: required key [api_version] not found, please reformat your input and try again.',
      code: 'ValidationException',
    },
    unavailable: { status: 503, message: 'unavailable', code: 'ServiceUnavailableException' },
  },
  channel: AWS_CHANNEL,
};

/** Amazon Bedrock. */
export const AWS_STUBS = {
  bedrock: wireStub(bedrock),
  'bedrock-invoke': wireStub(invoke),
} satisfies Record<string, Stub>;
