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
} from '../checks.js';
import { detailList, detailText, errorObject, errorText, plain, USUAL_ERRORS } from '../errors.js';
import { STUB_KEY, type Stub } from '../stub.js';
import {
  bearerKey,
  echoObject,
  echoString,
  header,
  open,
  plainText,
  wireStub,
  type Asked,
  type ErrorShape,
  type ListedError,
  type Wire,
} from '../wire.js';

const text = string();
const strings = list(text);
const name = string({ min: 1 });

const usage = ({ tokens }: Asked) => ({ usage: { prompt_tokens: tokens, total_tokens: tokens } });

/** TEI: what its handlers refuse is JSON, what its web framework refuses is plain text, a wrong key is nothing. */
const teiError: ErrorShape = ({ status, message, kind, code }) => {
  if (kind === 'key' || kind === 'no-key') return { status };
  if (kind === 'path') return { status: 404 };
  if (kind === 'type' || kind === 'missing' || kind === 'json' || kind === 'content-type') {
    const words =
      kind === 'content-type'
        ? message
        : `Failed to deserialize the JSON body into the target type: ${message}`;
    return { status, text: words };
  }
  return { status, json: { error: message, error_type: code ?? 'Validation' } };
};

const TEI_ERRORS: Readonly<Record<string, ListedError>> = {
  empty: { status: 400, message: '`texts` cannot be empty', code: 'Empty', blames: 'caller' },
  'batch-413': { status: 413, message: 'batch size 64 > maximum allowed batch size 32' },
  'batch-422': { status: 422, message: 'batch size 64 > maximum allowed batch size 32' },
  'tokens-422': {
    status: 422,
    message: 'Input validation error: `inputs` must have less than 512 tokens. Given: 734',
  },
  'body-413': {
    status: 413,
    message: '',
    reply: { status: 413, text: 'Failed to buffer the request body: length limit exceeded' },
  },
  tokenizer: { status: 422, message: 'tokenizer error', code: 'Tokenizer', blames: 'caller' },
  'no-reranker': {
    status: 424,
    message: 'Backend error: model is not a re-ranker model',
    code: 'Backend',
  },
  nan: { status: 424, message: 'score is NaN', code: 'Backend' },
  overloaded: { status: 429, message: 'Model is overloaded', code: 'Overloaded' },
  unhealthy: { status: 503, message: 'unhealthy', code: 'Unhealthy' },
};

function teiBatch(max: number, status: string) {
  return (value: unknown, at: string): void => {
    if (Array.isArray(value) && value.length > max) {
      throw new Refusal(
        'too-many',
        at,
        `batch size ${value.length} > maximum allowed batch size ${max}`,
        status,
      );
    }
  };
}

const texts = (value: unknown, at: string): void => {
  if (!Array.isArray(value) || value.some((item) => typeof item !== 'string')) {
    throw new Refusal('type', at, 'invalid type: map, expected a string');
  }
  if (value.length === 0) throw new Refusal('empty', at, '`texts` cannot be empty', 'Empty');
  teiBatch(32, 'Validation')(value, at);
};

const tei: Wire = {
  paths: ['/rerank', '/', '/invocations'],
  required: { query: text, texts },
  optional: {
    truncate: orNull(flag),
    truncation_direction: oneOf('Right', 'Left', 'right', 'left'),
    raw_scores: flag,
    return_text: flag,
  },
  names: { documents: 'texts', echo: 'return_text' },
  // There is none: all come back, always.
  ignoresTopN: true,
  statuses: { type: 422, missing: 422, 'too-many': 422, blank: 400 },
  reply: (rows, { echo }) =>
    rows.map(({ index, score, text: own }) => ({ index, ...(echo ? { text: own } : {}), score })),
  replyHeaders: ({ tokens }) => ({
    'x-compute-type': 'gpu+optimized',
    'x-compute-tokens': String(tokens),
  }),
  error: teiError,
  errors: TEI_ERRORS,
};

const scaleToZero: Readonly<Record<string, ListedError>> = {
  'scaled-to-zero': {
    status: 503,
    message: '',
    reply: { status: 503, text: '503 Service Unavailable' },
  },
};

const teiVertex: Wire = {
  ...tei,
  paths: ['/vertex'],
  required: {
    instances: list(object({ query: text, texts }, tei.optional, 'ignored'), { max: 1 }),
  },
  optional: {},
  names: {
    query: 'instances.0.query',
    documents: 'instances.0.texts',
    echo: 'instances.0.return_text',
  },
  reply: (rows, asked) => ({ predictions: [tei.reply?.(rows, asked)] }),
};

/** vLLM: every validation error is a 400, and the key guards only what begins with /v1. */
const vllmError: ErrorShape = ({ status, message, kind }) => {
  if (kind === 'key' || kind === 'no-key') return { status: 401, json: { error: 'Unauthorized' } };
  if (kind === 'path') return { status: 404, json: { detail: 'Not Found' } };
  if (kind === 'method') return { status: 405, json: { detail: 'Method Not Allowed' } };
  const type =
    status === 404 ? 'NotFoundError' : status >= 500 ? 'InternalServerError' : 'BadRequestError';
  return { status, json: { error: { message, type, param: null, code: status } } };
};

const flat = (status: number, message: string): ListedError => ({
  status,
  message: '',
  reply: {
    status,
    json: { object: 'error', message, type: 'BadRequestError', param: null, code: 400 },
  },
});

const VLLM_ERRORS: Readonly<Record<string, ListedError>> = {
  invalid: {
    status: 400,
    message: "[{'type': 'missing', 'loc': ('body', 'query')}]",
    blames: 'caller',
  },
  'invalid-flat': { ...flat(400, 'bad'), blames: 'caller' },
  'too-long': {
    status: 400,
    message:
      "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens.",
  },
  unauthorized: {
    status: 401,
    message: '',
    reply: { status: 401, json: { error: 'Unauthorized' } },
  },
  'unknown-model': { status: 404, message: 'The model `x` does not exist.' },
  'no-route': { status: 404, message: '', reply: { status: 404, json: { detail: 'Not Found' } } },
  engine: { status: 500, message: 'engine failure' },
  'engine-text': {
    status: 500,
    message: '',
    reply: { status: 500, text: 'Internal Server Error' },
  },
  'no-score': { status: 501, message: 'this model cannot score' },
  'inside-200': flat(200, 'The model does not support Rerank (Score) API'),
};

const guarded: Wire['auth'] = (call) => {
  if (call.path.startsWith('/v1')) bearerKey()(call);
};

const content = object({ content: list(object({ type: name }, {}, 'ignored')) });

/** `max` is the longest input in words, above which a request without truncation fails. */
function checkTruncation(documents: string, max: number) {
  return (body: unknown): void => {
    const items = valueAt(body, documents);
    const long =
      Array.isArray(items) && items.some((item) => plainText(item).split(/\s+/).length > max);
    if (long && Number(valueAt(body, 'truncate_prompt_tokens') ?? 0) === 0) {
      throw new Refusal(
        'too-long',
        documents,
        `This model's maximum context length is ${max} tokens. Please reduce the length of the input.`,
      );
    }
  };
}

const POOLING = {
  truncate_prompt_tokens: whole(-1),
  truncation_side: oneOf('left', 'right'),
  use_activation: flag,
  user: text,
};

const vllm: Wire = {
  paths: ['/rerank', '/v1/rerank', '/v2/rerank'],
  auth: guarded,
  required: { query: either(text, content), documents: list(either(text, content)) },
  optional: {
    model: name,
    top_n: whole(-1),
    ...POOLING,
    max_tokens_per_query: whole(0),
    max_tokens_per_doc: whole(0),
    instruction: text,
    chat_template_kwargs: anything,
    mm_processor_kwargs: anything,
    priority: whole(0),
    request_id: text,
  },
  also: checkTruncation('documents', 8_192),
  topNZeroIsAll: true,
  rowMembers: ({ source, text: own }) => ({
    document: isObject(source)
      ? { text: null, multi_modal: source }
      : { text: own, multi_modal: null },
  }),
  around: (asked) => ({
    id: asked.call.modes.has('score-id') ? 'score-3f0c' : 'rerank-3f0c',
    model: asked.model,
    usage: asked.call.modes.has('no-prompt-tokens')
      ? { total_tokens: asked.tokens }
      : usage(asked).usage,
  }),
  error: vllmError,
  errors: VLLM_ERRORS,
  variants: {
    'score-id': 'the id of newer versions',
    'no-prompt-tokens': 'the total alone, as older versions',
  },
};

const vllmScore: Wire = {
  ...vllm,
  paths: ['/score', '/v1/score'],
  required: { text_1: text, text_2: either(strings, text) },
  optional: { model: name, ...POOLING },
  also: checkTruncation('text_2', 8_192),
  names: { query: 'text_1', documents: 'text_2' },
  order: 'input',
  reply: (rows, asked) => ({
    id: 'score-9d1f77',
    object: 'list',
    created: 1_760_000_000,
    model: asked.model,
    data: rows.map(({ index, score }) => ({ index, object: 'score', score })),
    usage: { ...usage(asked).usage, completion_tokens: 0, prompt_tokens_details: null },
  }),
};

/** The router's own errors are strings. */
const productionStack: Wire = {
  ...vllm,
  paths: ['/v1/rerank', '/rerank'],
  auth: bearerKey(),
  required: { ...vllm.required, model: name },
  errors: {
    ...VLLM_ERRORS,
    'router-400': {
      status: 400,
      message: '',
      reply: { status: 400, json: { error: 'Invalid request: missing model' } },
      blames: 'caller',
    },
    'scaled-to-zero': {
      status: 503,
      message: '',
      reply: { status: 503, json: { error: 'Model is scaled to zero' } },
    },
  },
};

const sglang: Wire = {
  required: {
    query: string({ min: 1, blank: false }),
    documents: list(string({ min: 1, blank: false })),
  },
  optional: { top_n: count, return_documents: flag, instruct: text },
  echoDefault: true,
  ignoresTopN: false,
  scale: (model) => (/qwen3/i.test(model) ? 'probability' : 'logit'),
  reply: (rows, { echo, call, tokens }) =>
    rows.map(({ index, score, text: own }) => ({
      score,
      ...(echo || call.modes.has('old') ? { document: own } : {}),
      index,
      meta_info: call.modes.has('qwen3')
        ? null
        : { id: '0b3e', finish_reason: null, prompt_tokens: tokens, e2e_latency: 0.018 },
    })),
  error: ({ status, message, kind }) =>
    kind === 'key' || kind === 'no-key'
      ? { status, json: { error: 'Unauthorized' } }
      : {
          status,
          json: { object: 'error', message, type: 'BadRequestError', param: null, code: status },
        },
  errors: {
    blank: {
      status: 400,
      message: 'Each document cannot be empty or whitespace only',
      blames: 'caller',
    },
    'no-template': {
      status: 400,
      message: 'This model does not appear to be an embedding model by default.',
    },
    'legacy-400': {
      status: 400,
      message: '',
      reply: { status: 400, json: { error: { message: 'bad' } } },
      blames: 'caller',
    },
    internal: { status: 500, message: 'Internal server error: boom' },
  },
  variants: { old: 'echoes always', qwen3: 'no meta_info, as decoder models' },
};

const infinity: Wire = {
  paths: ['/rerank', '/v1/rerank'],
  required: {
    query: string({ max: 122_880 }),
    documents: list(string({ max: 122_880 }), { max: 2_048 }),
  },
  optional: { model: text, top_n: count, return_documents: flag, raw_scores: flag },
  statuses: {
    missing: 422,
    type: 422,
    range: 422,
    empty: 422,
    'too-many': 422,
    'too-long': 422,
  },
  rowMembers: ({ text: own }, { echo }) => ({ document: echo ? own : null }),
  around: (asked) => ({
    object: 'rerank',
    model: asked.model,
    ...usage(asked),
    id: 'infinity-6f3c8a52-9a0b-4d2e-8a53-3f1d2c7e9b10',
    created: 1_760_000_000,
  }),
  error: (problem) => {
    if (problem.status === 422) return detailList(problem);
    if (problem.status === 401) {
      return {
        status: 401,
        headers: { 'www-authenticate': 'Bearer' },
        json: { detail: 'Unauthorized' },
      };
    }
    const { status, message } = problem;
    return { status, json: { error: { message, type: null, param: null, code: status } } };
  },
  errors: {
    'invalid-model': { status: 400, message: 'Invalid model: foo' },
    'not-deployed': {
      status: 400,
      message: 'ModelNotDeployedError: model=`x` does not support `rerank`.',
    },
    validation: { status: 422, message: 'Field required', blames: 'caller' },
    overloaded: { status: 429, message: 'model x is currently overloaded' },
    internal: { status: 500, message: 'InternalServerError: boom' },
  },
};

const xinference: Wire = {
  required: { model: name, query: text, documents: strings },
  optional: {
    top_n: orNull(count),
    return_documents: flag,
    return_len: flag,
    max_chunks_per_doc: orNull(count),
    kwargs: orNull(text),
  },
  also: (body) => {
    if ((valueAt(body, 'max_chunks_per_doc') ?? null) !== null) {
      throw new Refusal('unknown', '', "[address=127.0.0.1:33331, pid=912] 'max_chunks_per_doc'");
    }
  },
  statuses: {
    missing: 500,
    type: 500,
    range: 500,
    empty: 500,
    unknown: 500,
    json: 500,
  },
  rowMembers: (row, { echo, call }) => ({
    document: !echo ? null : call.modes.has('string-document') ? row.text : { text: row.text },
  }),
  around: ({ tokens, body }) => ({
    id: '5b7b1a3e-9d1e-11f0-8f44-0242ac110002',
    meta: {
      api_version: null,
      billed_units: null,
      tokens:
        valueAt(body, 'return_len') === true
          ? { input_tokens: tokens, output_tokens: tokens }
          : null,
      warnings: null,
    },
  }),
  error: (problem) =>
    problem.status === 500 && problem.kind !== undefined && problem.at !== ''
      ? { status: 500, text: `Internal Server Error: ${problem.message}` }
      : detailText(problem),
  errors: {
    'unknown-model': {
      status: 404,
      message: '[address=127.0.0.1:9997, pid=1] Model not found in the model list, uid: foo',
    },
    'unknown-model-400': { status: 400, message: 'Model not found in the model list, uid: foo' },
    'rate-limit': { status: 429, message: 'Rate limit reached for the model. Request limit 1' },
    loading: { status: 503, message: 'loading', headers: { 'retry-after': '30' } },
    engine: { status: 500, message: "[address=127.0.0.1:33331, pid=912] 'results'" },
    blocked: { status: 403, message: '', reply: { status: 403, text: 'Forbidden' } },
  },
  variants: { 'string-document': 'documents echoed as strings, as by llama.cpp' },
};

const llamaTypes: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  404: 'not_found_error',
  500: 'server_error',
  501: 'not_supported_error',
  503: 'unavailable_error',
};

const llamaError: ErrorShape = ({ status, message, code }) => ({
  status,
  headers: { server: 'llama.cpp' },
  json: { error: { code: status, message, type: code ?? llamaTypes[status] ?? 'server_error' } },
});

const llamacpp: Wire = {
  paths: ['/rerank', '/reranking', '/v1/rerank', '/v1/reranking'],
  auth: (call) => {
    if (call.headers['x-api-key'] === undefined) bearerKey()(call);
  },
  required: { query: text, documents: strings },
  optional: { model: text, top_n: whole(0), return_text: flag, texts: anything },
  scale: (model) => (/qwen3/i.test(model) ? 'probability' : 'logit'),
  statuses: { json: 500, 'content-type': 400 },
  reply: (rows, asked) => {
    const { body, call } = asked;
    const marked = call.modes.has('failed-document')
      ? rows.map((row, at) => (at === rows.length - 1 ? { ...row, score: -1_000_000 } : row))
      : rows;
    if (valueAt(body, 'texts') !== undefined) {
      return marked.map(({ index, score }) => ({ index, score }));
    }
    const placed = call.modes.has('old') ? [...marked].sort((a, b) => a.index - b.index) : marked;
    return {
      model: asked.model,
      object: 'list',
      ...usage(asked),
      results: placed.map(({ index, score }) => ({ index, relevance_score: score })),
    };
  },
  error: llamaError,
  errors: {
    invalid: { status: 400, message: '"query" must be provided', blames: 'caller' },
    context: {
      status: 400,
      message:
        'request (9120 tokens) exceeds the available context size (8192 tokens), try increasing it',
      code: 'exceed_context_size_error',
    },
    key: { status: 401, message: 'Invalid API Key' },
    path: { status: 404, message: 'File Not Found' },
    'physical-batch': {
      status: 500,
      message:
        'input (734 tokens) is too large to process. increase the physical batch size (current batch size: 512)',
    },
    'no-rerank': {
      status: 501,
      message: 'This server does not support reranking. Start it with `--reranking`',
    },
    loading: { status: 503, message: 'Loading model' },
  },
  variants: {
    old: 'the order of the documents',
    'failed-document': 'a marker for a score in the last row',
  },
};

const lemonade: Wire = {
  ...llamacpp,
  paths: [/^\/(api\/)?v[01]\/(rerank|reranking|reranker)$/],
  auth: bearerKey(),
  required: { ...llamacpp.required, model: name },
  error: (problem) =>
    problem.status === 401
      ? { status: 401, json: { error: 'Invalid or missing API key' } }
      : errorText(problem),
  errors: {
    'no-model': { status: 400, message: 'no model', blames: 'caller' },
    unauthorized: { status: 401, message: 'Invalid or missing API key' },
    'unknown-model': {
      status: 404,
      message: '',
      reply: {
        status: 404,
        json: {
          error: {
            message: 'model not found',
            type: 'x',
            param: null,
            code: 'y',
            requested_model: 'z',
          },
        },
      },
    },
    parse: { status: 500, message: 'parse error' },
  },
};

const llamaSwap: Wire = {
  ...llamacpp,
  paths: ['/v1/rerank', '/v1/reranking', '/rerank', '/reranking'],
  required: { ...llamacpp.required, model: name },
  // Its own errors follow what the caller says it reads.
  errors: {
    ...llamacpp.errors,
    'no-router': { status: 404, message: 'no router for requested model' },
    conflict: { status: 409, message: 'conflict' },
    'not-ready': { status: 503, message: 'process is not ready' },
  },
};

const localai: Wire = {
  required: { query: text, documents: strings },
  optional: { model: text, top_n: count, backend: text },
  statuses: { range: 422 },
  rowMembers: ({ text: own }) => ({ document: { text: own } }),
  around: (asked) => ({ model: asked.model, ...usage(asked) }),
  error: ({ status, message, kind, code }) =>
    kind === 'range'
      ? { status, json: 'top_n - should be greater than or equal to 1' }
      : {
          status,
          json: { error: { code: code ?? status, message, type: 'invalid_request_error' } },
        },
  errors: {
    'top-n': {
      status: 422,
      message: '',
      reply: { status: 422, json: 'top_n - should be greater than or equal to 1' },
      blames: 'caller',
    },
    key: { status: 401, message: 'An authentication key is required' },
    disabled: { status: 403, message: 'disabled' },
    'unknown-model': { status: 404, message: 'model not found' },
    backend: { status: 500, message: 'rpc error: code = Unknown desc = boom' },
    loading: {
      status: 503,
      message: 'loading',
      code: 'model_loading',
      headers: { 'retry-after': '5' },
    },
    opaque: { status: 500, message: '', reply: { status: 500 } },
    'no-results': { status: 200, message: '', reply: { status: 200, json: { results: null } } },
  },
};

const gpustack: Wire = {
  paths: ['/v1/rerank', '/v2/rerank'],
  optional: { top_n: count, return_documents: flag },
  echoDefault: true,
  // Templates may be wrapped round what comes back.
  rowMembers: ({ text: own }) => ({ document: { text: `<Document>: ${own}` } }),
  around: (asked) => ({ model: asked.model, object: 'list', ...usage(asked) }),
  error: errorObject(({ status }) => ({
    code: status,
    type: status === 404 ? 'NotFound' : 'BadRequest',
  })),
  errors: {
    invalid: { status: 400, message: "Missing 'model' field", blames: 'caller' },
    'not-found': { status: 404, message: 'Model not found' },
    timeout: { status: 504, message: 'timeout' },
    unexpected: { status: 503, message: 'An unexpected error occurred' },
    envoy: {
      status: 503,
      message: '',
      reply: { status: 503, text: 'upstream connect error or disconnect/reset before headers' },
    },
    'inside-200': flat(200, 'The model does not support Rerank (Score) API'),
  },
};

const ovmsFailed =
  'Mediapipe execution failed. MP status - INVALID_ARGUMENT: CalculatorGraph::Run() failed:';

const openvino: Wire = {
  paths: ['/v3/rerank', '/v1/rerank', '/v3/v1/rerank'],
  required: { model: name, query: text, documents: strings },
  optional: {
    top_n: count,
    return_documents: flag,
    rank_fields: anything,
    max_chunks_per_doc: anything,
  },
  also: (body) => {
    const documents = valueAt(body, 'documents');
    if (Array.isArray(documents) && documents.length > 10_000) {
      throw new Refusal(
        'too-many',
        '',
        `${ovmsFailed} Number of documents exceeds max_allowed_chunks`,
      );
    }
  },
  statuses: { json: 412, 'no-key': 500, key: 500 },
  rowMembers: echoObject,
  error: ({ status, message, kind }) => ({
    status,
    json: {
      error:
        kind === 'key' || kind === 'no-key'
          ? 'Unauthorized request due to invalid or missing api-key'
          : message,
    },
  }),
  errors: {
    invalid: {
      status: 400,
      message: `${ovmsFailed} query field is missing in request`,
      blames: 'caller',
    },
    chunks: {
      status: 400,
      message: `${ovmsFailed} Number of documents exceeds max_allowed_chunks`,
    },
    'no-graph': {
      status: 404,
      message: 'Mediapipe graph definition with requested name is not found',
    },
    'bad-json': { status: 412, message: 'Invalid JSON' },
    key: { status: 500, message: 'Unauthorized request due to invalid or missing api-key' },
  },
};

const dockerModelRunner: Wire = {
  ...llamacpp,
  paths: ['/rerank', '/engines/rerank', /^\/engines\/(llama\.cpp|vllm|sglang)\/rerank$/],
  auth: open,
  required: { ...llamacpp.required, model: name },
  also: (_body, { body }) => {
    if (body.length > 10_000_000) throw new Refusal('too-long', '', 'request too large');
  },
  error: plain,
  errors: {
    'too-large': { status: 400, message: 'request too large' },
    'no-model': { status: 404, message: 'model not found' },
    precondition: { status: 412, message: 'backend not installed' },
    runner: { status: 500, message: 'unable to load runner: boom' },
    unavailable: { status: 503, message: 'unavailable' },
  },
  channel: { credentials: {} },
};

const nexa: Wire = {
  paths: ['/v1/reranking'],
  auth: open,
  optional: {
    batch_size: count,
    normalize: flag,
    normalize_method: oneOf('softmax', 'linear'),
  },
  ignoresTopN: true,
  order: 'input',
  indexed: false,
  scale: 'logit',
  reply: (rows, { body }) => {
    const scores = rows.map(({ score }) => score);
    if (valueAt(body, 'normalize') !== true) return { result: scores };
    const powers = scores.map((score) => Math.exp(Number(score)));
    const sum = powers.reduce((total, power) => total + power, 0);
    return { result: powers.map((power) => power / sum) };
  },
  error: errorText,
  errors: {
    missing: {
      status: 400,
      message: 'both query and documents must be provided',
      blames: 'caller',
    },
    failed: { status: 500, message: 'boom' },
    // The answer to a warm-up.
    null: { status: 200, message: '', reply: { status: 200, json: null } },
  },
  channel: { credentials: {} },
};

const mlxVlm: Wire = {
  required: {
    query: string({ min: 1, blank: false }),
    documents: list(either(string({ min: 1, blank: false }), object({}, { text, image: name }))),
  },
  optional: { model: name, top_n: count, return_documents: flag, instruction: text },
  statuses: { empty: 422, range: 422, missing: 422, type: 422 },
  rowMembers: ({ source }, { echo }) => (echo ? { document: source } : {}),
  around: (asked) => ({ model: asked.model, ...usage(asked) }),
  error: detailList,
  errors: {
    blank: { status: 400, message: 'text must not be blank', blames: 'caller' },
    validation: { status: 422, message: 'bad', blames: 'caller' },
    model: { status: 500, message: 'the model failed' },
  },
};

const embedRerank: Wire = {
  paths: ['/v1/rerank', '/v2/rerank'],
  required: { query: string({ min: 1, max: 2_048 }), documents: list(text, { max: 1_000 }) },
  optional: { model: text, top_n: whole(1, 100), return_documents: flag },
  statuses: { range: 422, missing: 422, type: 422, 'too-many': 422, 'too-long': 422, empty: 422 },
  rowMembers: echoObject,
  around: ({ tokens }) => ({
    id: 'x',
    meta: {
      api_version: { version: '1' },
      billed_units: { search_units: 1 },
      tokens: { input_tokens: tokens },
    },
  }),
  error: detailList,
  errors: {
    validation: { status: 422, message: 'bad', blames: 'caller' },
    'detail-object': {
      status: 500,
      message: '',
      reply: { status: 500, json: { detail: { error: 'boom' } } },
    },
    warming: { status: 503, message: 'warming up' },
  },
};

const mosec: Wire = {
  paths: ['/inference'],
  auth: open,
  required: { query: text, docs: strings },
  optional: {},
  unknown: 'refused',
  names: { documents: 'docs' },
  order: 'input',
  indexed: false,
  statuses: { missing: 422, unknown: 422, type: 422, empty: 422 },
  reply: (rows) => ({ scores: rows.map(({ score }) => score) }),
  error: plain,
  errors: {
    invalid: { status: 400, message: 'bad', blames: 'caller' },
    timeout: { status: 408, message: 'timeout' },
    'too-large': { status: 413, message: 'request body is too large' },
    full: { status: 429, message: 'too many requests' },
    internal: { status: 500, message: 'internal' },
    unavailable: { status: 503, message: 'unavailable' },
    'no-data': { status: 200, message: '', reply: { status: 200, text: 'no data provided' } },
  },
};

const bentoml: Wire = {
  paths: ['/rerank'],
  required: { query: text, documents: strings },
  optional: {},
  unknown: 'refused',
  order: 'input',
  indexed: false,
  reply: (rows, { call }) => {
    const scores = rows.map(({ score }) => score);
    return call.modes.has('object') ? { scores } : scores;
  },
  error: ({ status, message, kind, at }) => {
    if (status === 401) return { status, json: { error: 'Authorization error' } };
    const detail = kind === undefined ? undefined : [{ type: kind, loc: [at], msg: message }];
    return { status, json: { error: message, detail } };
  },
  errors: {
    validation: { status: 400, message: '1 validation error for Input', blames: 'caller' },
    'list-400': {
      status: 400,
      message: '',
      reply: { status: 400, json: [{ error: 'bad' }] },
      blames: 'caller',
    },
    authorization: { status: 403, message: 'Authorization error' },
    busy: { status: 429, message: 'too many requests' },
    unexpected: {
      status: 500,
      message: 'An unexpected error has occurred, please check the server log.',
    },
  },
  variants: { object: 'scores in an object' },
};

/** What a RankLLM says, whatever came of it. */
const envelope = (status: string, value: unknown, errors: readonly unknown[]) => ({
  schema_version: 'castorini.cli.v1',
  repo: 'rank_llm',
  command: 'rerank',
  mode: 'execute',
  status,
  exit_code: status === 'success' ? 0 : 1,
  inputs: { mode: 'direct', transport: 'http' },
  resolved: { model_path: 'castorini/rank_zephyr_7b_v1_full' },
  artifacts: status === 'success' ? [{ name: 'rerank-results', kind: 'data', value: [value] }] : [],
  validation: {},
  metrics: {},
  warnings: [],
  errors,
});

const candidate = object(
  { docid: text },
  { score: anything, text, doc: either(text, object({}, {}, 'ignored')) },
);

const rankllm: Wire = {
  auth: open,
  required: {
    query: either(name, object({ text: name }, { qid: text })),
    candidates: list(either(text, candidate)),
  },
  optional: { overrides: object({}, { top_k_rerank: whole(-1) }, 'ignored') },
  names: { documents: 'candidates', topN: 'overrides.top_k_rerank' },
  orderOnly: true,
  reply: (rows, { body, query, call }) => {
    const candidates = valueAt(body, 'candidates') as unknown[];
    const listwise = !call.modes.has('pointwise');
    return envelope(
      'success',
      {
        query: { text: query, qid: '' },
        candidates: rows.map(({ index, score, text: own, source }, at) => ({
          // Strings are numbered from one.
          docid: isObject(source) ? source.docid : String(index + 1),
          // Listwise models do not score: a row keeps what stood in its place before.
          score:
            listwise && typeof score === 'number' ? (valueAt(candidates[at], 'score') ?? 0) : score,
          doc: { contents: own },
        })),
      },
      [],
    );
  },
  error: ({ status, message }) => {
    const outcome =
      status === 400 ? 'validation_error' : status === 502 ? 'provider_error' : 'error';
    return {
      status,
      json: envelope(outcome, undefined, [{ code: outcome, message, details: {} }]),
    };
  },
  errors: {
    validation: { status: 400, message: 'bad', blames: 'caller' },
    provider: { status: 502, message: 'the model failed' },
    internal: { status: 500, message: 'boom' },
  },
  variants: { pointwise: 'scores of its own' },
};

const tensor = (item: (value: unknown, at: string) => void) =>
  object({ name, shape: list(count), datatype: oneOf('BYTES'), data: list(item) });

const triton: Wire = {
  paths: [/^\/v2\/models\/[^/]+(\/versions\/[^/]+)?\/infer$/],
  required: { inputs: list(tensor(text)) },
  optional: { id: text, outputs: list(object({ name })) },
  unknown: 'refused',
  also: (body) => {
    const [first, second] = [0, 1].map((at) => valueAt(body, `inputs.${at}`));
    for (const [input, wanted] of [
      [first, 'query'],
      [second, 'passage'],
    ] as const) {
      if (valueAt(input, 'name') !== wanted) {
        throw new Refusal('unknown', wanted, `unexpected inference input, expected '${wanted}'`);
      }
      const data = valueAt(input, 'data');
      const rows = Array.isArray(data) ? data.length : 0;
      if (valueAt(input, 'shape.0') !== rows || valueAt(input, 'shape.1') !== 1) {
        throw new Refusal('range', wanted, `unexpected shape for input '${wanted}'`);
      }
    }
  },
  names: { query: 'inputs.0.data.0', documents: 'inputs.1.data' },
  order: 'input',
  indexed: false,
  scale: 'logit',
  reply: (rows) => ({
    id: 'req-1',
    model_name: 'reranker',
    model_version: '1',
    outputs: [
      {
        name: 'logit',
        datatype: 'FP32',
        shape: [rows.length, 1],
        data: rows.map(({ score }) => score),
      },
    ],
  }),
  error: errorText,
  errors: {
    invalid: { status: 400, message: 'unexpected inference input', blames: 'caller' },
    'unknown-model': { status: 404, message: "Request for unknown model: 'x' is not found" },
    internal: { status: 500, message: 'boom' },
    unavailable: { status: 503, message: 'not ready' },
  },
};

const data = object(
  { documents: list(object({}, { text, image: name })), query: name },
  { top_n: count },
);

const sagemaker: Wire = {
  paths: ['/invocations'],
  required: { data: either(data, list(data, { max: 1 })) },
  optional: {},
  names: { query: 'data.query', documents: 'data.documents', topN: 'data.top_n' },
  reply: (rows) => ({
    data: rows.map(({ index, score, text: own }) => ({
      index,
      relevance_score: score,
      document: { text: own },
    })),
  }),
  error: detailText,
  errors: USUAL_ERRORS,
};

const litellmError: ErrorShape = ({ status, message, kind }) => ({
  status,
  json: {
    error:
      kind === 'key' || kind === 'no-key'
        ? {
            message: `Authentication Error, ${message}`,
            type: 'auth_error',
            param: 'None',
            code: '401',
          }
        : {
            message: `litellm.BadRequestError: ${message}`,
            type: null,
            param: null,
            code: String(status),
          },
  },
});

const anyDocument = list(either(text, object({}, {}, 'ignored')));

const litellm: Wire = {
  paths: ['/rerank', '/v1/rerank', '/v2/rerank'],
  required: { model: name, query: text, documents: anyDocument },
  optional: {
    top_n: count,
    return_documents: flag,
    rank_fields: list(name),
    max_chunks_per_doc: count,
    max_tokens_per_doc: count,
    instruction: text,
  },
  unknown: 'refused',
  echoDefault: true,
  rowMembers: echoObject,
  around: ({ tokens }) => ({
    id: '6a0a0a7e-2f0f-4a6b-8f44-5f7e3f0f5f11',
    meta: {
      api_version: { version: '2' },
      billed_units: { search_units: 1 },
      tokens: { input_tokens: tokens, output_tokens: 0 },
    },
  }),
  error: litellmError,
  errors: {
    invalid: { status: 400, message: 'bad', blames: 'caller' },
    key: { status: 401, message: 'invalid key' },
    budget: { status: 429, message: 'Budget has been exceeded! Current cost: 1' },
    'rate-limit': { status: 429, message: 'rate limit' },
    internal: { status: 500, message: 'boom' },
  },
};

const newApi: Wire = {
  required: { model: name, query: text, documents: list(anything) },
  optional: {
    top_n: count,
    return_documents: flag,
    max_chunk_per_doc: count,
    overlap_tokens: whole(0),
  },
  unknown: 'refused',
  rowMembers: echoString,
  around: ({ tokens }) => ({
    usage: { prompt_tokens: tokens, completion_tokens: 0, total_tokens: tokens },
  }),
  error: errorObject(({ code, status }) => ({
    type: 'new_api_error',
    param: '',
    code: code ?? (status === 401 ? '' : 'invalid_request'),
  })),
  errors: {
    'invalid-documents': {
      status: 400,
      message: 'documents is empty (request id: 2026)',
      code: 'invalid_documents',
      blames: 'caller',
    },
    'bad-upstream': {
      status: 500,
      message: 'bad response',
      code: 'unmarshal_response_body_failed',
    },
    'rate-limit': { status: 429, message: 'slow down' },
  },
};

const gptServer: Wire = {
  unknown: 'refused',
  rowMembers: echoString,
  around: () => ({ id: 'x' }),
  error: detailList,
  errors: {
    validation: { status: 422, message: 'bad', blames: 'caller' },
    internal: { status: 500, message: 'boom' },
  },
};

const ollama: Wire = {
  paths: ['/api/rerank'],
  optional: { top_n: count },
  rowMembers: ({ text: own }) => ({ document: { text: own } }),
  around: ({ model }) => ({ model }),
  error: ({ status, message }) =>
    status === 404 ? { status, text: '404 page not found' } : { status, json: { error: message } },
  errors: {
    'no-route': { status: 404, message: '' },
    internal: { status: 500, message: 'boom' },
  },
};

const jinaLike: Wire = {
  rowMembers: echoObject,
  around: usage,
  error: errorObject(),
  errors: {
    invalid: { status: 400, message: 'bad', blames: 'caller' },
    ...USUAL_ERRORS,
    // A server without the route that answers all the same.
    'unknown-endpoint-200': {
      status: 200,
      message: '',
      reply: {
        status: 200,
        json: { error: 'Unexpected endpoint or method. (POST /v1/rerank)' },
      },
    },
    chat: { status: 200, message: '', reply: { status: 200, json: { choices: [] } } },
  },
};

const portkey: Wire = {
  ...jinaLike,
  auth: (call) => {
    if (
      call.headers['x-portkey-provider'] === undefined &&
      call.headers['x-portkey-config'] === undefined
    ) {
      throw new Refusal(
        'missing',
        '',
        'Either x-portkey-config or x-portkey-provider header is required',
      );
    }
    bearerKey()(call);
  },
  error: (problem) =>
    problem.kind === 'missing'
      ? { status: 400, json: { status: 'failure', message: problem.message } }
      : errorObject()(problem),
  channel: { settings: () => ({ upstreamProvider: 'cohere' }) },
};

/** Portkey as a service: one form for all providers behind it. */
const portkeyHosted: Wire = {
  required: { model: name, query: text, documents: list(either(text, object({ text }))) },
  optional: { top_n: count, return_documents: flag, max_tokens_per_doc: count },
  unknown: 'refused',
  auth: header('x-portkey-api-key', STUB_KEY),
  also: (body, call) => {
    const named =
      String(valueAt(body, 'model')).startsWith('@') ||
      call.headers['x-portkey-provider'] !== undefined ||
      call.headers['x-portkey-config'] !== undefined;
    if (!named) throw new Refusal('missing', 'model', 'no provider is named');
  },
  around: ({ model, tokens }) => ({
    id: 'rerank-1',
    object: 'list',
    model,
    provider: 'cohere',
    usage: { prompt_tokens: tokens, total_tokens: tokens },
  }),
  error: errorObject(),
  errors: { invalid: { status: 400, message: 'bad', blames: 'caller' }, ...USUAL_ERRORS },
  channel: { credentials: { portkeyApiKey: STUB_KEY } },
};

const part = either(
  text,
  object({ type: oneOf('text'), text }),
  object({ type: oneOf('image_url'), image_url: object({ url: name }) }),
);

/** OGX, which was Llama Stack. */
const ogx: Wire = {
  paths: ['/v1alpha/inference/rerank'],
  required: { model: name, query: part, items: list(part) },
  optional: { max_num_results: count },
  unknown: 'refused',
  names: { documents: 'items', topN: 'max_num_results' },
  list: 'data',
  error: ({ status, message }) => ({ status, json: { error: { message } } }),
  errors: { invalid: { status: 400, message: 'bad', blames: 'caller' }, ...USUAL_ERRORS },
};

/** Superlinked's engine, which answers in another format unless it is asked for JSON. */
const sie: Wire = {
  paths: [/^\/v1\/score\/\w[\w.-]*\/[\w.-]+$/],
  auth: (call) => {
    if (call.headers.accept !== 'application/json') {
      throw new Refusal('type', 'accept', 'the reply would be msgpack');
    }
    bearerKey()(call);
  },
  required: {
    query: object({ text }, { id: name }),
    items: list(object({ text }, { id: name })),
  },
  optional: { instruction: text, options: object({}, {}, 'ignored') },
  unknown: 'refused',
  names: { query: 'query', documents: 'items' },
  ignoresTopN: true,
  reply: (rows, { model }) => ({
    model,
    query_id: null,
    scores: rows.map(({ index, score, source }, rank) => ({
      item_id: valueAt(source, 'id') ?? `item-${index}`,
      score,
      rank,
    })),
  }),
  // The id says which document a row is of.
  indexed: false,
  error: ({ status, message, code }) => ({
    status,
    json: { detail: { code: code ?? 'INVALID_INPUT', message } },
  }),
  errors: {
    invalid: { status: 400, message: 'bad', blames: 'caller' },
    'unknown-model': { status: 404, message: 'model not found', code: 'MODEL_NOT_FOUND' },
    'load-failed': { status: 502, message: 'failed to load', code: 'MODEL_LOAD_FAILED' },
    loading: { status: 503, message: 'loading', code: 'MODEL_LOADING' },
  },
};

/** Bifrost: documents are objects, and none may be blank. */
const bifrost: Wire = {
  required: {
    model: name,
    query: name,
    documents: list(
      object({ text: string({ min: 1, blank: false }) }, { id: name, meta: anything }),
    ),
  },
  optional: {
    top_n: count,
    max_tokens_per_doc: count,
    priority: whole(0),
    return_documents: flag,
    fallbacks: list(name),
  },
  unknown: 'refused',
  rowMembers: echoObject,
  around: ({ model, tokens }) => ({
    model,
    usage: { prompt_tokens: tokens, total_tokens: tokens },
    extra_fields: { provider: 'cohere', latency: 12 },
  }),
  error: ({ status, message }) => ({
    status,
    json: { is_bifrost_error: true, status_code: status, error: { type: 'x', message } },
  }),
  errors: { invalid: { status: 400, message: 'bad', blames: 'caller' }, ...USUAL_ERRORS },
};

/** This gateway itself, as far as an upstream shows it. */
const rerankGateway: Wire = {
  ...jinaLike,
  textOf: (document) =>
    isObject(document) ? Object.values(document).map(String).join('\n') : plainText(document),
  required: {
    model: name,
    query: string({ min: 1, blank: false }),
    documents: list(either(text, object({}, {}, 'ignored')), { max: 10_000 }),
  },
  optional: {
    top_n: orNull(count),
    return_documents: flag,
    rank_fields: list(name),
    max_chunks_per_doc: count,
    max_tokens_per_doc: count,
    overlap_tokens: whole(0),
    instruction: text,
    truncation: flag,
    priority: whole(0, 999),
  },
  statuses: { 'too-many': 413 },
};

/** Servers and gateways that an operator runs. */
export const SELF_HOSTED_STUBS = {
  tei: wireStub(tei),
  'ascend-tei': wireStub({ ...tei, statuses: { ...tei.statuses, 'too-many': 413 } }),
  huggingface: wireStub({ ...tei, errors: { ...TEI_ERRORS, ...scaleToZero } }),
  'tei-vertex': wireStub(teiVertex),
  vllm: wireStub(vllm),
  aphrodite: wireStub(vllm),
  'vllm-score': wireStub(vllmScore),
  'vllm-production-stack': wireStub(productionStack),
  sglang: wireStub(sglang),
  infinity: wireStub(infinity),
  xinference: wireStub(xinference),
  llamacpp: wireStub(llamacpp),
  lemonade: wireStub(lemonade),
  'llama-swap': wireStub(llamaSwap),
  localai: wireStub(localai),
  gpustack: wireStub(gpustack),
  openvino: wireStub(openvino),
  'docker-model-runner': wireStub(dockerModelRunner),
  nexa: wireStub(nexa),
  'mlx-vlm': wireStub(mlxVlm),
  'vllm-mlx': wireStub({
    ...mlxVlm,
    required: { model: name, query: name, documents: anyDocument },
  }),
  'embed-rerank': wireStub(embedRerank),
  mosec: wireStub(mosec),
  bentoml: wireStub(bentoml),
  rankllm: wireStub(rankllm),
  triton: wireStub(triton),
  'jina-sagemaker': wireStub(sagemaker),
  litellm: wireStub(litellm),
  'new-api': wireStub(newApi),
  'gpt-server': wireStub(gptServer),
  ollama: wireStub(ollama),
  'openai-compatible': wireStub(jinaLike),
  portkey: wireStub(portkey),
  'portkey-hosted': wireStub(portkeyHosted),
  ogx: wireStub(ogx),
  sie: wireStub(sie),
  bifrost: wireStub(bifrost),
  kserve: wireStub({ ...vllm, paths: ['/openai/v1/rerank'], auth: bearerKey() }),
  'rerank-gateway': wireStub(rerankGateway),
} satisfies Record<string, Stub>;
