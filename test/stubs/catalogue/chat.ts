import { wordOverlap } from '../../support/upstream.js';
import { callStub, type CallWire } from '../calls.js';
import {
  anything,
  count,
  flag,
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
import { errorObject, USUAL_ERRORS } from '../errors.js';
import { ACCESS_KEY_ID, checkAws, SECRET_KEY } from '../signatures.js';
import { STUB_KEY, type Stub, type StubCall } from '../stub.js';
import { bearerKey, header } from '../wire.js';

/** A model that reads a prompt as one would: the query and the passages by the marks around them. */
function read(prompt: string) {
  const query = /<query>\n([\s\S]*?)\n<\/query>/.exec(prompt)?.[1] ?? '';
  const passages = [...prompt.matchAll(/<passage id="(\d+)">\n([\s\S]*?)\n<\/passage>/g)].map(
    ([, id, text = '']) => ({ id: Number(id), score: wordOverlap(query, text) }),
  );
  if (query === '' || passages.length === 0) {
    throw new Refusal('type', 'messages', 'the prompt has no query or no passages');
  }
  return { query, passages };
}

/** What it answers when it is asked for an order. */
function ranking(prompt: string, { modes }: StubCall): number[] {
  const order = read(prompt)
    .passages.sort((one, other) => other.score - one.score)
    .map(({ id }) => id);
  return modes.has('index-out-of-range') ? [order.length + 7, ...order.slice(1)] : order;
}

const ROW_FAULTS = ['duplicate-index', 'index-out-of-range', 'missing-row', 'null-scores', 'nan'];

/** The tokens that its answer could have begun with, when it is asked for yes or no. */
function likely(prompt: string, { modes }: StubCall): { token: string; logprob: number }[] {
  const chance = 0.01 + 0.98 * (read(prompt).passages[0]?.score ?? 0);
  if (ROW_FAULTS.some((fault) => modes.has(fault))) return [{ token: 'Maybe', logprob: -0.1 }];
  return [
    { token: 'yes', logprob: Math.log(chance * 0.9) },
    { token: ' Yes', logprob: Math.log(chance * 0.1) },
    { token: 'no', logprob: Math.log(1 - chance) },
    { token: 'the', logprob: -9 },
  ];
}

const text = string({ min: 1 });
const number: Check = (value, at) => {
  if (typeof value !== 'number') throw new Refusal('type', at, `${at} must be a number`);
};
const words = (prompt: string): number => prompt.match(/\S+/g)?.length ?? 0;
const answerText = (prompt: string, call: StubCall, likelyWanted: boolean): string =>
  likelyWanted ? 'yes' : JSON.stringify({ ranking: ranking(prompt, call) });

/** An order is mended from what an answer leaves out or says twice; a chance is not. */
const LISTWISE = { orderOnly: true, mends: true } as const;

const schema = object({ type: text, properties: anything }, {}, 'ignored');

function openAi(kind: 'listwise' | 'pointwise', limit: string): Stub {
  return callStub({
    ...(kind === 'listwise' ? LISTWISE : {}),
    paths: ['/v1/chat/completions'],
    required: {
      model: text,
      messages: list(object({ role: oneOf('system', 'user', 'assistant'), content: text })),
    },
    optional: {
      [limit]: count,
      temperature: number,
      seed: whole(0),
      logprobs: flag,
      top_logprobs: whole(0, 20),
      response_format: object(
        { type: oneOf('json_schema') },
        { json_schema: object({ name: text, schema }, { strict: flag }) },
      ),
    },
    also: (body) => {
      if (valueAt(body, 'top_logprobs') !== undefined && valueAt(body, 'logprobs') !== true) {
        throw new Refusal('range', 'top_logprobs', 'top_logprobs needs logprobs');
      }
    },
    answer: (body, call) => {
      const prompt = String(valueAt(body, 'messages.1.content'));
      const wanted = body.logprobs === true;
      const usage = { prompt_tokens: words(prompt), completion_tokens: 9 };
      return {
        id: 'chatcmpl-1',
        object: 'chat.completion',
        model: body.model,
        choices: [
          {
            index: 0,
            message: {
              role: 'assistant',
              content: answerText(prompt, call, wanted),
              refusal: null,
            },
            logprobs: wanted
              ? {
                  content: [
                    { token: 'yes', logprob: -0.1, bytes: [], top_logprobs: likely(prompt, call) },
                  ],
                  refusal: null,
                }
              : null,
            finish_reason: wanted ? 'length' : 'stop',
          },
        ],
        usage: { ...usage, total_tokens: usage.prompt_tokens + usage.completion_tokens },
      };
    },
    error: errorObject(({ code, status }) => ({
      type: 'invalid_request_error',
      param: null,
      code: code ?? status,
    })),
    errors: {
      invalid: { status: 400, message: 'bad', blames: 'caller' },
      'too-long': {
        status: 400,
        message: "This model's maximum context length is 8192 tokens.",
        blames: 'limit',
      },
      ...USUAL_ERRORS,
    },
  });
}

const anthropic: CallWire = {
  ...LISTWISE,
  paths: ['/v1/messages'],
  auth: (call) => {
    header('x-api-key', STUB_KEY)(call);
    if (call.headers['anthropic-version'] === undefined) {
      throw new Refusal('missing', 'anthropic-version', 'anthropic-version: header is required');
    }
  },
  required: {
    model: text,
    max_tokens: count,
    messages: list(object({ role: oneOf('user', 'assistant'), content: text })),
  },
  optional: {
    system: text,
    temperature: number,
    tools: list(object({ name: text, input_schema: schema }, { description: text })),
    tool_choice: object({ type: oneOf('auto', 'any', 'tool', 'none') }, { name: text }),
  },
  answer: (body, call) => {
    const prompt = String(valueAt(body, 'messages.0.content'));
    const order = ranking(prompt, call);
    const usesTool = valueAt(body, 'tool_choice.type') === 'tool';
    return {
      id: 'msg_01',
      type: 'message',
      role: 'assistant',
      model: body.model,
      content: usesTool
        ? [{ type: 'tool_use', id: 'toolu_01', name: 'rank', input: { ranking: order } }]
        : [{ type: 'text', text: JSON.stringify({ ranking: order }) }],
      stop_reason: usesTool ? 'tool_use' : 'end_turn',
      stop_sequence: null,
      usage: {
        input_tokens: words(prompt),
        cache_creation_input_tokens: 0,
        cache_read_input_tokens: 0,
        output_tokens: 9,
      },
    };
  },
  error: ({ status, message, code }) => ({
    status,
    json: { type: 'error', error: { type: code ?? 'invalid_request_error', message } },
  }),
  errors: {
    invalid: { status: 400, message: 'bad', blames: 'caller' },
    authentication: { status: 401, message: 'invalid x-api-key', code: 'authentication_error' },
    'no-balance': {
      status: 402,
      message: 'Your credit balance is too low.',
      code: 'billing_error',
    },
    'unknown-model': { status: 404, message: 'model: x', code: 'not_found_error' },
    'rate-limit': { status: 429, message: 'slow down', code: 'rate_limit_error' },
    overloaded: { status: 529, message: 'Overloaded', code: 'overloaded_error' },
  },
};

function gemini(kind: 'listwise' | 'pointwise'): Stub {
  const parts = object({ parts: list(object({ text })) }, { role: oneOf('user', 'model') });
  return callStub({
    ...(kind === 'listwise' ? LISTWISE : {}),
    paths: [/^\/v1beta\/models\/[\w.-]+:generateContent$/],
    auth: header('x-goog-api-key', STUB_KEY),
    required: { contents: list(parts) },
    optional: {
      systemInstruction: parts,
      generationConfig: object(
        {},
        {
          maxOutputTokens: count,
          temperature: number,
          seed: whole(0),
          responseMimeType: oneOf('application/json', 'text/plain'),
          responseSchema: schema,
          responseLogprobs: flag,
          logprobs: whole(0, 20),
        },
      ),
    },
    answer: (body, call) => {
      const prompt = String(valueAt(body, 'contents.0.parts.0.text'));
      const wanted = valueAt(body, 'generationConfig.responseLogprobs') === true;
      return {
        candidates: [
          {
            content: { parts: [{ text: answerText(prompt, call, wanted) }], role: 'model' },
            finishReason: 'STOP',
            index: 0,
            ...(wanted
              ? {
                  logprobsResult: {
                    topCandidates: [
                      {
                        candidates: likely(prompt, call).map(({ token, logprob }) => ({
                          token,
                          logProbability: logprob,
                        })),
                      },
                    ],
                  },
                }
              : {}),
          },
        ],
        usageMetadata: {
          promptTokenCount: words(prompt),
          candidatesTokenCount: 9,
          totalTokenCount: words(prompt) + 9,
        },
      };
    },
    error: ({ status, message }) => ({
      status,
      json: { error: { code: status, message, status: 'INVALID_ARGUMENT' } },
    }),
    errors: {
      invalid: { status: 400, message: 'bad', blames: 'caller' },
      'rate-limit': { status: 429, message: 'Resource has been exhausted' },
      unavailable: { status: 503, message: 'The model is overloaded.' },
    },
  });
}

function ollama(kind: 'listwise' | 'pointwise'): Stub {
  return callStub({
    ...(kind === 'listwise' ? LISTWISE : {}),
    paths: ['/api/chat'],
    auth: bearerKey(),
    required: {
      model: text,
      messages: list(object({ role: oneOf('system', 'user', 'assistant'), content: text })),
    },
    optional: {
      stream: flag,
      format: schema,
      keep_alive: text,
      logprobs: flag,
      top_logprobs: whole(0, 20),
      options: object(
        {},
        { num_ctx: count, num_predict: whole(-2), temperature: number, seed: whole(0) },
      ),
    },
    also: (body) => {
      if (valueAt(body, 'stream') !== false) {
        throw new Refusal('range', 'stream', 'the reply would come in pieces');
      }
    },
    answer: (body, call) => {
      const prompt = String(valueAt(body, 'messages.1.content'));
      const wanted = body.logprobs === true;
      return {
        model: body.model,
        created_at: '2026-11-01T12:00:00Z',
        message: { role: 'assistant', content: answerText(prompt, call, wanted) },
        done: true,
        done_reason: 'stop',
        ...(wanted
          ? {
              logprobs: [{ token: 'yes', logprob: -0.1, top_logprobs: likely(prompt, call) }],
            }
          : {}),
        total_duration: 14_143_917,
        prompt_eval_count: words(prompt),
        eval_count: 9,
      };
    },
    error: ({ status, message }) => ({ status, json: { error: message } }),
    errors: {
      'unknown-model': { status: 404, message: 'model "x" not found, try pulling it first' },
      internal: { status: 500, message: 'llama runner process has terminated' },
    },
  });
}

const REGION = 'us-west-2';

const converse: CallWire = {
  ...LISTWISE,
  paths: [/^\/model\/[^/]+\/converse$/],
  auth: (call) => {
    checkAws(call, REGION);
  },
  required: {
    messages: list(object({ role: oneOf('user', 'assistant'), content: list(object({ text })) })),
  },
  optional: {
    system: list(object({ text })),
    inferenceConfig: object({}, { maxTokens: count, temperature: number }),
    toolConfig: orNull(object({ tools: list(anything) }, { toolChoice: anything })),
  },
  answer: (body, call) => {
    const prompt = String(valueAt(body, 'messages.0.content.0.text'));
    const order = ranking(prompt, call);
    const tool = valueAt(body, 'toolConfig') !== undefined;
    return {
      output: {
        message: {
          role: 'assistant',
          content: [
            tool
              ? { toolUse: { toolUseId: 'x', name: 'rank', input: { ranking: order } } }
              : { text: JSON.stringify({ ranking: order }) },
          ],
        },
      },
      stopReason: 'end_turn',
      usage: { inputTokens: words(prompt), outputTokens: 9, totalTokens: words(prompt) + 9 },
      metrics: { latencyMs: 12 },
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

/** Chat models that do what they are asked: as strict as their APIs, with an order that tests can foretell. */
export const CHAT_STUBS = {
  'anthropic-listwise': callStub(anthropic),
  'bedrock-listwise': callStub(converse),
  'chat-listwise': openAi('listwise', 'max_tokens'),
  'chat-pointwise': openAi('pointwise', 'max_tokens'),
  'gemini-listwise': gemini('listwise'),
  'gemini-pointwise': gemini('pointwise'),
  'ollama-listwise': ollama('listwise'),
  'ollama-pointwise': ollama('pointwise'),
  'openai-listwise': openAi('listwise', 'max_completion_tokens'),
  'openai-pointwise': openAi('pointwise', 'max_completion_tokens'),
} satisfies Record<string, Stub>;
