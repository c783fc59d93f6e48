import type { Json } from '../../core/json.js';
import type { JsonBody } from '../../bytes/index.js';
import { CUT_DOCUMENTS } from '../../core/tokens.js';
import {
  defineComposedProvider,
  type ComposedProvider,
  type Declaration,
  type PartCall,
  type ProviderProfile,
  type RankerTools,
  type Rounds,
  type SettingSpec,
  type UpstreamCall,
  type UpstreamReply,
} from '../provider.js';
import { ask, sumUsage, type Question } from '../rounds.js';
import { dimensionsOf, readEmbedding, similarity, workOf, type Embedding } from './comparison.js';
import type { EmbeddedText } from './forms.js';
import { DistinctTexts, queryFor, type TextLimits } from './texts.js';
import { USUAL } from '../self-hosted.js';

/** The result of one call of an embedding API. */
export interface Embedded {
  /** The vectors of each text, in the texts' order: a single one, or one per token. */
  readonly embeddings: Iterable<readonly Json[]>;
  readonly tokens: number | undefined;
}

/** An embedding API as data. */
export interface EmbeddingApi extends TextLimits {
  readonly body: (texts: readonly EmbeddedText[], call: UpstreamCall) => JsonBody;
  /** Reads the reply to a call of `count` texts. */
  readonly decode: (
    reply: Json,
    count: number,
    http: UpstreamReply,
    call: UpstreamCall,
  ) => Embedded;
  /** Texts per call. */
  readonly batch: number | ((model: string) => number);
  /** Whether a call may hold the query together with documents; otherwise each call says which of the two its texts are. */
  readonly mixes: boolean;
}

/** The settings of every ranker by embeddings. */
const EMBEDDING_SETTINGS = {
  queryPrefix: {
    type: 'string',
    describe:
      'words before the query; unset: those that the family of the model is known to want, empty: none',
  },
  documentPrefix: { type: 'string', describe: 'words before each document; as for the query' },
  dimensions: {
    type: 'number',
    least: 1,
    describe: 'length of the vectors, if the model offers several; unset: the model’s own',
  },
  batchSize: {
    type: 'number',
    least: 1,
    describe: 'texts of one call; unset: as many as the API takes',
  },
  concurrency: { type: 'number', default: 4, least: 1, describe: 'calls of one ranking at once' },
} as const satisfies Record<string, SettingSpec>;

/** The profile common to all of them. */
const EMBEDDING_PROFILE: ProviderProfile = {
  ...USUAL,
  limits: { documents: { default: 10_000 } },
  sorted: false,
  topN: 'unsupported',
  // Most APIs refuse an empty text, and none could embed its meaning.
  blanks: 'refused',
  scoreScale: { default: 'cosine' },
};

type Declared = Omit<Declaration<ComposedProvider>, 'rounds' | 'estimate' | 'profile'> & {
  readonly profile?: Partial<ProviderProfile>;
};

/**
 * Declares a provider that ranks by embeddings: by their cosine, or, if a text has many vectors, by late interaction, which
 * finds the best match in a document for each vector of the query.
 */
export function defineEmbeddings(
  api: EmbeddingApi,
  { profile, ...declared }: Declared,
): ComposedProvider {
  return defineComposedProvider({
    ...declared,
    settings: { ...EMBEDDING_SETTINGS, ...declared.settings },
    profile: {
      ...EMBEDDING_PROFILE,
      limits: { ...EMBEDDING_PROFILE.limits, ...textLimit(api) },
      ...profile,
    },
    rounds: (call, tools) => rank(api, call, tools),
    estimate: ({ query, documents, options: { instruction = '' } }) => {
      const asked = Buffer.byteLength(query) + Buffer.byteLength(instruction);
      return Math.ceil((asked + documents.meantBytes) / BYTES_PER_TOKEN);
    },
  });
}

/** Each text is embedded alone: the query takes no room from a document. */
function textLimit({ textTokens }: EmbeddingApi): ProviderProfile['limits'] {
  return textTokens === undefined ? {} : { pairTokens: textTokens };
}

/** A low number, so that the reservation is large enough for any script. */
const BYTES_PER_TOKEN = 3;

function* rank(api: EmbeddingApi, call: UpstreamCall, { vectors: memory }: RankerTools): Rounds {
  const texts = new DistinctTexts(api, call);
  yield* texts.find(memory !== undefined);
  const missing: number[] = [];
  const remembered: Known[] = [];
  for (let text = 0; text < texts.count; text += 1) {
    const embedding = memory?.get(texts.keys[text] ?? '');
    if (embedding === undefined) missing.push(text);
    else remembered.push({ text, embedding });
  }

  const answers = yield* embed(api, queryFor(api, call), missing, texts, call);
  const query = answers.flatMap((answer) => answer.query)[0] ?? [];
  const known = remembered.filter((one) => dimensionsOf(one.embedding) === dimensionsOf(query));
  // The name may refer to another model by now, whose vectors cannot be compared with those of the earlier one.
  const outdated = remembered.filter((one) => !known.includes(one)).map(({ text }) => text);
  answers.push(...(yield* embed(api, undefined, outdated, texts, call)));

  const read = answers.flatMap((answer) => answer.read);
  for (const { text, embedding } of read) memory?.set(texts.keys[text] ?? '', embedding);
  const scores = new Float64Array(texts.count);
  let work = 0;
  for (const { text, embedding } of [...known, ...read]) {
    scores[text] = similarity(query, embedding);
    work += workOf(query, embedding);
    if (work < WORK_PER_TURN) continue;
    work = 0;
    yield [];
  }
  return {
    rows: Array.from(texts.numbers, (text, index) => ({ index, score: scores[text] ?? 0 })),
    usage: sumUsage(answers.map(({ tokens }) => tokens)),
    ...(texts.isAnyCut && { warning: CUT_DOCUMENTS }),
  };
}

/** Multiplications before others get a turn: about a millisecond. */
const WORK_PER_TURN = 1_000_000;

/** A text by its number, and its embedding. */
interface Known {
  readonly text: number;
  readonly embedding: Embedding;
}

/** What the reply to a call has. */
interface Answer {
  readonly query: readonly Embedding[];
  readonly read: readonly Known[];
  readonly tokens: number | undefined;
}

/** Asks for the embeddings of the query, if it is given, and of texts by their numbers. */
function embed(
  api: EmbeddingApi,
  query: EmbeddedText | undefined,
  asked: readonly number[],
  texts: DistinctTexts,
  call: UpstreamCall,
): Generator<readonly PartCall[], Answer[], undefined> {
  return ask(
    batchesOf(api, query, asked, texts, call).map((batch) => question(api, batch, texts, call)),
  );
}

/** Texts of one call, by their numbers, after the query if that is among them. */
interface Batch {
  readonly query: EmbeddedText | undefined;
  readonly texts: number[];
}

/** Calls with as many texts as the API takes, the query first if there is one. */
function batchesOf(
  { batch, batchBytes = Infinity, mixes }: EmbeddingApi,
  query: EmbeddedText | undefined,
  asked: readonly number[],
  texts: DistinctTexts,
  { model, settings }: UpstreamCall,
): readonly Batch[] {
  const limit = typeof batch === 'number' ? batch : batch(model);
  const most = typeof settings.batchSize === 'number' ? Math.min(settings.batchSize, limit) : limit;
  const batches: Batch[] = query === undefined ? [] : [{ query, texts: [] }];
  let left = query !== undefined && mixes ? most - 1 : 0;
  let bytes = query === undefined ? 0 : Buffer.byteLength(query.text.toString());
  for (const text of asked) {
    const size = texts.size(text);
    if (left === 0 || bytes + size > batchBytes) {
      batches.push({ query: undefined, texts: [] });
      left = most;
      bytes = 0;
    }
    batches.at(-1)?.texts.push(text);
    left -= 1;
    bytes += size;
  }
  return batches;
}

/** The call for a batch. */
function question(
  { body, decode }: EmbeddingApi,
  { query, texts: numbers }: Batch,
  texts: DistinctTexts,
  call: UpstreamCall,
): Question<Answer> {
  const before = query === undefined ? 0 : 1;
  return {
    makeBody: () => {
      const documents = numbers.map((text) => texts.text(text));
      return body(query === undefined ? documents : [query, ...documents], call);
    },
    decode: (reply, http) => {
      const { embeddings, tokens } = decode(reply, before + numbers.length, http, call);
      const all = Array.from(embeddings, readEmbedding);
      const read = numbers.flatMap((text, at) => {
        const embedding = all[before + at];
        return embedding === undefined ? [] : [{ text, embedding }];
      });
      return { query: all.slice(0, before), read, tokens };
    },
  };
}
