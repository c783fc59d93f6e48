import type { Json } from '../../core/json.js';
import type { JsonBody } from '../../bytes/index.js';
import { readUsage } from '../dialects.js';
import { bedrockAccess } from '../bedrock-access.js';
import {
  bearer,
  OPTIONAL_API_KEY,
  optionalTextSetting,
  REQUIRED_API_KEY,
  requiredCredential,
  type SettingSpec,
  textSetting,
  type UpstreamCall,
} from '../provider.js';
import { pathSetting } from '../self-hosted.js';
import type { Likely } from './answer.js';
import { defineListwise, definePointwise, type ChatApi, type ChatQuestion } from './rank.js';

/** Models that refuse a temperature: Claude from Opus 4.7 and generation 5 on, and OpenAI's reasoning models. */
const NO_TEMPERATURE =
  /claude-[a-z]+-(?:4-[789]|[5-9]|[1-9]\d)(?!\d)|^(?:openai\/)?(?:gpt-[5-9]|o\d)/;
/** From this version on, Anthropic's API refuses a temperature for every model. */
const VERSION_WITHOUT_TEMPERATURE = '2026-10-21';

function temperature({ model, settings }: UpstreamCall): number | undefined {
  if (settings.sendTemperature === false || NO_TEMPERATURE.test(model)) return undefined;
  return textSetting(settings, 'anthropicVersion') >= VERSION_WITHOUT_TEMPERATURE ? undefined : 0;
}

function seed({ settings }: UpstreamCall): number | undefined {
  return typeof settings.seed === 'number' ? settings.seed : undefined;
}

function structured(value: boolean): { readonly structured: SettingSpec } {
  return {
    structured: {
      type: 'boolean',
      default: value,
      describe: 'whether the answer must follow a JSON schema, if server and model support that',
    },
  };
}

/** How many candidates for an answer's first token to ask for. */
const LIKELY_TOKENS = 10;

function readLikely(list: Json): Likely[] {
  if (!list.isArray()) return [];
  return list.map((each) => ({
    token: each.field('token').string(),
    logprob: each.firstOf('logprob', 'logProbability').number(),
  }));
}

/** OpenAI's chat completions; `limit` is the member that limits the answer. */
function openAi(limit: 'max_tokens' | 'max_completion_tokens'): ChatApi {
  return {
    body: (question, call) => ({
      model: call.model,
      messages: [
        { role: 'system', content: question.system },
        { role: 'user', content: question.user },
      ],
      [limit]: question.maxTokens,
      temperature: temperature(call),
      seed: seed(call),
      response_format: question.schema && {
        type: 'json_schema',
        json_schema: { name: 'ranking', strict: true, schema: question.schema },
      },
      ...(question.likely ? { logprobs: true, top_logprobs: LIKELY_TOKENS } : {}),
    }),
    decode: (reply) => {
      const choice = reply.field('choices').item(0);
      return {
        answer: choice.field('message').field('content').value,
        likely: readLikely(
          choice.maybe('logprobs').maybe('content').isArray()
            ? choice.maybe('logprobs').maybe('content').item(0).maybe('top_logprobs')
            : choice.maybe('none'),
        ),
        tokens: readUsage(reply).inputTokens,
        isCut: choice.maybe('finish_reason').value === 'length',
      };
    },
  };
}

const compatible = {
  ...pathSetting('/v1/chat/completions'),
  settings: {
    ...pathSetting('/v1/chat/completions').settings,
    seed: { type: 'number', describe: 'seed, for servers that know one; unset: none is sent' },
  },
  credentials: OPTIONAL_API_KEY,
  profile: { billing: 'none', isRelay: true },
} as const;

/** Any server with OpenAI's chat route, asked for an order. */
export const chatListwise = defineListwise(openAi('max_tokens'), {
  ...compatible,
  id: 'chat-listwise',
  title: 'Any OpenAI-compatible chat model, listwise',
  settings: { ...compatible.settings, ...structured(false) },
  exampleModels: ['Qwen/Qwen3-4B-Instruct-2507', 'castorini/rank_zephyr_7b_v1_full'],
  notes: [
    'Azure, Mistral, Together, Groq, DeepSeek and the like work with their base URL and key.',
  ],
});

/** Any server with OpenAI's chat route that reports how likely tokens are. */
export const chatPointwise = definePointwise(openAi('max_tokens'), {
  ...compatible,
  id: 'chat-pointwise',
  title: 'Any OpenAI-compatible chat model, pointwise',
  exampleModels: ['Qwen/Qwen3-4B-Instruct-2507'],
  notes: [
    'The server must answer with logprobs: vLLM, SGLang, llama.cpp and LM Studio do, many hosts do not.',
    'A model that thinks before it answers cannot be used: its first token is not an answer.',
  ],
});

const openAiHost = {
  baseUrl: 'https://api.openai.com',
  path: '/v1/chat/completions',
  credentials: REQUIRED_API_KEY,
} as const;

export const openaiListwise = defineListwise(openAi('max_completion_tokens'), {
  ...openAiHost,
  id: 'openai-listwise',
  title: 'OpenAI, listwise',
  settings: { ...structured(true), seed: { type: 'number', default: 1, describe: 'seed' } },
  exampleModels: ['gpt-4.1-mini', 'gpt-4.1'],
  notes: [
    'Models that reason need more max_tokens. They refuse a temperature: none is sent to gpt-5 and o models, and send_temperature keeps it from others.',
  ],
});

export const openaiPointwise = definePointwise(openAi('max_completion_tokens'), {
  ...openAiHost,
  id: 'openai-pointwise',
  title: 'OpenAI, pointwise',
  settings: { seed: { type: 'number', default: 1, describe: 'seed' } },
  exampleModels: ['gpt-4.1-mini', 'gpt-4.1-nano'],
  notes: ['Models that reason return no logprobs and cannot be used.'],
});

/** The answer is a tool call that the model must make, so its form is the schema's. */
const anthropic: ChatApi = {
  body: (question, call) => ({
    model: call.model,
    max_tokens: question.maxTokens,
    system: question.system,
    messages: [{ role: 'user', content: question.user }],
    temperature: temperature(call),
    tools: question.schema && [
      {
        name: 'rank',
        description: 'Tells the order of the passages.',
        input_schema: question.schema,
      },
    ],
    tool_choice: question.schema && { type: 'tool', name: 'rank' },
  }),
  decode: (reply) => {
    const usage = reply.maybe('usage');
    const count = (name: string): number => usage.maybe(name).optionalNumber() ?? 0;
    return {
      answer: contentOf(reply.field('content'), (part) => part.maybe('input')),
      likely: [],
      tokens: usage.isObject()
        ? count('input_tokens') +
          count('cache_creation_input_tokens') +
          count('cache_read_input_tokens') +
          count('output_tokens')
        : undefined,
      isCut: reply.maybe('stop_reason').value === 'max_tokens',
    };
  },
};

/** The input of the tool call in an answer's parts, or else their text. */
function contentOf(parts: Json, toolInput: (part: Json) => Json): unknown {
  const inputs = parts.map(toolInput).filter((input) => input.isPresent());
  if (inputs[0] !== undefined) return inputs[0].value;
  return parts.map((part) => part.maybe('text').optionalString() ?? '').join('');
}

export const anthropicListwise = defineListwise(anthropic, {
  id: 'anthropic-listwise',
  title: 'Anthropic, listwise',
  baseUrl: 'https://api.anthropic.com',
  path: '/v1/messages',
  credentials: { apiKey: { required: true, describe: 'API key, sent as x-api-key' } },
  settings: {
    ...structured(true),
    anthropicVersion: {
      type: 'string',
      default: '2023-06-01',
      describe: 'value of the header anthropic-version',
    },
  },
  headers: (endpoint) => ({
    'x-api-key': requiredCredential(endpoint, 'apiKey'),
    'anthropic-version': optionalTextSetting(endpoint.settings, 'anthropicVersion') ?? '2023-06-01',
  }),
  exampleModels: ['claude-haiku-4-5', 'claude-sonnet-4-6'],
  notes: [
    'No temperature is sent to Claude Opus 4.7 and newer and to generation 5, which refuse any, nor with an anthropic_version of 2026-10-21 or later.',
  ],
});

const geminiSchema: JsonBody = {
  type: 'OBJECT',
  properties: { ranking: { type: 'ARRAY', items: { type: 'INTEGER' } } },
  required: ['ranking'],
};

const gemini: ChatApi = {
  body: (question, call) => ({
    systemInstruction: { parts: [{ text: question.system }] },
    contents: [{ role: 'user', parts: [{ text: question.user }] }],
    generationConfig: {
      maxOutputTokens: question.maxTokens,
      temperature: temperature(call),
      seed: seed(call),
      responseMimeType: question.schema && 'application/json',
      responseSchema: question.schema && geminiSchema,
      ...(question.likely ? { responseLogprobs: true, logprobs: LIKELY_TOKENS } : {}),
    },
  }),
  decode: (reply) => {
    const candidate = reply.field('candidates').item(0);
    const top = candidate.maybe('logprobsResult').maybe('topCandidates');
    return {
      answer: contentOf(candidate.field('content').field('parts'), (part) => part.maybe('none')),
      likely: readLikely(top.isArray() ? top.item(0).maybe('candidates') : top),
      tokens: reply.maybe('usageMetadata').maybe('totalTokenCount').optionalNumber(),
      isCut: candidate.maybe('finishReason').value === 'MAX_TOKENS',
    };
  },
};

const geminiHost = {
  baseUrl: 'https://generativelanguage.googleapis.com',
  path: ({ model }: Pick<UpstreamCall, 'model'>) =>
    `/v1beta/models/${encodeURIComponent(model)}:generateContent`,
  credentials: { apiKey: { required: true, describe: 'API key, sent as x-goog-api-key' } },
  headers: (endpoint: Parameters<typeof bearer>[0]) => ({
    'x-goog-api-key': requiredCredential(endpoint, 'apiKey'),
  }),
} as const;

export const geminiListwise = defineListwise(gemini, {
  ...geminiHost,
  id: 'gemini-listwise',
  title: 'Google Gemini, listwise',
  settings: { ...structured(true), seed: { type: 'number', default: 1, describe: 'seed' } },
  exampleModels: ['gemini-2.5-flash-lite', 'gemini-2.5-flash'],
  notes: ['Thoughts count as tokens of the answer: models that think need more max_tokens.'],
});

export const geminiPointwise = definePointwise(gemini, {
  ...geminiHost,
  id: 'gemini-pointwise',
  title: 'Google Gemini, pointwise',
  settings: { seed: { type: 'number', default: 1, describe: 'seed' } },
  exampleModels: ['gemini-2.5-flash-lite'],
  notes: ['Not every model returns logprobs in this API, and none that thinks.'],
});

const ollama: ChatApi = {
  body: (question, call) => ({
    model: call.model,
    messages: [
      { role: 'system', content: question.system },
      { role: 'user', content: question.user },
    ],
    stream: false,
    format: question.schema,
    keep_alive: optionalTextSetting(call.settings, 'keepAlive'),
    // Text that does not fit into the context is cut silently, so the context must hold the window and the answer.
    options: {
      num_ctx: Number(call.settings.windowTokens) + question.maxTokens,
      num_predict: question.maxTokens,
      temperature: temperature(call),
      seed: seed(call),
    },
    ...(question.likely ? { logprobs: true, top_logprobs: LIKELY_TOKENS } : {}),
  }),
  decode: (reply) => {
    const logprobs = reply.maybe('logprobs');
    const count = (name: string): number => reply.maybe(name).optionalNumber() ?? 0;
    return {
      answer: reply.field('message').field('content').value,
      likely: readLikely(logprobs.isArray() ? logprobs.item(0).maybe('top_logprobs') : logprobs),
      tokens: count('prompt_eval_count') + count('eval_count') || undefined,
      isCut: reply.maybe('done_reason').value === 'length',
    };
  },
};

const ollamaServer = {
  path: '/api/chat',
  credentials: OPTIONAL_API_KEY,
  profile: { billing: 'none' },
} as const;

const keepAlive: SettingSpec = {
  type: 'string',
  describe: 'how long the model stays loaded, such as 30m',
};

export const ollamaListwise = defineListwise(ollama, {
  ...ollamaServer,
  id: 'ollama-listwise',
  title: 'Ollama, listwise',
  settings: {
    ...structured(true),
    keepAlive,
    seed: { type: 'number', default: 1, describe: 'seed' },
    windowTokens: {
      type: 'number',
      default: 8_000,
      least: 1,
      describe: 'tokens of one window, which is the context that the model is loaded with',
    },
  },
  exampleModels: ['qwen3:4b-instruct', 'gemma3:4b', 'llama3.2'],
  notes: ['The base URL is http://127.0.0.1:11434 where it runs beside the gateway.'],
});

export const ollamaPointwise = definePointwise(ollama, {
  ...ollamaServer,
  id: 'ollama-pointwise',
  title: 'Ollama, pointwise',
  settings: { keepAlive, seed: { type: 'number', default: 1, describe: 'seed' } },
  exampleModels: ['qwen3:4b-instruct', 'dengcao/Qwen3-Reranker-0.6B'],
  notes: [
    'Needs a version that returns logprobs (0.12.11 or newer).',
    'The base URL is http://127.0.0.1:11434 where it runs beside the gateway.',
  ],
});

const converse: ChatApi = {
  body: (question: ChatQuestion, call) => ({
    system: [{ text: question.system }],
    messages: [{ role: 'user', content: [{ text: question.user }] }],
    inferenceConfig: { maxTokens: question.maxTokens, temperature: temperature(call) },
    toolConfig: question.schema && {
      tools: [
        {
          toolSpec: {
            name: 'rank',
            description: 'Tells the order of the passages.',
            inputSchema: { json: question.schema },
          },
        },
      ],
      toolChoice: { tool: { name: 'rank' } },
    },
  }),
  decode: (reply) => ({
    answer: contentOf(reply.field('output').field('message').field('content'), (part) =>
      part.maybe('toolUse').maybe('input'),
    ),
    likely: [],
    tokens: reply.maybe('usage').maybe('totalTokens').optionalNumber(),
    isCut: reply.maybe('stopReason').value === 'max_tokens',
  }),
};

export const bedrockListwise = defineListwise(converse, {
  ...bedrockAccess,
  id: 'bedrock-listwise',
  title: 'Amazon Bedrock Converse, listwise',
  baseUrl: 'https://bedrock-runtime.{region}.amazonaws.com',
  path: ({ model }) => `/model/${encodeURIComponent(model)}/converse`,
  settings: { ...bedrockAccess.settings, ...structured(false) },
  exampleModels: ['amazon.nova-lite-v1:0', 'anthropic.claude-haiku-4-5-20251001-v1:0'],
  notes: ["structured makes the model call a tool, which Anthropic's and Amazon's can be made to."],
});
