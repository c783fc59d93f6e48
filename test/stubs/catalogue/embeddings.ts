import { count, flag, list, object, oneOf, Refusal, string, valueAt, whole } from '../checks.js';
import { callStub, stringsAt, type CallWire } from '../calls.js';
import { detailText, errorObject, USUAL_ERRORS } from '../errors.js';
import { NOT_A_NUMBER } from '../score.js';
import { ACCESS_KEY_ID, checkAws, SECRET_KEY } from '../signatures.js';
import { STUB_KEY, type Stub, type StubCall } from '../stub.js';
import { header } from '../wire.js';

const DIMENSIONS = 512;

/** A direction for each word: what two texts have in common is their cosine. */
function vectorOf(text: string): number[] {
  const vector = new Array<number>(DIMENSIONS).fill(0);
  // A text without a word has a direction too.
  vector[0] = 0.01;
  for (const word of text.toLowerCase().match(/\p{L}+/gu) ?? []) {
    let hash = 5381;
    for (const letter of word) hash = (hash * 33 + letter.charCodeAt(0)) % 1_000_003;
    const at = 1 + (hash % (DIMENSIONS - 1));
    vector[at] = 1;
  }
  return vector;
}

/** One vector for each word. */
function vectorsOf(text: string): number[][] {
  return (text.match(/\S+/g) ?? ['']).map(vectorOf);
}

type Written = unknown;

/** Vectors with the faults of a list that are in force. */
function altered(vectors: readonly Written[], { modes }: StubCall): [at: number, Written][] {
  const rows = vectors.map((vector, at): [number, Written] => [at, vector]);
  const [first] = rows;
  if (first === undefined) return rows;
  if (modes.has('shuffle')) return rows.reverse();
  if (modes.has('duplicate-index')) return [first, [first[0], first[1]], ...rows.slice(2)];
  if (modes.has('index-out-of-range')) return [[rows.length + 7, first[1]], ...rows.slice(1)];
  if (modes.has('missing-row')) return rows.slice(1);
  if (modes.has('null-scores')) return rows.map(([at]) => [at, null]);
  if (modes.has('nan')) return [[first[0], [NOT_A_NUMBER]], ...rows.slice(1)];
  return rows;
}

/** The same in a list without places, where only some of them can be told. */
function bare(vectors: readonly Written[], call: StubCall): Written[] {
  const { modes } = call;
  if (modes.has('shuffle')) return [...vectors];
  const rows = altered(vectors, call).map(([, vector]) => vector);
  return modes.has('index-out-of-range') ? [...rows, rows[0]] : rows;
}

function base64(vector: Written): Written {
  const numbers = Array.isArray(vector) ? (vector as unknown[]) : undefined;
  if (numbers === undefined || numbers.some((value) => typeof value !== 'number')) return vector;
  const bytes = Buffer.alloc(numbers.length * 4);
  numbers.forEach((value, at) => bytes.writeFloatLE(Number(value), at * 4));
  return bytes.toString('base64');
}

const text = string({ min: 1, blank: false });
const texts = (max: number) => list(text, { max });
const words = (values: readonly string[]): number =>
  values.reduce((sum, value) => sum + (value.match(/\S+/g)?.length ?? 0), 0);

const ERRORS = {
  invalid: { status: 400, message: "'$.input' is invalid", blames: 'caller' },
  'too-long': {
    status: 400,
    message:
      "This model's maximum context length is 8192 tokens, however you requested 9000 tokens (9000 in your prompt; 0 for the completion). Please reduce your prompt; or completion length.",
    blames: 'limit',
  },
  ...USUAL_ERRORS,
} as const;

/** OpenAI's route, and what a server of its kind may not know. */
function openAi(
  paths: readonly string[],
  options: {
    readonly most?: number;
    readonly base64?: boolean;
    readonly dimensions?: string;
  } & Partial<CallWire> = {},
): Stub {
  const { most = 2_048, base64: encodes = true, dimensions = 'dimensions', ...more } = options;
  return callStub({
    paths,
    required: { model: text, input: texts(most) },
    optional: {
      ...(encodes ? { encoding_format: oneOf('float', 'base64') } : {}),
      [dimensions]: count,
      user: text,
    },
    answer: (body, call) => {
      const input = stringsAt(body, 'input');
      const isBase64 = body.encoding_format === 'base64';
      return {
        object: 'list',
        model: body.model,
        data: altered(input.map(vectorOf), call).map(([index, vector]) => ({
          object: 'embedding',
          index,
          embedding: isBase64 ? base64(vector) : vector,
        })),
        usage: { prompt_tokens: words(input), total_tokens: words(input) },
      };
    },
    indexed: true,
    error: errorObject(({ code, status }) => ({
      type: 'invalid_request_error',
      param: null,
      code: code ?? status,
    })),
    errors: ERRORS,
    ...more,
  });
}

/** A bound for all texts of a call together, by the most tokens that their bytes can be. */
function fewTokens(most: number): NonNullable<CallWire['also']> {
  return (body) => {
    const tokens = Buffer.byteLength(stringsAt(body, 'input').join(''));
    if (tokens > most) {
      throw new Refusal('range', 'input', `Too many tokens in batch. Max is ${most} got ${tokens}`);
    }
  };
}

/** A purpose that all texts of a call share, as each API calls it. */
function purposeOnly(
  path: string,
  name: string,
  values: readonly [string, string],
): Pick<CallWire, 'also'> {
  return {
    also: (body) => {
      const inputs = stringsAt(body, path);
      const isQuery = valueAt(body, name) === values[0];
      if (isQuery && inputs.length > 1) {
        throw new Refusal('range', name, `a query comes alone, and here are ${inputs.length}`);
      }
    },
  };
}

const jina: CallWire = {
  paths: ['/v1/embeddings'],
  required: { model: text, input: texts(512) },
  optional: {
    task: oneOf('retrieval.query', 'retrieval.passage', 'text-matching'),
    embedding_type: oneOf('float', 'base64'),
    dimensions: count,
    truncate: flag,
  },
  ...purposeOnly('input', 'task', ['retrieval.query', 'retrieval.passage']),
  answer: (body, call) => {
    const input = stringsAt(body, 'input');
    return {
      object: 'list',
      model: body.model,
      data: altered(input.map(vectorOf), call).map(([index, vector]) => ({
        object: 'embedding',
        index,
        embedding: body.embedding_type === 'base64' ? base64(vector) : vector,
      })),
      usage: { prompt_tokens: words(input), total_tokens: words(input) },
    };
  },
  indexed: true,
  error: detailText,
  errors: { invalid: { status: 422, message: 'bad', blames: 'caller' }, ...USUAL_ERRORS },
};

const voyage: CallWire = {
  ...jina,
  required: { model: text, input: texts(1_000) },
  optional: {
    input_type: oneOf('query', 'document'),
    truncation: flag,
    output_dimension: count,
    output_dtype: oneOf('float'),
    encoding_format: oneOf('base64'),
  },
  ...purposeOnly('input', 'input_type', ['query', 'document']),
  answer: (body, call) => jina.answer({ ...body, embedding_type: body.encoding_format }, call),
};

const cohere: CallWire = {
  paths: ['/v2/embed'],
  required: {
    model: text,
    texts: texts(96),
    input_type: oneOf('search_query', 'search_document', 'classification', 'clustering'),
    embedding_types: list(oneOf('float', 'int8', 'base64')),
  },
  optional: { output_dimension: count, truncate: oneOf('NONE', 'START', 'END') },
  ...purposeOnly('texts', 'input_type', ['search_query', 'search_document']),
  answer: (body, call) => ({
    id: 'da6e531f-54c5-4a73-bf92-f60566d8d753',
    embeddings: { float: bare(stringsAt(body, 'texts').map(vectorOf), call) },
    texts: body.texts,
    meta: {
      api_version: { version: '2' },
      billed_units: { input_tokens: words(stringsAt(body, 'texts')) },
    },
    response_type: 'embeddings_by_type',
  }),
  error: ({ status, message }) => ({ status, json: { id: 'x', message } }),
  errors: { invalid: { status: 400, message: 'bad', blames: 'caller' }, ...USUAL_ERRORS },
};

const gemini: CallWire = {
  paths: [/^\/v1beta\/models\/[\w.-]+:batchEmbedContents$/],
  auth: header('x-goog-api-key', STUB_KEY),
  required: {
    requests: list(
      object(
        { model: text, content: object({ parts: list(object({ text })) }) },
        {
          taskType: oneOf('RETRIEVAL_QUERY', 'RETRIEVAL_DOCUMENT'),
          outputDimensionality: count,
        },
      ),
      { max: 100 },
    ),
  },
  also: (body, { path }) => {
    const named = /^\/v1beta\/(models\/[\w.-]+):/.exec(path)?.[1];
    const requests = valueAt(body, 'requests');
    if (Array.isArray(requests) && requests.some((each) => valueAt(each, 'model') !== named)) {
      throw new Refusal('range', 'model', 'all requests must be for the model of the path');
    }
  },
  answer: (body, call) => {
    const requests = Array.isArray(body.requests) ? (body.requests as unknown[]) : [];
    const vectors = requests.map((each) => vectorOf(String(valueAt(each, 'content.parts.0.text'))));
    return { embeddings: bare(vectors, call).map((values) => ({ values })) };
  },
  error: ({ status, message }) => ({
    status,
    json: { error: { code: status, message, status: 'INVALID_ARGUMENT' } },
  }),
  errors: {
    invalid: { status: 400, message: 'bad', blames: 'caller' },
    'unknown-model': { status: 404, message: 'models/x is not found' },
    'rate-limit': { status: 429, message: 'Resource has been exhausted' },
    unavailable: { status: 503, message: 'The model is overloaded.' },
  },
};

const REGION = 'us-west-2';

const bedrock: CallWire = {
  paths: [/^\/model\/[^/]+\/invoke$/],
  auth: (call) => {
    if (call.headers.authorization === `Bearer ${STUB_KEY}`) return;
    checkAws(call, REGION);
  },
  required: { inputText: string({ min: 1, max: 50_000 }) },
  optional: { dimensions: count, normalize: flag },
  answer: (body, call) => {
    const [vector, more] = bare([vectorOf(String(body.inputText))], call);
    return {
      embedding: more === undefined ? vector : null,
      inputTextTokenCount: words([String(body.inputText)]),
    };
  },
  error: ({ status, message, code }) => ({
    status,
    headers: { 'x-amzn-errortype': code ?? 'ValidationException' },
    json: { message },
  }),
  errors: {
    throttling: { status: 429, message: 'Too many requests', code: 'ThrottlingException' },
    internal: { status: 500, message: 'internal error', code: 'InternalServerException' },
  },
  channel: {
    credentials: { accessKeyId: ACCESS_KEY_ID, secretAccessKey: SECRET_KEY },
    wrongCredentials: { accessKeyId: ACCESS_KEY_ID, secretAccessKey: 'wrong' },
    settings: () => ({ region: REGION }),
  },
};

const huggingface: CallWire = {
  paths: [/^\/models\/[\w.-]+\/[\w.-]+\/pipeline\/feature-extraction$/],
  required: { inputs: texts(32) },
  optional: { normalize: flag, truncate: flag, prompt_name: text },
  answer: (body, call) => bare(stringsAt(body, 'inputs').map(vectorOf), call),
  error: ({ status, message }) => ({ status, json: { error: message } }),
  errors: { invalid: { status: 400, message: 'bad', blames: 'caller' }, ...USUAL_ERRORS },
};

const tei: CallWire = {
  ...huggingface,
  paths: ['/embed'],
  optional: { normalize: flag, truncate: flag, dimensions: count, prompt_name: text },
  replyHeaders: { 'x-compute-tokens': '7' },
  error: ({ status, message }) => ({ status, json: { error: message, error_type: 'Validation' } }),
};

const ollama: CallWire = {
  paths: ['/api/embed'],
  required: { model: text, input: texts(Infinity) },
  optional: { truncate: flag, dimensions: count, keep_alive: text, options: object({}) },
  answer: (body, call) => ({
    model: body.model,
    embeddings: bare(stringsAt(body, 'input').map(vectorOf), call),
    total_duration: 14_143_917,
    load_duration: 1_019_500,
    prompt_eval_count: words(stringsAt(body, 'input')),
  }),
  error: ({ status, message }) => ({ status, json: { error: message } }),
  errors: {
    'unknown-model': { status: 404, message: 'model "x" not found, try pulling it first' },
    internal: { status: 500, message: 'llama runner process has terminated' },
  },
};

const vllmPooling: CallWire = {
  paths: ['/pooling'],
  required: { model: text, input: texts(Infinity) },
  optional: { encoding_format: oneOf('float', 'base64'), truncate_prompt_tokens: whole(-1) },
  answer: (body, call) => {
    const input = stringsAt(body, 'input');
    return {
      id: 'pool-1',
      object: 'list',
      model: body.model,
      data: altered(input.map(vectorsOf), call).map(([index, vectors]) => ({
        index,
        object: 'pooling',
        data: vectors,
      })),
      usage: { prompt_tokens: words(input), total_tokens: words(input) },
    };
  },
  indexed: true,
  error: errorObject(),
  errors: ERRORS,
};

const jinaMulti: CallWire = {
  ...jina,
  paths: ['/v1/multi-vector'],
  optional: {
    input_type: oneOf('query', 'document'),
    embedding_type: oneOf('float'),
    dimensions: count,
  },
  ...purposeOnly('input', 'input_type', ['query', 'document']),
  answer: (body, call) => {
    const input = stringsAt(body, 'input');
    return {
      model: body.model,
      object: 'list',
      data: altered(input.map(vectorsOf), call).map(([index, embeddings]) => ({
        object: 'embeddings',
        index,
        embeddings,
      })),
      usage: { total_tokens: words(input) },
    };
  },
};

/** Embedding models: as strict as their APIs, with vectors that have a direction for each word. */
export const EMBEDDING_STUBS = {
  embeddings: openAi(['/v1/embeddings']),
  'openai-embeddings': openAi(['/v1/embeddings']),
  'azure-openai-embeddings': openAi(['/openai/v1/embeddings'], {
    auth: header('api-key', STUB_KEY),
  }),
  'mistral-embeddings': openAi(['/v1/embeddings'], {
    most: 512,
    dimensions: 'output_dimension',
    also: fewTokens(16_384),
  }),
  'together-embeddings': openAi(['/v1/embeddings'], { base64: false }),
  'siliconflow-embeddings': openAi(['/v1/embeddings'], { most: 64 }),
  'nebius-embeddings': openAi(['/v1/embeddings']),
  'deepinfra-embeddings': openAi(['/v1/openai/embeddings']),
  'jina-embeddings': callStub(jina),
  'voyage-embeddings': callStub(voyage),
  'cohere-embeddings': callStub(cohere),
  'gemini-embeddings': callStub(gemini),
  'bedrock-embeddings': callStub(bedrock),
  'huggingface-embeddings': callStub(huggingface),
  'tei-embeddings': callStub(tei),
  'ollama-embeddings': callStub(ollama),
  'vllm-maxsim': callStub(vllmPooling),
  'jina-maxsim': callStub(jinaMulti),
} satisfies Record<string, Stub>;
