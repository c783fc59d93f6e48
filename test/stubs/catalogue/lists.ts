import {
  anything,
  count,
  either,
  flag,
  isObject,
  list,
  object,
  oneOf,
  orNull,
  Refusal,
  string,
  valueAt,
  whole,
  type Check,
} from '../checks.js';
import { detailList, detailText, errorObject, USUAL_ERRORS } from '../errors.js';
import { STUB_KEY, type Stub } from '../stub.js';
import {
  echoObject,
  echoString,
  header,
  wireStub,
  bearerKey,
  type Asked,
  type ErrorShape,
  type ListedError,
  type Wire,
} from '../wire.js';

/** Hosted providers with a list of rows: `results`, `data` or a name of their own. */

const text = string();
const name = string({ min: 1 });
const strings = list(text);

const usage = ({ tokens }: Asked) => ({
  usage: { prompt_tokens: tokens, completion_tokens: 0, total_tokens: tokens },
});

const openaiError = errorObject();

/** Both keys take one prefix each, as both hosts do. */
function voyage(prefix: string): Stub {
  const key = `${prefix}${STUB_KEY}`;
  return wireStub({
    auth: bearerKey(key),
    required: {
      model: name,
      query: name,
      documents: list(string({ min: 1 }), { max: 1_000 }),
    },
    optional: { top_k: orNull(count), return_documents: flag, truncation: flag },
    unknown: 'refused',
    names: { topN: 'top_k' },
    also: (body, { modes }) => {
      const documents = valueAt(body, 'documents');
      if (!modes.has('strict-top-k') || !Array.isArray(documents)) return;
      if (Number(valueAt(body, 'top_k') ?? 1) > documents.length) {
        throw new Refusal('range', 'top_k', 'top_k must not exceed the number of documents');
      }
    },
    list: 'data',
    rowMembers: echoString,
    around: ({ model, tokens }) => ({ object: 'list', model, usage: { total_tokens: tokens } }),
    error: ({ status, message, kind, at }) => ({
      status,
      json: {
        detail:
          kind === 'unknown'
            ? `Argument '${at}' is not supported by our API`
            : kind === 'blank' || kind === 'empty'
              ? 'Input cannot contain empty strings or empty lists'
              : kind === 'too-many'
                ? 'The number of documents in the batch size must be at most 1000 documents'
                : message,
      },
    }),
    errors: {
      invalid: {
        status: 400,
        message: 'Input cannot contain empty strings or empty lists',
        blames: 'caller',
      },
      'batch-tokens': {
        status: 400,
        message:
          'The max allowed tokens per submitted batch is 600000. Your batch has 700000 tokens.',
        blames: 'limit',
      },
      malformed: { status: 422, message: 'malformed', blames: 'caller' },
      ...USUAL_ERRORS,
      'bad-gateway': { status: 502, message: '', reply: { status: 502, text: 'Bad Gateway' } },
    },
    variants: { 'strict-top-k': 'refuses top_k above the number of documents' },
    channel: { credentials: { apiKey: key } },
  });
}

const jina: Wire = {
  required: {
    model: name,
    query: either(name, object({ text: name })),
    documents: list(either(text, object({}, { text, image: name }))),
  },
  optional: {
    top_n: count,
    return_documents: flag,
    max_doc_length: count,
    truncation: flag,
    return_embeddings: flag,
  },
  unknown: 'refused',
  statuses: { type: 422, missing: 422, unknown: 422 },
  rowMembers: (row, asked) => {
    const legacy = asked.call.modes.has('legacy');
    const echo = asked.echo || (legacy && valueAt(asked.body, 'return_documents') === undefined);
    return echo ? { document: legacy ? row.text : { text: row.text } } : {};
  },
  around: ({ model, tokens, call }) =>
    call.modes.has('legacy')
      ? { model, usage: { prompt_tokens: tokens, total_tokens: tokens } }
      : { model, object: 'list', usage: { total_tokens: tokens } },
  error: detailList,
  errors: {
    ...USUAL_ERRORS,
    'no-balance': {
      status: 402,
      message: 'Account balance not enough to run this query, please recharge.',
    },
    'no-balance-403': {
      status: 403,
      message: 'Account balance not enough to run this query, please recharge.',
    },
    validation: {
      status: 400,
      message:
        "[RID: 0123456789abcdef0123456789abcdef] Validation error: 'body -> m' bad. Field errors: none",
      blames: 'caller',
    },
    'validation-list': { status: 422, message: 'Field required', blames: 'caller' },
    'gateway-timeout': {
      status: 524,
      message: '',
      reply: { status: 524, text: 'error code: 524' },
    },
  },
  variants: { legacy: 'echoes by default, as a string, and counts prompt tokens' },
};

const siliconflowErrors: Readonly<Record<string, ListedError>> = {
  invalid: { status: 400, message: 'invalid parameter', code: '20015', blames: 'caller' },
  'unknown-model': { status: 400, message: 'no such model: x/y', code: '20012' },
  unauthorized: { status: 401, message: 'Invalid token' },
  'no-balance': {
    status: 403,
    message: 'Sorry, your account balance is insufficient',
    code: '30001',
  },
  'no-route': { status: 404, message: '404 page not found' },
  'rate-limit': {
    status: 429,
    message: 'Request was rejected due to rate limiting. Details:TPM limit reached.',
  },
  internal: { status: 500, message: 'unknown error', code: '50507' },
  overloaded: {
    status: 503,
    message: 'Model service overloaded. Please try again later.',
    code: '50505',
  },
};

const siliconflowError: ErrorShape = ({ status, message, code }) => {
  if (status === 401) return { status, json: 'Invalid token' };
  if (status === 404) return { status, text: '404 page not found' };
  return { status, json: { code: Number(code ?? 20_012), message, data: null } };
};

const siliconflow: Wire = {
  required: { model: name, query: name, documents: either(strings, name) },
  optional: {
    top_n: count,
    return_documents: flag,
    instruction: name,
    max_chunks_per_doc: count,
    overlap_tokens: whole(0, 80),
  },
  unknown: 'refused',
  also: (body) => {
    const isQwen = /qwen3/i.test(String(valueAt(body, 'model')));
    for (const member of isQwen ? ['max_chunks_per_doc', 'overlap_tokens'] : ['instruction']) {
      if (valueAt(body, member) !== undefined) {
        throw new Refusal('unknown', member, `${member} is not supported by this model`);
      }
    }
  },
  rowMembers: echoObject,
  around: ({ tokens, call }) => ({
    id: 'rerank-0192abcd',
    ...(call.modes.has('old')
      ? { tokens: { input_tokens: tokens, output_tokens: 0 } }
      : {
          meta: {
            tokens: { input_tokens: tokens, output_tokens: 0, image_tokens: 0 },
            billed_units: {
              input_tokens: tokens,
              output_tokens: 0,
              image_tokens: 0,
              search_units: 0,
              classifications: 0,
            },
          },
        }),
  }),
  error: siliconflowError,
  errors: siliconflowErrors,
  variants: { old: 'tokens in a member of their own' },
};

const dashscopeError: ErrorShape = ({ status, message, code, kind, at }) => {
  const usual =
    kind === 'key' || kind === 'no-key'
      ? 'InvalidApiKey'
      : kind === 'missing' && at.startsWith('input')
        ? 'BadRequest.EmptyInput'
        : kind === 'missing' && at === 'parameters'
          ? 'BadRequest.EmptyParameters'
          : kind === 'missing' && at === 'model'
            ? 'BadRequest.EmptyModel'
            : 'InvalidParameter';
  return {
    status,
    json: { request_id: '2e5d0000-0000-9000-8000-000000000002', code: code ?? usual, message },
  };
};

const dashscopeErrors: Readonly<Record<string, ListedError>> = {
  'invalid-parameter': { status: 400, message: 'bad', code: 'InvalidParameter', blames: 'caller' },
  inspection: {
    status: 400,
    message: 'inappropriate content',
    code: 'DataInspectionFailed',
    blames: 'limit',
  },
  arrearage: { status: 400, message: 'Access denied, account in arrears', code: 'Arrearage' },
  'document-refused': {
    status: 400,
    message:
      '<400> InternalError.Algo.InvalidParameter: Value error, document index:0 is invalid, too long: input.documents',
    code: 'InvalidParameter',
    blames: 'limit',
  },
  'invalid-key': { status: 401, message: 'Invalid API-key provided.', code: 'InvalidApiKey' },
  'access-denied': { status: 403, message: 'Model access denied.', code: 'Model.AccessDenied' },
  'model-not-found': { status: 404, message: 'Model not exist.', code: 'ModelNotFound' },
  throttling: {
    status: 429,
    message: 'Requests rate limit exceeded',
    code: 'Throttling.RateQuota',
  },
  'allocation-quota': {
    status: 429,
    message: 'Allocated quota exceeded',
    code: 'Throttling.AllocationQuota',
  },
  internal: { status: 500, message: 'internal', code: 'InternalError' },
  unavailable: { status: 503, message: 'unavailable', code: 'ModelUnavailable' },
};

const maxOf = (items: Check): Check => list(items, { max: 500 });
const picture = object({}, { text, image: name, video: name });

const dashscope: Wire = {
  paths: ['/api/v1/services/rerank/text-rerank/text-rerank'],
  required: {
    model: name,
    input: object({ query: either(name, picture), documents: maxOf(either(text, picture)) }),
    parameters: object({}, { top_n: count, return_documents: flag, instruct: text, fps: anything }),
  },
  optional: {},
  names: {
    query: 'input.query',
    documents: 'input.documents',
    topN: 'parameters.top_n',
    echo: 'parameters.return_documents',
  },
  also: (body) => {
    const documents = valueAt(body, 'input.documents');
    const isImageModel = String(valueAt(body, 'model')).includes('-vl-');
    if (!Array.isArray(documents)) return;
    const hasImages = documents.some((document) => valueAt(document, 'image') !== undefined);
    const most = hasImages ? 40 : 100;
    if (isImageModel && documents.length > most) {
      throw new Refusal(
        'too-many',
        'input.documents',
        `batch size is invalid, it should not be larger than ${most}`,
      );
    }
    if (!isImageModel && documents.some(isObject)) {
      throw new Refusal('type', 'input.documents', 'input.documents must be strings');
    }
  },
  reply: (rows, asked) => ({
    request_id: 'b042e72d-0000-9000-8000-000000000001',
    output: {
      results: rows.map((row) => ({
        index: row.index,
        relevance_score: row.score,
        ...echoObject(row, asked),
      })),
    },
    usage: { total_tokens: asked.tokens },
    ...(asked.call.modes.has('empty-code') ? { code: '', message: '' } : {}),
  }),
  error: dashscopeError,
  errors: dashscopeErrors,
  variants: { 'empty-code': 'carries an empty code and message beside its success' },
};

/** A workspace's own host: which one it is, its name says and no header. */
function ofWorkspace(wire: Wire): Wire {
  return {
    ...wire,
    auth: (call) => {
      if (call.headers['x-dashscope-workspace'] !== undefined) {
        throw new Refusal('unknown', 'X-DashScope-WorkSpace', 'the host names the workspace');
      }
      bearerKey()(call);
    },
    channel: { settings: () => ({ workspace: 'ws-1' }) },
  };
}

const dashscopeCompatible: Wire = {
  paths: ['/compatible-api/v1/reranks'],
  required: { model: name, query: name, documents: maxOf(text) },
  optional: { top_n: count, instruct: text, return_documents: flag },
  rowMembers: echoObject,
  around: ({ model, tokens }) => ({
    id: '0c9a0000-0000-9000-8000-000000000003',
    object: 'list',
    model,
    usage: { total_tokens: tokens },
  }),
  error: dashscopeError,
  errors: {
    ...dashscopeErrors,
    'openai-key': {
      status: 401,
      message: '',
      reply: {
        status: 401,
        json: {
          error: {
            code: 'invalid_api_key',
            message: 'Incorrect API key provided.',
            type: 'invalid_request_error',
            param: null,
          },
          request_id: 'x',
        },
      },
    },
  },
};

/** The fields of an object one after the other, as a ranking by `rank_fields` reads it. */
function fieldsText(document: unknown): string {
  return isObject(document) ? Object.values(document).map(String).join('\n') : String(document);
}

const mixedbread: Wire = {
  paths: ['/v1/reranking'],
  textOf: fieldsText,
  required: {
    query: string({ min: 1, max: 32_000 }),
    input: list(either(text, object({}, {}, 'ignored')), { max: 1_000 }),
  },
  optional: {
    model: string({ min: 1, max: 500 }),
    top_k: count,
    return_input: flag,
    rewrite_query: flag,
    rank_fields: list(name),
  },
  unknown: 'refused',
  names: { documents: 'input', topN: 'top_k', echo: 'return_input' },
  statuses: {
    unknown: 422,
    missing: 422,
    type: 422,
    range: 422,
    empty: 422,
    blank: 422,
    'too-many': 422,
    'too-long': 422,
  },
  list: 'data',
  score: 'score',
  rowMembers: ({ source }, { echo }) => ({ input: echo ? source : null, object: 'rank_result' }),
  around: ({ model, tokens, topN, echo }) => ({
    usage: { prompt_tokens: tokens, total_tokens: tokens, completion_tokens: 0 },
    model,
    object: 'list',
    top_k: topN,
    return_input: echo,
  }),
  error: detailList,
  errors: {
    ...USUAL_ERRORS,
    'validation-list': { status: 422, message: 'Field required', blames: 'caller' },
  },
};

const PINECONE_CODES: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'FORBIDDEN',
  404: 'NOT_FOUND',
  429: 'RESOURCE_EXHAUSTED',
  500: 'INTERNAL',
  503: 'UNAVAILABLE',
};

const pinecone: Wire = {
  paths: ['/rerank'],
  auth: (call) => {
    header('api-key', STUB_KEY)(call);
    if (!/^\d{4}-\d\d$/.test(String(call.headers['x-pinecone-api-version'] ?? ''))) {
      throw new Refusal('missing', 'X-Pinecone-Api-Version', 'X-Pinecone-Api-Version is required');
    }
  },
  required: {
    model: name,
    query: name,
    documents: list(object({}, {}, 'ignored'), { max: 200 }),
  },
  optional: {
    top_n: count,
    return_documents: flag,
    rank_fields: list(name),
    parameters: object(
      {},
      { truncate: oneOf('END', 'NONE'), max_chunks_per_doc: count, max_tokens_per_doc: count },
    ),
  },
  unknown: 'refused',
  also: (body) => {
    const documents = valueAt(body, 'documents');
    const fields = valueAt(body, 'rank_fields') ?? ['text'];
    if (!Array.isArray(documents) || !Array.isArray(fields)) return;
    const model = String(valueAt(body, 'model'));
    const ofCohere = model.startsWith('cohere');
    const known = ofCohere
      ? [model.includes('rerank-3') ? 'max_chunks_per_doc' : 'max_tokens_per_doc']
      : ['truncate'];
    const given = valueAt(body, 'parameters');
    const stranger = isObject(given)
      ? Object.keys(given).find((parameter) => !known.includes(parameter))
      : undefined;
    if (stranger !== undefined) {
      throw new Refusal(
        'unknown',
        stranger,
        `Parameter '${stranger}' is not supported for model '${model}'`,
      );
    }
    if (!ofCohere && documents.length > 100) {
      throw new Refusal('too-many', 'documents', 'the maximum number of documents is 100');
    }
    if (!ofCohere && fields.length > 1) {
      throw new Refusal('range', 'rank_fields', 'this model takes one rank field');
    }
    documents.forEach((document, index) => {
      for (const field of fields.map(String)) {
        if (typeof valueAt(document, field) !== 'string') {
          throw new Refusal(
            'missing',
            field,
            `field '${field}' not found in document at index ${index}`,
          );
        }
      }
    });
  },
  echoDefault: true,
  list: 'data',
  score: 'score',
  rowMembers: ({ source }, { echo }) => (echo ? { document: source } : {}),
  around: ({ model }) => ({ model, usage: { rerank_units: 1 } }),
  error: ({ status, message, code }) => ({
    status,
    json: { status, error: { code: code ?? PINECONE_CODES[status] ?? 'UNKNOWN', message } },
  }),
  errors: {
    invalid: { status: 400, message: 'bad', blames: 'caller' },
    unauthenticated: { status: 401, message: 'Invalid API Key' },
    forbidden: { status: 403, message: 'forbidden' },
    'not-found': { status: 404, message: "Model 'x' not found" },
    'rate-limit': { status: 429, message: 'Too many requests' },
    'monthly-quota': {
      status: 429,
      message: "You've reached the rerank request limit for this month",
      code: 'RESOURCE_EXHAUSTED',
    },
    internal: { status: 500, message: 'internal', code: 'UNKNOWN' },
    unavailable: { status: 503, message: 'unavailable' },
  },
};

const together: Wire = {
  required: { model: name, query: name, documents: list(either(text, object({}, {}, 'ignored'))) },
  optional: { top_n: count, return_documents: flag, rank_fields: list(name) },
  unknown: 'refused',
  also: (body) => {
    const documents = valueAt(body, 'documents');
    if (!Array.isArray(documents)) return;
    if (documents.some(isObject) && !documents.every(isObject)) {
      throw new Refusal('type', 'documents', 'documents must be all strings or all objects');
    }
  },
  rowMembers: ({ source, text: own }, { echo }) => ({
    document: echo ? { text: isObject(source) ? JSON.stringify(source) : own } : {},
  }),
  around: (asked) => ({
    id: 'oAbCdEf-1a2b3c',
    object: 'rerank',
    model: asked.model,
    ...usage(asked),
  }),
  error: errorObject(() => ({ type: 'invalid_request_error', param: null, code: null })),
  errors: {
    invalid: { status: 400, message: 'bad', blames: 'caller' },
    ...USUAL_ERRORS,
    'gateway-timeout': { status: 504, message: 'timed out' },
  },
};

const primeIntellect: Wire = {
  paths: ['/api/v1/rerank'],
  required: { model: name, query: text, documents: list(text, { max: 1_000 }) },
  optional: { top_n: count, instruction: text },
  unknown: 'refused',
  rowMembers: ({ text: own }) => ({ document: { text: own } }),
  around: ({ model, tokens }) => ({
    id: 'rerank-0001',
    model,
    usage: { total_tokens: tokens },
  }),
  error: (problem) =>
    problem.status === 401 || problem.status === 404 || problem.status === 503
      ? { status: problem.status, json: { detail: problem.message } }
      : errorObject(() => ({ type: 'invalid_request_error', code: 'invalid_request' }))(problem),
  errors: {
    invalid: { status: 400, message: 'query must not be empty', blames: 'caller' },
    'too-long': {
      status: 400,
      message: 'prompt 2 has 40000 tokens, which exceeds the maximum of 32768',
      blames: 'limit',
    },
    ...USUAL_ERRORS,
  },
};

/** One query, documents under `docs`, scores for all of them. */
const aliyunOpensearch: Wire = {
  paths: [/^\/v3\/openapi\/workspaces\/default\/ranker\/ops-[\w.-]+$/],
  required: { query: name, docs: list(text) },
  optional: {},
  unknown: 'refused',
  names: { documents: 'docs' },
  ignoresTopN: true,
  reply: (rows, { texts }) => ({
    request_id: '450fcb80-0000-46c1-8d69-000000000001',
    latency: 12.5,
    usage: { doc_count: texts.length },
    result: { scores: rows.map(({ index, score }) => ({ index, score })) },
  }),
  error: ({ status, message, code }) => ({
    status,
    json: {
      request_id: '450fcb80-0000-46c1-8d69-000000000002',
      latency: 0,
      code: code ?? 'InvalidParameter',
      http_code: status,
      message,
    },
  }),
  errors: {
    invalid: { status: 400, message: 'bad', blames: 'caller' },
    'access-denied': { status: 403, message: 'denied', code: 'AccessDenied' },
    'service-not-found': { status: 400, message: 'no such service', code: 'ServiceNotFound' },
    throttling: { status: 400, message: 'qps limit', code: 'Throttling.Qps' },
    'too-long': { status: 400, message: 'too long', code: 'InputTooLong', blames: 'limit' },
    internal: { status: 500, message: 'internal', code: 'InternalServerError' },
  },
};

/** Query and documents by names of its own. */
const opengatellm: Wire = {
  required: { model: name, prompt: text, input: strings },
  optional: {},
  unknown: 'refused',
  names: { query: 'prompt', documents: 'input' },
  ignoresTopN: true,
  list: 'data',
  score: 'score',
  rowMembers: () => ({ object: 'rerank' }),
  around: (asked) => ({ object: 'list', id: 'rerank-1', model: asked.model, ...usage(asked) }),
  error: detailText,
  errors: { invalid: { status: 422, message: 'bad', blames: 'caller' }, ...USUAL_ERRORS },
};

const fireworks: Wire = {
  paths: ['/inference/v1/rerank'],
  required: { model: name, query: text, documents: strings },
  optional: { top_n: orNull(count), return_documents: flag, task: orNull(text) },
  unknown: 'refused',
  echoDefault: true,
  list: 'data',
  rowMembers: echoString,
  around: (asked) => ({ object: 'list', model: asked.model, ...usage(asked) }),
  error: errorObject(({ code }) => ({
    object: 'error',
    type: 'invalid_request_error',
    ...(code === undefined ? {} : { code }),
  })),
  errors: {
    invalid: { status: 400, message: 'bad', blames: 'caller' },
    ...USUAL_ERRORS,
    forbidden: { status: 403, message: 'forbidden' },
    suspended: { status: 412, message: 'the account is suspended' },
    'too-large': { status: 413, message: 'request too large', blames: 'limit' },
    'bad-gateway': { status: 502, message: 'bad gateway' },
    'gateway-timeout': { status: 504, message: 'timed out' },
  },
};

const zhipu: Wire = {
  paths: ['/api/paas/v4/rerank'],
  required: {
    model: oneOf('rerank'),
    query: string({ max: 4_096 }),
    documents: list(string({ max: 4_096 }), { max: 128 }),
  },
  optional: {
    top_n: whole(0),
    return_documents: flag,
    return_raw_scores: flag,
    request_id: text,
    user_id: text,
  },
  unknown: 'refused',
  topNZeroIsAll: true,
  rowMembers: echoString,
  around: ({ tokens }) => ({
    created: 1_732_083_164,
    id: '20260101120000abcdef',
    request_id: 'r-1',
    usage: { prompt_tokens: tokens, total_tokens: tokens },
  }),
  error: ({ status, message, code }) => ({
    status,
    json: { error: { code: code ?? (status === 401 ? '1000' : '1214'), message } },
  }),
  errors: {
    invalid: { status: 400, message: 'bad', code: '1214', blames: 'caller' },
    'unknown-model': { status: 400, message: 'model does not exist', code: '1211' },
    'token-expired': { status: 401, message: 'token expired', code: '1003' },
    arrears: { status: 429, message: 'account balance used up', code: '1113' },
    'no-permission': { status: 434, message: 'no permission', code: '1220' },
    concurrency: { status: 429, message: 'concurrency too high', code: '1302' },
    rate: { status: 429, message: 'rate too high', code: '1305' },
    process: { status: 500, message: 'process error', code: '1230' },
  },
};

const baidu: Wire = {
  paths: ['/v2/rerank'],
  required: {
    model: name,
    query: string({ min: 1, max: 1_600 }),
    documents: list(string({ min: 1, max: 4_096 }), { max: 64 }),
  },
  optional: { top_n: count, user: text },
  unknown: 'refused',
  rowMembers: ({ text: own }) => ({ document: own }),
  around: ({ tokens }) => ({
    id: 'as-abc123',
    object: 'rerank_list',
    created: 1_735_000_000,
    usage: { prompt_tokens: tokens, total_tokens: tokens },
  }),
  error: ({ status, message, code }) => ({
    status,
    json: {
      id: 'as-abc123',
      error: {
        code: code ?? (status === 401 ? 'invalid_iam_token' : 'invalid_argument'),
        message,
        type: 'invalid_request_error',
      },
    },
  }),
  errors: {
    invalid: { status: 400, message: 'bad', blames: 'caller' },
    unauthorized: { status: 401, message: 'invalid token' },
    'unknown-model': { status: 404, message: 'no such model', code: 'invalid_model' },
    'rate-requests': { status: 429, message: 'rate limit', code: 'rpm_rate_limit_exceeded' },
    'rate-tokens': { status: 429, message: 'rate limit', code: 'tpm_rate_limit_exceeded' },
    internal: { status: 500, message: 'internal', code: 'internal_error' },
    // Told in a reply with status 200, in the first version's words.
    'inside-200': {
      status: 200,
      message: '',
      reply: {
        status: 200,
        json: { error_code: 18, error_msg: 'qps limit reached', id: 'as-abc123' },
      },
    },
  },
};

const openrouter: Wire = {
  paths: ['/api/v1/rerank'],
  required: {
    model: name,
    query: text,
    documents: list(either(text, object({}, { text, image: name }))),
  },
  optional: { top_n: count, provider: anything },
  unknown: 'refused',
  rowMembers: ({ source, text: own }) => ({ document: isObject(source) ? source : { text: own } }),
  around: ({ model, tokens }) => ({
    id: 'gen-rerank-1710000000-abc',
    model,
    provider: 'Cohere',
    usage: { search_units: 1, total_tokens: tokens, cost: 0.001 },
  }),
  error: ({ status, message }) => ({
    status,
    json: { error: { code: status, message }, user_id: null },
  }),
  errors: {
    invalid: { status: 400, message: 'bad', blames: 'caller' },
    unauthorized: { status: 401, message: 'No auth credentials found' },
    credits: { status: 402, message: 'Insufficient credits' },
    'not-found': { status: 404, message: 'No endpoints found for x/y.' },
    'rate-limit': { status: 429, message: 'Rate limit exceeded' },
    internal: { status: 500, message: 'internal' },
    'bad-gateway': { status: 502, message: 'provider returned error' },
    unavailable: { status: 503, message: 'no provider available' },
    'edge-timeout': { status: 524, message: 'timeout' },
    overloaded: { status: 529, message: 'provider overloaded' },
    'inside-200': {
      status: 200,
      message: '',
      reply: { status: 200, json: { error: { code: 502, message: 'provider returned error' } } },
    },
  },
};

const novitaError: ErrorShape = ({ status, message, code }) => ({
  status,
  json: {
    code: status,
    reason: code ?? (status === 401 ? 'FAILED_TO_AUTH' : 'INVALID_REQUEST_BODY'),
    message,
    metadata: {},
  },
});

const novita: Wire = {
  paths: ['/openai/v1/rerank'],
  optional: { top_n: count },
  unknown: 'refused',
  rowMembers: ({ text: own }) => ({ document: { text: own } }),
  around: (asked) => ({ id: 'rr-1', ...usage(asked) }),
  error: novitaError,
  errors: {
    invalid: { status: 400, message: 'bad', code: 'INVALID_REQUEST_BODY', blames: 'caller' },
    unauthorized: { status: 401, message: 'failed to auth', code: 'FAILED_TO_AUTH' },
    'no-key': { status: 403, message: 'no key', code: 'INVALID_API_KEY' },
    'no-balance': { status: 403, message: 'not enough balance', code: 'NOT_ENOUGH_BALANCE' },
    denied: { status: 403, message: 'access deny', code: 'ACCESS_DENY' },
    'unknown-model': { status: 404, message: 'model not found', code: 'MODEL_NOT_FOUND' },
    'rate-limit': { status: 429, message: 'rate limit exceeded', code: 'RATE_LIMIT_EXCEEDED' },
    'token-limit': { status: 429, message: 'token limit exceeded', code: 'TOKEN_LIMIT_EXCEEDED' },
    unavailable: { status: 503, message: 'not available', code: 'SERVICE_NOT_AVAILABLE' },
  },
};

/** What rows of these carry, asked for or not. */
const alwaysEchoes = {
  rowMembers: ({ text: own }: { readonly text: string }) => ({ document: { text: own } }),
};

const nebius: Wire = {
  ...alwaysEchoes,
  optional: { user: text, service_tier: text },
  // Ignored where it is sent: all come back.
  ignoresTopN: true,
  around: ({ model, tokens }) => ({
    id: 'rerank-bbbx1',
    model,
    usage: { prompt_tokens: tokens, total_tokens: tokens },
  }),
  error: detailText,
  errors: { invalid: { status: 400, message: 'bad', blames: 'caller' }, ...USUAL_ERRORS },
};

const gitee: Wire = {
  ...alwaysEchoes,
  around: (asked) => ({ id: 'rr-2', model: asked.model, ...usage(asked) }),
  error: openaiError,
  errors: { invalid: { status: 400, message: 'bad', blames: 'caller' }, ...USUAL_ERRORS },
};

const giteeMultimodal: Wire = {
  ...gitee,
  paths: ['/v1/rerank/multimodal'],
  required: {
    model: name,
    query: object({ text: name }),
    documents: list(object({}, { text, image: name })),
  },
  reply: (rows) =>
    // Counted from one, as a string.
    rows.map(({ index, score, text: own }) => ({
      index: String(index + 1),
      score,
      document: { text: own },
    })),
};

const zeroentropy: Wire = {
  paths: ['/v1/models/rerank'],
  optional: { top_n: orNull(count), latency: orNull(oneOf('fast', 'slow')) },
  unknown: 'refused',
  statuses: { unknown: 422, missing: 422, type: 422, range: 422, empty: 422 },
  around: ({ tokens, texts, query }) => ({
    total_bytes: texts.reduce((sum, own) => sum + 150 + query.length + own.length, 0),
    total_tokens: tokens,
    actual_latency_mode: 'fast',
    e2e_latency: 0.14,
    inference_latency: 0.09,
  }),
  error: detailList,
  errors: {
    'fast-busy': { status: 429, message: 'the fast limit is used up' },
    invalid: { status: 400, message: 'bad', blames: 'caller' },
    ...USUAL_ERRORS,
  },
};

const contextual: Wire = {
  optional: { top_n: count, instruction: text, metadata: list(text) },
  unknown: 'refused',
  statuses: { unknown: 422, missing: 422, type: 422, range: 422, empty: 422 },
  also: (body) => {
    const documents = valueAt(body, 'documents');
    const metadata = valueAt(body, 'metadata');
    if (
      Array.isArray(documents) &&
      Array.isArray(metadata) &&
      documents.length !== metadata.length
    ) {
      throw new Refusal('range', 'metadata', 'metadata must have as many entries as documents');
    }
  },
  error: detailList,
  errors: { validation: { status: 422, message: 'bad', blames: 'caller' }, ...USUAL_ERRORS },
};

const ISAACUS_ERROR: ErrorShape = ({ status, message }) => ({
  status,
  headers: { 'content-type': 'application/problem+json' },
  json: {
    type: `https://docs.isaacus.com/api-reference/errors#${status}-error`,
    title: message,
    status,
    detail: message,
    instance: null,
  },
});

const spoken = string({ min: 1, max: 10_000_000, blank: false });

const isaacus: Wire = {
  paths: ['/v1/rerankings'],
  required: { model: name, query: spoken, texts: list(spoken) },
  optional: {
    top_n: orNull(count),
    is_iql: flag,
    scoring_method: oneOf('auto', 'chunk_max', 'chunk_avg', 'chunk_min'),
    chunking_options: anything,
  },
  unknown: 'refused',
  names: { documents: 'texts' },
  score: 'score',
  around: ({ tokens }) => ({ usage: { input_tokens: tokens } }),
  error: ISAACUS_ERROR,
  errors: {
    validation: { status: 400, message: 'Validation error', blames: 'caller' },
    unauthorized: { status: 401, message: 'Unknown API key' },
    overdue: { status: 402, message: 'Account overdue' },
    forbidden: { status: 403, message: 'No subscription' },
    'too-large': { status: 413, message: 'Request too large', blames: 'limit' },
    'rate-limit': { status: 429, message: 'Too many requests' },
    internal: { status: 500, message: 'Chunking timeout' },
  },
};

const scaleway: Wire = {
  required: { model: name, query: text, documents: strings, top_n: count },
  optional: { return_documents: flag },
  rowMembers: ({ text: own }) => ({ document: { text: own } }),
  around: ({ model, tokens }) => ({
    id: 'rerank-1',
    model,
    usage: { prompt_tokens: tokens, total_tokens: tokens },
  }),
  error: ({ status, message, kind, at }) => ({
    status,
    json: {
      status,
      error: status === 400 ? 'BAD REQUEST' : 'ERROR',
      message:
        kind === 'missing' ? `payload validation: missing required ${at} number field` : message,
    },
  }),
  errors: { invalid: { status: 400, message: 'bad', blames: 'caller' }, ...USUAL_ERRORS },
};

const elastic: Wire = {
  paths: [/^\/_inference\/rerank\/[^/]+$/],
  auth: header('authorization', `ApiKey ${STUB_KEY}`),
  required: { query: name, input: either(strings, name) },
  optional: { return_documents: flag, top_n: count, task_settings: anything },
  unknown: 'refused',
  names: { documents: 'input' },
  also: (_body, { path }) => {
    if (path.endsWith('/unknown')) {
      throw new Refusal(
        'model',
        '',
        'Inference endpoint not found [unknown]',
        'resource_not_found_exception',
      );
    }
  },
  reply: (rows, { echo, call }) => ({
    rerank: rows.map(({ index, score, text: own }) => {
      const written = call.modes.has('strings')
        ? { index: String(index), relevance_score: String(score) }
        : { index, relevance_score: score };
      return echo ? { ...written, text: own } : written;
    }),
  }),
  error: ({ status, message, code }) => {
    const type = code ?? (status === 401 ? 'security_exception' : 'status_exception');
    return {
      status,
      json: { error: { root_cause: [{ type, reason: message }], type, reason: message }, status },
    };
  },
  errors: {
    invalid: { status: 400, message: 'bad', blames: 'caller' },
    unauthorized: {
      status: 401,
      message: 'unable to authenticate',
      headers: { 'www-authenticate': 'ApiKey' },
    },
    forbidden: { status: 403, message: 'forbidden', code: 'security_exception' },
    'not-found': { status: 404, message: 'not found', code: 'resource_not_found_exception' },
    timeout: { status: 408, message: 'timed out' },
    'rate-limit': { status: 429, message: 'rate limit' },
  },
  variants: { strings: 'index and score as strings' },
};

const CLOUDFLARE_CODES: Readonly<Record<string, number>> = {
  key: 10_000,
  'no-key': 10_000,
  path: 7_000,
  model: 5_007,
  'too-many': 3_006,
};

/** The model is the end of the path; `response` is the list, `id` the index. */
function cloudflare(prefix: RegExp, more: Partial<Wire> = {}): Stub {
  return wireStub({
    paths: [prefix],
    required: { query: name, contexts: list(object({ text })) },
    optional: { top_k: count },
    unknown: 'refused',
    also: (_body, { path }) => {
      if (!path.endsWith('/@cf/baai/bge-reranker-base')) {
        throw new Refusal('model', '', 'No such model or task', '5007');
      }
    },
    names: { documents: 'contexts', topN: 'top_k' },
    scale: 'logit',
    reply: (rows) => ({
      result: { response: rows.map(({ index, score }) => ({ id: index, score })) },
      success: true,
      errors: [],
      messages: [],
    }),
    statuses: { model: 400 },
    error: ({ status, message, kind, code }) => ({
      status,
      json: {
        success: false,
        errors: [{ code: Number(code ?? CLOUDFLARE_CODES[kind ?? ''] ?? 5_006), message }],
        messages: [],
        result: null,
      },
    }),
    errors: {
      schema: { status: 400, message: 'AiError: Bad input', code: '5006', blames: 'caller' },
      'no-model': { status: 400, message: 'No such model', code: '5007' },
      authentication: { status: 401, message: 'Authentication error', code: '10000' },
      'not-accepted': { status: 403, message: 'model agreement not accepted', code: '5016' },
      blocked: { status: 403, message: 'account blocked', code: '3023' },
      'invalid-model': { status: 404, message: 'invalid model', code: '3042' },
      timeout: { status: 408, message: 'timeout', code: '3007' },
      'too-large': { status: 413, message: 'request too large', code: '3006', blames: 'limit' },
      'daily-allocation': {
        status: 429,
        message: 'you have used up your daily free allocation',
        code: '3036',
      },
      capacity: { status: 429, message: 'out of capacity', code: '3040' },
      'inside-200': { status: 200, message: 'Bad', code: '3040' },
    },
    ...more,
  });
}

const deepinfra: Wire = {
  paths: [/^\/v1\/inference\/[^/%]+\/[^/%]+$/],
  required: { documents: strings },
  optional: {
    queries: list(name),
    query: name,
    instruction: text,
    service_tier: oneOf('default', 'priority'),
  },
  unknown: 'refused',
  statuses: { missing: 422, unknown: 422, type: 422, range: 422, empty: 422 },
  also: (body, { path }) => {
    const queries = valueAt(body, 'queries');
    const documents = valueAt(body, 'documents');
    const wanted = path.includes('Qwen') ? 'queries' : 'query';
    if (valueAt(body, wanted) === undefined) {
      throw new Refusal('missing', wanted, `Field required: ${wanted}`);
    }
    if (!Array.isArray(queries) || !Array.isArray(documents)) return;
    if (queries.length !== 1 && queries.length !== documents.length) {
      throw new Refusal('range', 'queries', 'queries must have one entry or as many as documents');
    }
  },
  names: { query: 'queries.0' },
  order: 'input',
  indexed: false,
  reply: (rows, { tokens, call }) => {
    const scores = rows.map(({ score }) => score);
    return call.modes.has('bare')
      ? { scores }
      : {
          scores,
          input_tokens: tokens,
          request_id: null,
          inference_status: {
            status: 'unknown',
            runtime_ms: 83,
            cost: 0.000_002,
            tokens_input: tokens,
          },
        };
  },
  error: detailList,
  errors: {
    validation: { status: 422, message: 'bad', blames: 'caller' },
    ...USUAL_ERRORS,
    'rate-limit': { status: 429, message: 'Rate limited' },
  },
  variants: { bare: 'scores and nothing else' },
};

export const LIST_STUBS = {
  voyage: voyage('pa-'),
  'voyage-mongodb': voyage('al-'),
  jina: wireStub(jina),
  siliconflow: wireStub(siliconflow),
  'siliconflow-international': wireStub(siliconflow),
  dashscope: wireStub(dashscope),
  'dashscope-international': wireStub(dashscope),
  'dashscope-us': wireStub(dashscope),
  'dashscope-workspace': wireStub(ofWorkspace(dashscope)),
  'dashscope-compatible-workspace': wireStub(ofWorkspace(dashscopeCompatible)),
  'prime-intellect': wireStub(primeIntellect),
  'aliyun-opensearch': wireStub(aliyunOpensearch),
  opengatellm: wireStub(opengatellm),
  'dashscope-compatible': wireStub(dashscopeCompatible),
  'dashscope-compatible-international': wireStub(dashscopeCompatible),
  'dashscope-compatible-us': wireStub(dashscopeCompatible),
  mixedbread: wireStub(mixedbread),
  pinecone: wireStub(pinecone),
  together: wireStub(together),
  fireworks: wireStub(fireworks),
  zhipu: wireStub(zhipu),
  baidu: wireStub(baidu),
  openrouter: wireStub(openrouter),
  novita: wireStub(novita),
  ppio: wireStub(novita),
  jiekou: wireStub({
    ...novita,
    around: (asked) => ({ id: 'rr-1', model: asked.model, ...usage(asked) }),
  }),
  nebius: wireStub(nebius),
  gitee: wireStub(gitee),
  moark: wireStub(gitee),
  'moark-international': wireStub(gitee),
  'gitee-multimodal': wireStub(giteeMultimodal),
  'moark-multimodal': wireStub(giteeMultimodal),
  zeroentropy: wireStub(zeroentropy),
  'zeroentropy-eu': wireStub(zeroentropy),
  contextual: wireStub(contextual),
  isaacus: wireStub(isaacus),
  scaleway: wireStub(scaleway),
  elastic: wireStub(elastic),
  cloudflare: cloudflare(/^\/client\/v4\/accounts\/acct\/ai\/run\/@cf\/.+$/, {
    channel: { settings: () => ({ accountId: 'acct' }) },
  }),
  'cloudflare-gateway': cloudflare(/^\/v1\/acct\/gateway\/workers-ai\/@cf\/.+$/, {
    channel: { settings: () => ({ accountId: 'acct', gatewayId: 'gateway' }) },
  }),
  deepinfra: wireStub(deepinfra),
} satisfies Record<string, Stub>;
