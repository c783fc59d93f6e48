import type { RerankOptions } from '../../core/rerank.js';
import { CUT_DOCUMENTS } from '../../core/tokens.js';
import { JsonShapeError, type Json } from '../../core/json.js';
import type { JsonBody } from '../../bytes/index.js';
import {
  defineComposedProvider,
  type ComposedProvider,
  type Declaration,
  type ProviderProfile,
  type RankerTools,
  type Rounds,
  type SettingValue,
  type UpstreamCall,
  type UpstreamReply,
} from '../provider.js';
import { ask, sumUsage, type Question } from '../rounds.js';
import { readChance, readOrder, type Likely } from './answer.js';
import { fitted, fittedDocument, promptOf, type Prompt } from './prompt.js';
import { LISTWISE_SETTINGS, mistakes, POINTWISE_SETTINGS } from './settings.js';
import { USUAL } from '../self-hosted.js';

/** One question to a chat model. */
export interface ChatQuestion extends Prompt {
  readonly maxTokens: number;
  /** JSON Schema of the answer, if the channel wants one enforced. */
  readonly schema: JsonBody | undefined;
  /** Whether to ask for the candidates for the answer's first token. */
  readonly likely: boolean;
}

export interface ChatAnswer {
  /** A text, or a value if the API returns the answer as one. */
  readonly answer: unknown;
  readonly likely: readonly Likely[];
  /** Of question and answer together. */
  readonly tokens: number | undefined;
  /** Whether the API cut it off. */
  readonly isCut: boolean;
}

/** A chat API as data. */
export interface ChatApi {
  readonly body: (question: ChatQuestion, call: UpstreamCall) => JsonBody;
  readonly decode: (reply: Json, http: UpstreamReply) => ChatAnswer;
}

const RANKING_SCHEMA = {
  type: 'object',
  properties: { ranking: { type: 'array', items: { type: 'integer' } } },
  required: ['ranking'],
  additionalProperties: false,
} as const;

type Settings = Readonly<Record<string, SettingValue>>;

const PROFILE: ProviderProfile = {
  ...USUAL,
  limits: { documents: { default: 100 } },
  topN: 'unsupported',
  blanks: 'refused',
  scoreScale: { default: 'order' },
  ranking: { default: 'listwise' },
};

type Declared = Omit<Declaration<ComposedProvider>, 'rounds' | 'estimate' | 'profile'> & {
  readonly profile?: Partial<ProviderProfile>;
};

const TIME_NOTE =
  'One ranking takes several calls: give the channel a timeout_ms, and the gateway a deadline_ms, long enough for all of them.';
const DATA_NOTE =
  'Like any model, it can still be swayed by what a passage says. That can change only the order.';

/** Declares a chat model that orders windows of passages, from the last to the first, as RankGPT does. */
export function defineListwise(api: ChatApi, { profile, ...declared }: Declared): ComposedProvider {
  return defineComposedProvider({
    ...declared,
    settings: { ...LISTWISE_SETTINGS, ...declared.settings },
    mistakes: (channel) => [...mistakes(channel), ...(declared.mistakes?.(channel) ?? [])],
    profile: { ...PROFILE, ...profile },
    notes: [TIME_NOTE, DATA_NOTE, ...(declared.notes ?? [])],
    rounds: (call, tools) => rankWindows(api, call, tools),
    estimate: ({ query, documents, options, settings }) => {
      const { windowSize, stride, windowTokens } = windowsOf(settings);
      const windows = 1 + Math.max(0, Math.ceil((documents.count - windowSize) / stride));
      const inWindow = Math.min(1, windowSize / documents.count) * documents.meantBytes;
      const tokens = Math.min(
        windowTokens,
        (inWindow + askedBytes(query, options)) / BYTES_PER_TOKEN + PROMPT_TOKENS,
      );
      return Math.ceil(windows * (tokens + ANSWER_TOKENS * windowSize));
    },
  });
}

/** Declares a chat model that says for each passage how likely it is to answer the query. */
export function definePointwise(
  api: ChatApi,
  { profile, ...declared }: Declared,
): ComposedProvider {
  return defineComposedProvider({
    ...declared,
    settings: { ...POINTWISE_SETTINGS, ...declared.settings },
    mistakes: (channel) => [...mistakes(channel), ...(declared.mistakes?.(channel) ?? [])],
    profile: {
      ...PROFILE,
      sorted: false,
      scoreScale: { default: 'probability' },
      ranking: { default: 'pointwise' },
      ...profile,
    },
    notes: [TIME_NOTE, DATA_NOTE, ...(declared.notes ?? [])],
    rounds: (call, tools) => rankEach(api, call, tools),
    estimate: ({ query, documents, options, settings }) => {
      const { windowTokens } = windowsOf(settings);
      const asked = Math.min(windowTokens, askedBytes(query, options) / BYTES_PER_TOKEN);
      return Math.ceil(
        documents.count * (asked + PROMPT_TOKENS) + documents.meantBytes / BYTES_PER_TOKEN,
      );
    },
  });
}

/** A low number, so that the reservation is large enough for any script. */
const BYTES_PER_TOKEN = 3;
/** For the text around query and passages, tags included. */
const PROMPT_TOKENS = 300;
/** Per identifier. */
const ANSWER_TOKENS = 5;
/** The largest shares of a window for the query, for the instruction, and for all passages together. */
const QUERY_SHARE = 0.2;
const INSTRUCTION_SHARE = 0.1;
const PASSAGES_SHARE = 0.6;

/** How many are cut and put into words before others get a turn. */
const DOCUMENTS_PER_TURN = 16;

function askedBytes(query: string, { instruction = '' }: RerankOptions): number {
  return Buffer.byteLength(query) + Buffer.byteLength(instruction);
}

/** The call with its query and instruction cut to fit a window. */
function fittedCall(call: UpstreamCall, windowTokens: number): UpstreamCall {
  const { query, options } = call;
  const { instruction } = options;
  return {
    ...call,
    query: fitted(query, windowTokens * QUERY_SHARE, call),
    options:
      instruction === undefined
        ? options
        : { ...options, instruction: fitted(instruction, windowTokens * INSTRUCTION_SHARE, call) },
  };
}

function windowsOf(settings: Settings) {
  return {
    windowSize: Number(settings.windowSize ?? 20),
    stride: Number(settings.stride ?? 10),
    windowTokens: Number(settings.windowTokens ?? 16_000),
  };
}

function* rankWindows(api: ChatApi, call: UpstreamCall, { prompts }: RankerTools): Rounds {
  const { windowSize, stride, windowTokens } = windowsOf(call.settings);
  const asked = fittedCall(call, windowTokens);
  const { count } = call.documents;
  const room = Math.floor((windowTokens * PASSAGES_SHARE) / Math.min(windowSize, count));
  const texts: string[] = [];
  let isAnyCut = false;
  for (let index = 0; index < count; index += 1) {
    const { text, isCut } = fittedDocument(call, index, room);
    texts.push(text);
    isAnyCut ||= isCut;
    if (index % DOCUMENTS_PER_TURN === DOCUMENTS_PER_TURN - 1) yield [];
  }
  const order = texts.map((_, index) => index);
  const tokens: (number | undefined)[] = [];
  // A single passage is already in order, without asking a model.
  for (let end = order.length; order.length > 1; end -= stride) {
    const start = Math.max(0, end - windowSize);
    const window = order.slice(start, end);
    const prompt = promptOf(
      prompts,
      asked,
      window.map((index) => texts[index] ?? ''),
    );
    const question: ChatQuestion = {
      ...prompt,
      maxTokens: Number(call.settings.maxTokens ?? 1_024),
      schema: call.settings.structured === true ? RANKING_SCHEMA : undefined,
      likely: false,
    };
    const [reply] = yield* ask([
      {
        makeBody: () => api.body(question, call),
        decode: (json: Json, http: UpstreamReply) => {
          const said = api.decode(json, http);
          if (said.isCut) {
            throw new JsonShapeError(
              'the answer was cut off: settings.max_tokens leaves no room for it',
            );
          }
          return { places: readOrder(said.answer, window.length), tokens: said.tokens };
        },
      },
    ]);
    tokens.push(reply?.tokens);
    reply?.places.forEach((place, at) => {
      order[start + at] = window[place] ?? 0;
    });
    if (start === 0) break;
  }
  return {
    rows: order.map((index) => ({ index, score: undefined })),
    orderOnly: true,
    usage: sumUsage(tokens),
    ...(isAnyCut && { warning: CUT_DOCUMENTS }),
  };
}

interface Scored {
  readonly score: number | undefined;
  readonly tokens: number | undefined;
}

function* rankEach(api: ChatApi, call: UpstreamCall, { prompts }: RankerTools): Rounds {
  const { windowTokens } = windowsOf(call.settings);
  const asked = fittedCall(call, windowTokens);
  const cut = new Set<number>();
  const questionOf = (index: number): Question<Scored> => {
    const { text, isCut } = fittedDocument(call, index, windowTokens * PASSAGES_SHARE);
    if (isCut) cut.add(index);
    const question: ChatQuestion = {
      ...promptOf(prompts, asked, [text]),
      maxTokens: 1,
      schema: undefined,
      likely: true,
    };
    return {
      makeBody: () => api.body(question, call),
      decode: (json: Json, http: UpstreamReply) => {
        const { likely, tokens } = api.decode(json, http);
        return { score: readChance(likely), tokens };
      },
    };
  };
  const questions: Question<Scored>[] = [];
  for (let index = 0; index < call.documents.count; index += 1) {
    questions.push(questionOf(index));
    if (index % DOCUMENTS_PER_TURN === DOCUMENTS_PER_TURN - 1) yield [];
  }
  const answers = yield* ask(questions);
  return {
    rows: answers.map(({ score }, index) => ({ index, score })),
    usage: sumUsage(answers.map(({ tokens }) => tokens)),
    ...(cut.size > 0 && { warning: CUT_DOCUMENTS }),
  };
}
