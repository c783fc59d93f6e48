import { snakeCase } from '../../core/records.js';
import { createHash } from 'node:crypto';
import type { Documents } from '../../core/documents.js';
import { inTurn } from '../../core/document-json.js';
import { JsonFragment, JsonShapeError, type Json, type JsonBody } from '../../core/json/json.js';
import { WrittenTexts } from '../../core/json/written-texts.js';
import { Pace, type Steps } from '../../core/steps.js';
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
import { askInSteps, sumUsage, type LongQuestion } from '../rounds.js';
import { prefixOf, type EmbeddedText } from './forms.js';
import { product, toUnit, type Vector } from './vectors.js';

/** The embedding of one text: a single vector, or one per token. */
export type Embedding = readonly Vector[];

/** The result of one call of an embedding API. */
export interface Embedded {
  /** One per text, in their order; read as it is gone through. */
  readonly embeddings: Iterable<Embedding>;
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

/** Multiplications before others get a turn: about a millisecond. */
const WORK_PER_TURN = 1_000_000;

function* rank(api: EmbeddingApi, call: UpstreamCall, { vectors: memory }: RankerTools): Rounds {
  /** A text that occurs twice is embedded once. */
  const keys: string[] = [];
  const known = new Map<string, Embedding>();
  const missing = new Map<string, EmbeddedText>();
  const remembered = new Map<string, EmbeddedText>();
  const pace = new Pace();
  const preparing = documentsFor(api, call, pace);
  for (let index = 0; index < call.documents.count; index += 1) {
    const document = yield* preparing(index);
    const key = yield* keyOf(document, memory && call, pace);
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
  const asked = yield* batchesOf(api, queryFor(api, call), missing, call);
  const tokens = yield* embed(api, asked, call, take);
  // The name may refer to another model by now, whose vectors cannot be compared with those of the earlier one.
  const outdated = [...remembered].filter(
    ([key]) => dimensionsOf(known.get(key)) !== dimensionsOf(query),
  );
  if (outdated.length > 0) {
    tokens.push(
      ...(yield* embed(api, yield* batchesOf(api, undefined, new Map(outdated), call), call, take)),
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
  const replies = yield* askInSteps(batches.map((batch) => question(api, batch, call)));
  const pace = new Pace();
  for (const [reply, batch] of batches.entries()) {
    for (const [at, { key }] of batch.entries()) {
      take(key, replies[reply]?.embeddings[at] ?? []);
      if (pace.fills(0)) yield [];
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

/** No text has more than three tokens per unit, and no JSON fewer bytes than its text has units. */
const MOST_TOKENS_PER_UNIT = 3;

/** The query in the form that the model needs, cut if the API would refuse its length. */
function queryFor(api: EmbeddingApi, call: UpstreamCall): EmbeddedText {
  const text = cutTo(mostOf(api, call), prefixOf('query', call) + call.query);
  return { purpose: 'query', text, bytes: Buffer.byteLength(text) };
}

/**
 * Makes documents in the form that the model needs: where nothing has to be cut, in the caller's bytes. Strings of all texts would
 * be megabytes on the heap, for the collector to move.
 */
function documentsFor(
  api: EmbeddingApi,
  call: UpstreamCall,
  pace: Pace,
): (index: number) => Pauses<EmbeddedText> {
  const { documents } = call;
  const most = mostOf(api, call);
  const units = Math.min(unitsBeyond(most.tokens), most.characters);
  const prefix = prefixOf('document', call).toWellFormed();
  const prefixBytes = Buffer.byteLength(prefix);
  const head = prefix === '' ? undefined : Buffer.from(JSON.stringify(prefix)).subarray(0, -1);
  const cut = new WrittenTexts();
  const mayBeTooLong = (bytes: number): boolean =>
    bytes > most.characters || bytes * MOST_TOKENS_PER_UNIT > most.tokens;
  return function* (index) {
    if (mayBeTooLong(prefix.length + documents.textBytes(index))) {
      const beginning = documents.beginning(index, units);
      const text = cutTo(most, prefix + beginning);
      if (pace.fills(beginning.length)) yield [];
      const isCut = beginning.length >= units || text.length < prefix.length + beginning.length;
      if (isCut) {
        const json = new JsonFragment(cut.add(text));
        return { purpose: 'document', text: json, bytes: Buffer.byteLength(text) };
      }
    } else if (pace.fills(0)) yield [];
    const bytes = api.batchBytes === undefined ? 0 : yield* bytesOf(documents, index, pace);
    return new WholeText(documents, index, head, prefixBytes + bytes);
  };
}

/** A document of which nothing is cut. There may be ten thousand: what is sent of it is made when it is asked for. */
class WholeText implements EmbeddedText {
  readonly purpose = 'document';
  readonly bytes: number;
  readonly #documents: Documents;
  readonly #index: number;
  /** What stands before it, from the quote on. */
  readonly #head: Buffer | undefined;

  constructor(documents: Documents, index: number, head: Buffer | undefined, bytes: number) {
    this.#documents = documents;
    this.#index = index;
    this.#head = head;
    this.bytes = bytes;
  }

  get text(): JsonFragment {
    const json = this.#documents.textJson(this.#index);
    return this.#head === undefined ? json : inTurn([this.#head, json.bytes.subarray(1)]);
  }
}

/** As much of a text as the API takes. */
function cutTo({ tokens, characters }: Most, text: string): string {
  const whole = text.slice(0, characters).toWellFormed();
  return whole.length * MOST_TOKENS_PER_UNIT > tokens ? cutToTokens(whole, tokens) : whole;
}

const BACKSLASH = 0x5c;

/** UTF-8 bytes of a document's text, which is counted if its JSON has escapes. */
function* bytesOf(documents: Documents, index: number, pace: Pace): Pauses<number> {
  const { bytes: json } = documents.textJson(index);
  if (!json.includes(BACKSLASH)) return json.length - 2;
  let bytes = 0;
  for (const piece of documents.pieces(index)) {
    bytes += Buffer.byteLength(piece);
    if (pace.fills(piece.length)) yield [];
  }
  return bytes;
}

/** What is longer is told apart by its hash. */
const SHORT_BYTES = 512;
/** How much of a text is hashed in one go. */
const HASHED_BYTES = 65_536;

/** A key by which texts are told apart: among those of one call, or among all that any model and settings embed. */
function* keyOf(
  { text }: EmbeddedText,
  remembered: UpstreamCall | undefined,
  pace: Pace,
): Pauses<string> {
  const json = typeof text === 'string' ? new JsonFragment(Buffer.from(text)) : text;
  if (remembered === undefined && json.size <= SHORT_BYTES) return json.bytes.toString('latin1');
  const hash = createHash('sha256');
  for (const piece of json.pieces()) {
    for (let at = 0; at < piece.length; at += HASHED_BYTES) {
      const part = piece.subarray(at, at + HASHED_BYTES);
      hash.update(part);
      if (pace.fills(part.length)) yield [];
    }
  }
  const digest = hash.digest('base64url');
  if (remembered === undefined) return digest;
  const { model, settings } = remembered;
  return `${model} ${String(settings.dimensions ?? '')} ${digest}`;
}

/** A text in a batch; without a key it is the query. */
interface Batched {
  readonly key: string | undefined;
  readonly embedded: EmbeddedText;
}

/** Calls with as many texts as the API takes, the query first if there is one. */
function* batchesOf(
  { batch, batchBytes = Infinity, mixes }: EmbeddingApi,
  query: EmbeddedText | undefined,
  documents: ReadonlyMap<string, EmbeddedText>,
  { model, settings }: UpstreamCall,
): Pauses<Batched[][]> {
  const most = typeof batch === 'number' ? batch : batch(model);
  const texts = typeof settings.batchSize === 'number' ? Math.min(settings.batchSize, most) : most;
  const batches: Batched[][] = query === undefined ? [] : [[{ key: undefined, embedded: query }]];
  let bytes = query?.bytes ?? 0;
  let open = mixes;
  const pace = new Pace();
  for (const [key, embedded] of documents) {
    const size = embedded.bytes;
    const last = batches.at(-1);
    if (open && last !== undefined && last.length < texts && bytes + size <= batchBytes) {
      last.push({ key, embedded });
      bytes += size;
    } else {
      batches.push([{ key, embedded }]);
      bytes = size;
      open = true;
    }
    if (pace.fills(0)) yield [];
  }
  return batches;
}

function question(
  { body, decode }: EmbeddingApi,
  batch: readonly Batched[],
  call: UpstreamCall,
): LongQuestion<ReadEmbeddings> {
  const texts = batch.map(({ embedded }) => embedded);
  return {
    // Made when it is sent: there may be hundreds.
    get body() {
      return body(texts, call);
    },
    decode: function* (reply, http) {
      const { embeddings, tokens } = decode(reply, texts, http, call);
      return { embeddings: yield* unitsOf(embeddings), tokens };
    },
  };
}

interface ReadEmbeddings {
  readonly embeddings: readonly Embedding[];
  readonly tokens: number | undefined;
}

function* unitsOf(embeddings: Iterable<Embedding>): Steps<Embedding[]> {
  const read: Embedding[] = [];
  const pace = new Pace();
  for (const embedding of embeddings) {
    if (embedding.length === 0) throw new JsonShapeError('a text came back without a vector');
    read.push(embedding.map(toUnit));
    if (pace.fills(embedding.length * dimensionsOf(embedding))) yield;
  }
  return read;
}
