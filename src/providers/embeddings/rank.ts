import { snakeCase } from '../../core/records.js';
import { createHash } from 'node:crypto';
import type { Documents } from '../../core/documents.js';
import { JsonShapeError, type Json, type JsonBody } from '../../core/json/json.js';
import { Pace } from '../../core/steps.js';
import { cutToTokens, unitsBeyond } from '../../core/tokens.js';
import {
  defineComposedProvider,
  forModel,
  type ByModel,
  type ComposedProvider,
  type Endpoint,
  type PartCall,
  type ProviderProfile,
  type RankerTools,
  type Rounds,
  type SettingSpec,
  type UpstreamCall,
  type UpstreamReply,
} from '../provider.js';
import { ask, sumUsage, type Question } from '../rounds.js';
import { prefixOf, type EmbeddedText, type Purpose } from './forms.js';
import { product, toUnit, type Vector } from './vectors.js';

/** The embedding of one text: a single vector, or one per token. */
export type Embedding = readonly Vector[];

/** The result of one call of an embedding API. */
export interface Embedded {
  /** One per text, in their order. */
  readonly embeddings: readonly Embedding[];
  readonly tokens: number | undefined;
}

/** An embedding API as data. */
export interface EmbeddingApi {
  readonly body: (texts: readonly EmbeddedText[], call: UpstreamCall) => JsonBody;
  readonly decode: (
    reply: Json,
    texts: readonly EmbeddedText[],
    http: UpstreamReply,
    call: UpstreamCall,
  ) => Embedded;
  /** Texts per call. */
  readonly batch: number | ((model: string) => number);
  /** UTF-8 bytes of one call, for all texts together, which keep it within its token limit. */
  readonly batchBytes?: number;
  /** Tokens of one text, if a longer one is refused; absent if the API cuts texts itself. */
  readonly textTokens?: ByModel<number>;
  /** The same in characters: counted as UTF-16 units, of which a text has at least as many as characters. */
  readonly textCharacters?: (model: string) => number | undefined;
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
    describe: 'length of the vectors, if the model offers several; unset: the model’s own',
  },
  batchSize: { type: 'number', describe: 'texts of one call; unset: as many as the API takes' },
  concurrency: { type: 'number', default: 4, describe: 'calls of one ranking at once' },
} as const satisfies Record<string, SettingSpec>;

function embeddingMistakes({ settings }: Pick<Endpoint, 'settings'>): (string | false)[] {
  return ['dimensions', 'batchSize', 'concurrency'].map((name) => {
    const value = settings[name];
    const isCount = value === undefined || (Number.isInteger(value) && Number(value) >= 1);
    return !isCount && `settings.${snakeCase(name)} must be a whole number from 1`;
  });
}

/** The profile common to all of them. */
const EMBEDDING_PROFILE: ProviderProfile = {
  limits: { documents: { default: 10_000 } },
  truncates: true,
  sorted: false,
  topN: 'unsupported',
  echo: 'never',
  documents: { objects: false, images: { default: false } },
  // Most APIs refuse an empty text, and none could embed its meaning.
  blanks: 'refused',
  scoreScale: { default: 'cosine' },
  ranking: { default: 'pointwise' },
  billing: 'tokens',
};

type Declared = Omit<ComposedProvider, 'transport' | 'rounds' | 'estimate' | 'profile'> & {
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
    mistakes: (channel) => [...embeddingMistakes(channel), ...(declared.mistakes?.(channel) ?? [])],
    profile: {
      ...EMBEDDING_PROFILE,
      limits: { ...EMBEDDING_PROFILE.limits, ...textLimit(api) },
      ...profile,
    },
    rounds: (call, tools) => rank(api, call, tools),
    estimate: ({ query, documents, options: { instruction = '' } }) => {
      const asked = Buffer.byteLength(query) + Buffer.byteLength(instruction);
      return Math.ceil((asked + documents.sizeBytes) / BYTES_PER_TOKEN);
    },
  });
}

/** Each text is embedded alone: the query takes no room from a document. */
function textLimit({ textTokens }: EmbeddingApi): ProviderProfile['limits'] {
  return textTokens === undefined ? {} : { pairTokens: textTokens };
}

/** A low number, so that the reservation is large enough for any script. */
const BYTES_PER_TOKEN = 3;
/** Work with pauses, in which nothing is asked. */
type Pauses<T> = Generator<readonly PartCall[], T, undefined>;

/** Multiplications before others get a turn: about five milliseconds. */
const WORK_PER_TURN = 4_000_000;

function* rank(api: EmbeddingApi, call: UpstreamCall, { vectors: memory }: RankerTools): Rounds {
  /** A text that occurs twice is embedded once. */
  const keys: string[] = [];
  const known = new Map<string, Embedding>();
  const missing = new Map<string, EmbeddedText>();
  const remembered = new Map<string, EmbeddedText>();
  const pace = new Pace();
  const most = mostOf(api, call);
  for (let index = 0; index < call.documents.count; index += 1) {
    const text = yield* textFor(most, call.documents, index, pace);
    const document = prepared(most, 'document', text, call);
    const key = memory === undefined ? document.text : yield* keyOf(call, document.text, pace);
    keys.push(key);
    if (known.has(key) || missing.has(key)) continue;
    const kept = memory?.get(key);
    if (kept === undefined) {
      missing.set(key, document);
    } else {
      known.set(key, kept);
      remembered.set(key, document);
    }
  }

  let query: Embedding = [];
  const take = (key: string | undefined, embedding: Embedding): void => {
    if (key === undefined) {
      query = embedding;
      return;
    }
    known.set(key, embedding);
    memory?.set(key, embedding);
  };
  const asked = batchesOf(api, prepared(most, 'query', call.query, call), missing, call);
  const tokens = yield* embed(api, asked, call, take);
  // The name may refer to another model by now, whose vectors cannot be compared with those of the earlier one.
  const outdated = [...remembered].filter(
    ([key]) => dimensionsOf(known.get(key)) !== dimensionsOf(query),
  );
  if (outdated.length > 0) {
    tokens.push(
      ...(yield* embed(api, batchesOf(api, undefined, new Map(outdated), call), call, take)),
    );
  }

  const scores: number[] = [];
  const compared = new Pace(WORK_PER_TURN);
  for (const key of keys) {
    const document = known.get(key) ?? [];
    scores.push(similarity(query, document));
    if (compared.fills(query.length * document.length * dimensionsOf(document))) yield [];
  }
  return {
    rows: scores.map((score, index) => ({ index, score })),
    usage: sumUsage(tokens),
  };
}

/** Has all texts of the batches embedded and passes the embeddings to `take`; returns the tokens that each call reports. */
function* embed(
  api: EmbeddingApi,
  batches: readonly (readonly Batched[])[],
  call: UpstreamCall,
  take: (key: string | undefined, embedding: Embedding) => void,
): Pauses<(number | undefined)[]> {
  const replies = yield* ask(batches.map((batch) => question(api, batch, call)));
  const pace = new Pace();
  for (const [reply, batch] of batches.entries()) {
    for (const [at, { key }] of batch.entries()) {
      const embedding = (replies[reply]?.embeddings[at] ?? []).map(toUnit);
      if (embedding.length === 0) throw new JsonShapeError('a text came back without a vector');
      if (pace.fills(embedding.length * dimensionsOf(embedding))) yield [];
      take(key, embedding);
    }
  }
  return replies.map(({ tokens }) => tokens);
}

function dimensionsOf(embedding: Embedding | undefined): number {
  return embedding?.[0]?.length ?? 0;
}

/** The mean over the query's vectors of the best cosine with one of the document's. */
function similarity(query: Embedding, document: Embedding): number {
  let sum = 0;
  for (const own of query) {
    let best = -1;
    for (const other of document) best = Math.max(best, product(own, other));
    // The length of a unit vector is rounded, so that a product may be slightly more than 1.
    sum += Math.min(1, best);
  }
  return sum / query.length;
}

/** The most of a text that is sent. */
interface Most {
  readonly tokens: number;
  readonly characters: number;
}

const WHOLE: Most = { tokens: Infinity, characters: Infinity };

function mostOf({ textTokens, textCharacters }: EmbeddingApi, call: UpstreamCall): Most {
  if (call.options.truncation === false) return WHOLE;
  return {
    tokens: textTokens === undefined ? Infinity : forModel(textTokens, call.model),
    characters: textCharacters?.(call.model) ?? Infinity,
  };
}

/** As much of a document's text as may be sent, or slightly more. */
function* textFor(
  { tokens, characters }: Most,
  documents: Documents,
  index: number,
  pace: Pace,
): Pauses<string> {
  const units = Math.min(unitsBeyond(tokens), characters);
  const pieces = units === Infinity ? documents.pieces(index) : [documents.beginning(index, units)];
  let text = '';
  for (const piece of pieces) {
    text += piece;
    if (pace.fills(piece.length)) yield [];
  }
  return text;
}

/** A text in the form that the model needs, cut if the API would refuse its length. */
function prepared(
  { tokens, characters }: Most,
  purpose: Purpose,
  text: string,
  call: UpstreamCall,
): EmbeddedText {
  const whole = (prefixOf(purpose, call) + text).slice(0, characters).toWellFormed();
  // No text has more than three tokens per unit.
  const mayBeTooLong = whole.length * 3 > tokens;
  return { purpose, text: mayBeTooLong ? cutToTokens(whole, tokens) : whole };
}

/** How much of a text is hashed in one go. */
const HASHED_UNITS = 65_536;

/** The text is well-formed, and no part of it is longer than a step. */
function* keyOf({ model, settings }: UpstreamCall, text: string, pace: Pace): Pauses<string> {
  const hash = createHash('sha256');
  for (let at = 0; at < text.length;) {
    const end = at + HASHED_UNITS;
    // Not between the halves of a surrogate pair.
    const cut = (text.codePointAt(end - 1) ?? 0) > 0xffff ? end + 1 : end;
    hash.update(text.slice(at, cut));
    if (pace.fills(cut - at)) yield [];
    at = cut;
  }
  return `${model} ${String(settings.dimensions ?? '')} ${hash.digest('base64url')}`;
}

/** A text in a batch; without a key it is the query. */
interface Batched {
  readonly key: string | undefined;
  readonly embedded: EmbeddedText;
}

/** Calls with as many texts as the API takes, the query first if there is one. */
function batchesOf(
  { batch, batchBytes = Infinity, mixes }: EmbeddingApi,
  query: EmbeddedText | undefined,
  documents: ReadonlyMap<string, EmbeddedText>,
  { model, settings }: UpstreamCall,
): Batched[][] {
  const most = typeof batch === 'number' ? batch : batch(model);
  const texts = typeof settings.batchSize === 'number' ? Math.min(settings.batchSize, most) : most;
  const batches: Batched[][] = query === undefined ? [] : [[{ key: undefined, embedded: query }]];
  let bytes = Buffer.byteLength(query?.text ?? '');
  let open = mixes;
  for (const [key, embedded] of documents) {
    const size = Buffer.byteLength(embedded.text);
    const last = batches.at(-1);
    if (open && last !== undefined && last.length < texts && bytes + size <= batchBytes) {
      last.push({ key, embedded });
      bytes += size;
    } else {
      batches.push([{ key, embedded }]);
      bytes = size;
      open = true;
    }
  }
  return batches;
}

function question(
  { body, decode }: EmbeddingApi,
  batch: readonly Batched[],
  call: UpstreamCall,
): Question<Embedded> {
  const texts = batch.map(({ embedded }) => embedded);
  return {
    body: body(texts, call),
    decode: (reply, http) => decode(reply, texts, http, call),
  };
}
