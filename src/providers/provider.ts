import { snakeCase } from '../core/records.js';
import type { Documents } from '../core/documents.js';
import type { Json, JsonBody } from '../core/json/json.js';
import type { RerankOptions, UpstreamRanking } from '../core/rerank.js';
import type { FaultKind } from '../core/retry.js';
import type { Secret } from '../core/secret.js';
import type { NeuralRanker } from '../rankers/ranker.js';

/** Where a channel's requests go and with what; the same for every request of a channel. */
export interface Endpoint {
  /** Without a trailing slash. */
  readonly baseUrl: string;
  readonly credentials: Readonly<Record<string, Secret>>;
  /** Checked against the provider's `settings`, defaults filled in. */
  readonly settings: Readonly<Record<string, SettingValue>>;
}

/** One request as a converter sees it: what the caller asked, in the upstream's name of the model. */
export interface UpstreamCall {
  /** The upstream's name of the model. */
  readonly model: string;
  readonly query: string;
  /** Within the profile's limits; blank ones are already handled as the profile's `blanks` says. */
  readonly documents: Documents;
  /** 1 … `documents.count`. */
  readonly topN: number;
  readonly options: RerankOptions;
  readonly settings: Readonly<Record<string, SettingValue>>;
  /** What `nextPage` of the reply before said; absent for the first page. */
  readonly page?: string;
}

/** A reply as it came: `json` is absent where the body is no JSON. Header names are in lower case. */
export interface UpstreamReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly json: Json | undefined;
  readonly text: string;
}

/** What a signature covers. */
export interface SignableRequest {
  readonly method: 'POST';
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** The call that fetches a token; its headers are complete. */
export interface TokenRequest {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

/** How a short-lived token is fetched; the gateway caches it per channel, shares it and renews it before it expires. */
export interface TokenSource {
  /** @throws CredentialError where the channel's credentials are no use for it. */
  readonly request: (endpoint: Endpoint, nowMs: number) => TokenRequest | Promise<TokenRequest>;
  /** Reads the token endpoint's 2xx reply. */
  readonly read: (
    reply: Json,
    nowMs: number,
  ) => { readonly token: string; readonly expiresAtMs: number };
}

export type SettingValue = string | number | boolean;

/**
 * A channel's credentials or settings cannot be used as they are, and an operator has to act. The message says what is
 * wrong and never quotes them.
 */
export class CredentialError extends Error {
  override readonly name = 'CredentialError';
}

/** A setting that a channel of this provider may carry, for the check at start and for the documentation. */
export interface SettingSpec {
  readonly type: 'string' | 'number' | 'boolean';
  readonly default?: SettingValue;
  readonly required?: boolean;
  /** It may hold a secret: kept, shown and given as credentials are. Texts alone. */
  readonly secret?: true;
  /** It is an address that the gateway connects to itself, such as where tokens are issued. */
  readonly address?: true;
  readonly describe: string;
}

/** A credential that a channel of this provider carries. */
export interface CredentialSpec {
  readonly required: boolean;
  readonly describe: string;
}

/** A fact of the provider that some models differ in: the first rule whose pattern matches the upstream's model wins. */
export interface ByModel<T> {
  readonly default: T;
  readonly models?: readonly { readonly match: RegExp; readonly value: T }[];
}

export type ScoreScale = 'probability' | 'logit' | 'cosine' | 'unbounded' | 'order';

/** What is known of a provider, as data: selection, splitting, caching, calibration and the documentation read it. */
export interface ProviderProfile {
  readonly limits: {
    /** Documents of one request. */
    readonly documents?: ByModel<number>;
    /** Documents of one request that has images, where it is fewer. */
    readonly imageDocuments?: ByModel<number>;
    /** Bytes of the request's body. */
    readonly bodyBytes?: number;
    /** Tokens of one request, all documents together, as the provider counts them. */
    readonly requestTokens?: ByModel<number>;
    /** Tokens of one query and document; `truncates` tells whether more is cut or refused. */
    readonly pairTokens?: ByModel<number>;
    /** Tokens of one document, where a longer one is cut unless the setting `maxTokensPerDoc` says otherwise. */
    readonly documentTokens?: ByModel<number>;
    readonly documentCharacters?: number;
    readonly queryCharacters?: number;
    /** Characters of one request, the query and all documents together. */
    readonly requestCharacters?: number;
  };
  /** Whether input beyond the token limit is cut by the provider (else the request is refused). */
  readonly truncates: boolean;
  /** Whether rows come best first; the gateway sorts in any case. */
  readonly sorted: boolean;
  readonly topN: 'honoured' | 'ignored' | 'unsupported' | 'required';
  /** Whether rows carry the document's text back: never asked for, since replies are rebuilt from the caller's input. */
  readonly echo: 'never' | 'optional' | 'always';
  /** Kinds of documents that its wire format takes. */
  readonly documents: { readonly objects: boolean; readonly images: ByModel<boolean> };
  /** What it does with a document of white space alone: takes it, takes one space in its place, or refuses the request. */
  readonly blanks: 'accepted' | 'as_space' | 'refused';
  readonly scoreScale: ByModel<ScoreScale>;
  /** Pointwise scores depend on one document alone, so lists may be split and merged; listwise ones do not. */
  readonly ranking: ByModel<'pointwise' | 'listwise'>;
  readonly billing: 'search_units' | 'tokens' | 'requests' | 'compute' | 'none';
  /** Whether the tokens that it tells may be other units, such as characters: held against the gateway's own estimate. */
  readonly mayCountOtherUnits?: boolean;
}

interface ProviderBase {
  /** How a channel names it. */
  readonly id: string;
  /** The name people know it by. */
  readonly title: string;
  readonly profile: ProviderProfile;
  readonly credentials?: Readonly<Record<string, CredentialSpec>>;
  readonly settings?: Readonly<Record<string, SettingSpec>>;
  /** Models to show in examples; never an allow-list. */
  readonly exampleModels: readonly string[];
  /** Sentences for an operator: what is particular, what is uncertain. */
  readonly notes?: readonly string[];
  /** Sentences on credentials and settings that are each well formed and wrong together, or unreadable inside. */
  readonly mistakes?: (
    channel: Pick<Endpoint, 'credentials' | 'settings'>,
  ) => readonly (string | false)[];
}

/** What is the same for every provider behind HTTP: where it is, and how it knows who calls. */
interface HttpBase extends ProviderBase {
  readonly transport: 'http';
  /**
   * The public address; absent where the operator runs it and must name it. `{name}` stands for the setting of that name,
   * such as a region; `publicAddress` fills it in.
   */
  readonly baseUrl: string | undefined;
  /** How the provider's base URL for chat ends, where this route is not below it: operators paste it, and it is cut off. */
  readonly chatPath?: string;
  /** Path below the base URL, with its query string where it has one. */
  readonly path: string | ((target: Pick<UpstreamCall, 'model' | 'settings'>) => string);
  /** Headers that are the same for every request of a channel; content type and accept are added. */
  readonly headers: (endpoint: Endpoint) => Record<string, string>;
  /** Judges a reply by the provider's own codes, also a 2xx one; `undefined` leaves it to status and shape. */
  readonly fault?: (reply: UpstreamReply) => FaultKind | undefined;
  /**
   * Headers that depend on the request's bytes: signatures.
   * @throws CredentialError where the channel's credentials cannot sign.
   */
  readonly sign?: (
    request: SignableRequest,
    endpoint: Endpoint,
    nowMs: number,
  ) => Record<string, string>;
  /** Addresses inside of credentials that the gateway connects to, by the name of the credential. */
  readonly credentialAddresses?: (
    channel: Pick<Endpoint, 'credentials'>,
  ) => Readonly<Record<string, string>>;
  /** A short-lived token, sent as `Authorization: Bearer`. `undefined` for an endpoint that needs none. */
  readonly token?: (endpoint: Endpoint) => TokenSource | undefined;
}

/** A provider behind HTTP: one POST with a JSON body, one JSON reply. */
export interface HttpProvider extends HttpBase {
  readonly rounds?: undefined;
  readonly body: (call: UpstreamCall) => JsonBody;
  /** Reads a 2xx reply; throws `JsonShapeError` where it is not what the provider sends. */
  readonly decode: (reply: Json, call: UpstreamCall, http: UpstreamReply) => UpstreamRanking;
  /**
   * Where nobody knows which of two forms a model takes, and a refusal asks for the other: the settings to send the same
   * call with once more.
   */
  readonly otherForm?: (
    reply: UpstreamReply,
    call: UpstreamCall,
  ) => Readonly<Record<string, SettingValue>> | undefined;
  /** Where a provider hands rows out in pages: what the next call carries as `page`; `undefined` after the last. */
  readonly nextPage?: (reply: Json) => string | undefined;
}

/** One of the calls that a ranking is made of; its path and headers are those of the provider. */
export interface PartCall {
  readonly body: JsonBody;
  /** Keeps what its 2xx reply says; throws `JsonShapeError` where that is not what the provider sends. */
  readonly read: (reply: Json, http: UpstreamReply) => void;
}

/**
 * A ranking that takes several calls, as data: each round is a list of calls that may be made at once, and the next round
 * is asked for when all of them have been read. A round without calls lets others have their turn in between. Nothing in it
 * sends anything.
 */
export type Rounds = Generator<readonly PartCall[], UpstreamRanking, undefined>;

/** What a ranking by several calls may use of the gateway: what is remembered, and what operators have written. */
export interface RankerTools {
  /** Absent where nothing is to be remembered. */
  readonly vectors: VectorMemory | undefined;
  readonly prompts: Prompts;
}

/** Vectors of texts that were embedded before, one or several for each; it may forget any of them at any time. */
export interface VectorMemory {
  get(key: string): readonly Float32Array[] | undefined;
  set(key: string, vectors: readonly Float32Array[]): void;
}

/** Prompts by name; `undefined` where there is none of that name. */
export type Prompts = (name: string) => string | undefined;

/** A provider behind HTTP that makes one ranking of several calls: embeddings, windows of a chat model. */
export interface ComposedProvider extends HttpBase {
  /** @throws RankingFault where the request cannot be ranked so, CredentialError where the channel is at fault. */
  readonly rounds: (call: UpstreamCall, tools: RankerTools) => Rounds;
  /** Tokens that ranking a list may take, prompts and answers included: what is reserved before it is known. */
  readonly estimate: (call: Pick<UpstreamCall, 'query' | 'documents' | 'options' | 'settings'>) => number;
}

/** A provider that ranks inside this process. */
export interface InProcessProvider extends ProviderBase {
  readonly transport: 'process';
  /** Ranks without blocking the event loop for long; stops early, by rejecting, when the signal aborts. */
  readonly rank: (
    call: UpstreamCall,
    signal: AbortSignal,
    neural: NeuralRanker,
  ) => Promise<UpstreamRanking>;
}

export type Provider = HttpProvider | ComposedProvider | InProcessProvider;

/** Declares a provider behind HTTP. */
export function defineProvider(definition: Omit<HttpProvider, 'transport'>): HttpProvider {
  return Object.freeze({ ...definition, transport: 'http' as const });
}

/** Declares a provider behind HTTP that ranks by several calls. */
export function defineComposedProvider(
  definition: Omit<ComposedProvider, 'transport'>,
): ComposedProvider {
  return Object.freeze({ ...definition, transport: 'http' as const });
}

/** Declares a provider that ranks in this process. */
export function defineInProcessProvider(
  definition: Omit<InProcessProvider, 'transport'>,
): InProcessProvider {
  return Object.freeze({ ...definition, transport: 'process' as const });
}

/** `Authorization: Bearer <apiKey>`, or no header where the channel has no key. */
export function bearer(endpoint: Endpoint): Record<string, string> {
  const key = endpoint.credentials.apiKey;
  return key === undefined ? {} : { authorization: `Bearer ${key.reveal()}` };
}

/**
 * A credential that the provider's `credentials` declares as required.
 * @throws CredentialError where the channel has none.
 */
export function requiredCredential(
  { credentials }: Pick<Endpoint, 'credentials'>,
  name: string,
): string {
  const secret = credentials[name];
  if (secret === undefined) throw new CredentialError(`credentials.${snakeCase(name)} is missing`);
  return secret.reveal();
}

/** The credential of a hosted provider with a plain key. */
export const REQUIRED_API_KEY = {
  apiKey: { required: true, describe: 'API key, sent as a bearer token' },
} as const satisfies Record<string, CredentialSpec>;

/** The credential of a server that may run with or without a key. */
export const OPTIONAL_API_KEY = {
  apiKey: {
    required: false,
    describe: 'API key, sent as a bearer token where the server asks for one',
  },
} as const satisfies Record<string, CredentialSpec>;

/** Reads a fact for one model. */
export function forModel<T>(fact: ByModel<T>, model: string): T {
  return fact.models?.find(({ match }) => match.test(model))?.value ?? fact.default;
}

/**
 * Documents that one request to a channel may have: its setting `maxDocuments` where its server was started with a limit
 * of its own, else what the profile says; `undefined`: no limit is known.
 */
export function documentLimit(
  { limits, documents }: ProviderProfile,
  model: string,
  settings: Readonly<Record<string, SettingValue>>,
  hasImages = false,
): number | undefined {
  const own = settings.maxDocuments;
  if (typeof own === 'number' && own >= 1) return own;
  const sendsImages = hasImages && forModel(documents.images, model);
  const limit = (sendsImages ? limits.imageDocuments : undefined) ?? limits.documents;
  return limit === undefined ? undefined : forModel(limit, model);
}

/** A string setting of a channel; the empty string where it is not set. */
export function textSetting(
  settings: Readonly<Record<string, SettingValue>>,
  name: string,
): string {
  const value = settings[name];
  return value === undefined ? '' : String(value);
}

/** A string setting of a channel; `undefined` where it is not set or empty. */
export function optionalTextSetting(
  settings: Readonly<Record<string, SettingValue>>,
  name: string,
): string | undefined {
  const value = textSetting(settings, name);
  return value === '' ? undefined : value;
}
