import { snakeCase } from '../core/records.js';
import type { Documents, JsonBody } from '../bytes/index.js';
import type { Json } from '../core/json.js';
import type { RerankOptions, UpstreamRanking } from '../core/rerank.js';
import type { FaultKind } from '../core/retry.js';
import type { Secret } from '../core/secret.js';
import type { NeuralRanker } from '../rankers/ranker.js';

/** The destination of a channel's requests and what they carry; the same for every request of a channel. */
export interface Endpoint {
  /** Without a trailing slash. */
  readonly baseUrl: string;
  readonly credentials: Readonly<Record<string, Secret>>;
  /** Checked against the provider's `settings`, defaults filled in. */
  readonly settings: Readonly<Record<string, SettingValue>>;
}

/** One request as a converter sees it: the caller's, with the upstream's name of the model. */
export interface UpstreamCall {
  /** The upstream's name of the model. */
  readonly model: string;
  readonly query: string;
  /** Within the profile's limits; blank ones have been handled as the profile's `blanks` says. */
  readonly documents: Documents;
  /** 1 … `documents.count`. */
  readonly topN: number;
  readonly options: RerankOptions;
  readonly settings: Readonly<Record<string, SettingValue>>;
  /** The `nextPage` of the previous reply; absent for the first page. */
  readonly page?: string;
}

/** A reply as received: `json` is absent if the body is not JSON. Header names are in lower case. */
export interface UpstreamReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly json: Json | undefined;
  readonly text: string;
}

/** The parts of a request that a signature covers. */
export interface SignableRequest {
  readonly method: 'POST';
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  /** Of the body, and its hash. */
  readonly bytes: number;
  readonly sha256: Buffer;
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
  /** @throws CredentialError if the channel's credentials cannot be used for it. */
  readonly request: (endpoint: Endpoint, nowMs: number) => TokenRequest | Promise<TokenRequest>;
  /** Reads the token endpoint's 2xx reply. */
  readonly read: (
    reply: Json,
    nowMs: number,
  ) => { readonly token: string; readonly expiresAtMs: number };
}

export type SettingValue = string | number | boolean;

/**
 * A channel's credentials or settings are unusable as they are, and an operator has to act. The message says what is wrong
 * and never quotes them.
 */
export class CredentialError extends Error {
  override readonly name = 'CredentialError';
}

/** A setting that a channel of this provider may have, for the check at startup and for the documentation. */
export interface SettingSpec {
  readonly type: 'string' | 'number' | 'boolean';
  readonly default?: SettingValue;
  readonly required?: boolean;
  /** The least that a number may be; numbers are whole. */
  readonly least?: number;
  /** It may hold a secret: stored, shown and given as credentials are. Only for texts. */
  readonly secret?: true;
  /** It is an address to which the gateway itself connects, such as that of a token endpoint. */
  readonly address?: true;
  readonly describe: string;
}

/** A credential of this provider's channels. */
export interface CredentialSpec {
  readonly required: boolean;
  readonly describe: string;
}

/** A fact of the provider that differs for some models: the first rule whose pattern matches the upstream's model wins. */
export interface ByModel<T> {
  readonly default: T;
  readonly models?: readonly { readonly match: RegExp; readonly value: T }[];
}

export type ScoreScale = 'probability' | 'logit' | 'cosine' | 'unbounded' | 'order';

/** The known facts of a provider, as data: selection, splitting, caching, calibration and the documentation read them. */
export interface ProviderProfile {
  readonly limits: {
    /** Documents per request. */
    readonly documents?: ByModel<number>;
    /** Documents of a request with images, if fewer are allowed. */
    readonly imageDocuments?: ByModel<number>;
    /** Bytes of the request's body. */
    readonly bodyBytes?: number;
    /** Tokens of one request, for all documents together, as the provider counts them. */
    readonly requestTokens?: ByModel<number>;
    /** Tokens of the query and one document; `truncates` says whether longer input is cut or refused. */
    readonly pairTokens?: ByModel<number>;
    /** Tokens of one document, if a longer one is cut unless the setting `maxTokensPerDoc` says otherwise. */
    readonly documentTokens?: ByModel<number>;
    readonly documentCharacters?: number;
    readonly queryCharacters?: number;
    /** Characters of one request, for the query and all documents together. */
    readonly requestCharacters?: number;
  };
  /** Whether the provider cuts input beyond the token limit (otherwise it refuses the request). */
  readonly truncates: boolean;
  /** Whether rows come best first; the gateway sorts in any case. */
  readonly sorted: boolean;
  readonly topN: 'honoured' | 'ignored' | 'unsupported' | 'required';
  /** Whether rows return the document's text: it is never asked for, since replies are rebuilt from the caller's input. */
  readonly echo: 'never' | 'optional' | 'always';
  /** Kinds of documents that its wire format accepts. */
  readonly documents: { readonly objects: boolean; readonly images: ByModel<boolean> };
  /** How it treats a document of only white space: accepts it, accepts one space in its place, or refuses the request. */
  readonly blanks: 'accepted' | 'as_space' | 'refused';
  readonly scoreScale: ByModel<ScoreScale>;
  /** Pointwise scores depend on one document only, so lists may be split and merged; listwise ones may not. */
  readonly ranking: ByModel<'pointwise' | 'listwise'>;
  readonly billing: 'search_units' | 'tokens' | 'requests' | 'compute' | 'none';
  /** Whether it bills nothing itself but may pass calls on to a provider that does. */
  readonly isRelay?: boolean;
  /** Whether its token counts may be in other units, such as characters: they are checked against the gateway's estimate. */
  readonly mayCountOtherUnits?: boolean;
}

interface ProviderBase {
  /** The name that channels use for it. */
  readonly id: string;
  /** The name people know it by. */
  readonly title: string;
  readonly profile: ProviderProfile;
  readonly credentials?: Readonly<Record<string, CredentialSpec>>;
  readonly settings?: Readonly<Record<string, SettingSpec>>;
  /** Models to show in examples; never an allow-list. */
  readonly exampleModels: readonly string[];
  /** Sentences for an operator: peculiarities and uncertainties. */
  readonly notes?: readonly string[];
  /** Sentences on credentials and settings that are each well formed, but wrong in combination or unreadable inside. */
  readonly mistakes?: (
    channel: Pick<Endpoint, 'credentials' | 'settings'>,
  ) => readonly (string | false)[];
}

/** The common part of all providers behind HTTP: the address, and how the caller is authenticated. */
interface HttpBase extends ProviderBase {
  readonly transport: 'http';
  /**
   * The public address; absent if the operator runs the server and must name it. `{name}` stands for the setting of that
   * name, such as a region; `publicAddress` fills it in.
   */
  readonly baseUrl?: string | undefined;
  /** The end of the provider's base URL for chat, if this route is not below it: operators paste it, and it is cut off. */
  readonly chatPath?: string;
  /** Path below the base URL, with its query string if it has one. */
  readonly path: string | ((target: Pick<UpstreamCall, 'model' | 'settings'>) => string);
  /** Headers common to all requests of a channel; content type and accept are added. */
  readonly headers: (endpoint: Endpoint) => Record<string, string>;
  /** Judges a reply, even a 2xx one, by the provider's own codes; `undefined` leaves it to status and shape. */
  readonly fault?: (reply: UpstreamReply) => FaultKind | undefined;
  /**
   * Headers that depend on the request's bytes: signatures. A channel with an API key, which stands in for them, has none.
   * @throws CredentialError if the channel's credentials cannot sign.
   */
  readonly sign?: (
    request: SignableRequest,
    endpoint: Endpoint,
    nowMs: number,
  ) => Record<string, string>;
  /** Addresses inside credentials to which the gateway connects, by the credential's name. */
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
  /** Reads a 2xx reply; throws `JsonShapeError` if the provider does not send such a reply. */
  readonly decode: (reply: Json, call: UpstreamCall, http: UpstreamReply) => UpstreamRanking;
  /**
   * If it is not known which of two forms a model takes, and a refusal asks for the other: the settings with which to send
   * the same call again.
   */
  readonly otherForm?: (
    reply: UpstreamReply,
    call: UpstreamCall,
  ) => Readonly<Record<string, SettingValue>> | undefined;
  /** For a provider that returns rows in pages: the `page` of the next call; `undefined` after the last page. */
  readonly nextPage?: (reply: Json) => string | undefined;
}

/** One of the calls that make up a ranking; its path and headers are the provider's. */
export interface PartCall {
  /** Called when it is sent: a round may have hundreds. */
  readonly makeBody: () => JsonBody;
  /** Keeps the content of its 2xx reply; throws `JsonShapeError` if the provider does not send such a reply. */
  readonly read: (reply: Json, http: UpstreamReply) => void;
}

/**
 * A ranking that takes several calls, as data: each round is a list of calls that may be made at once, and the next round is
 * requested once all of them have been read. A round without calls gives others a turn in between. It sends nothing itself.
 */
export type Rounds = Generator<readonly PartCall[], UpstreamRanking, undefined>;

/** The gateway's tools for a ranking by several calls: remembered vectors, and prompts written by operators. */
export interface RankerTools {
  /** Absent if nothing is to be remembered. */
  readonly vectors: VectorMemory | undefined;
  readonly prompts: Prompts;
}

/** Vectors of texts embedded before, one or several per text; it may forget any of them at any time. */
export interface VectorMemory {
  get(key: string): readonly Float32Array[] | undefined;
  set(key: string, vectors: readonly Float32Array[]): void;
}

/** Prompts by name; `undefined` if there is none of that name. */
export type Prompts = (name: string) => string | undefined;

/** A provider behind HTTP that builds one ranking from several calls: embeddings, windows of a chat model. */
export interface ComposedProvider extends HttpBase {
  /** @throws RankingFault if the request cannot be ranked this way, CredentialError if the channel is at fault. */
  readonly rounds: (call: UpstreamCall, tools: RankerTools) => Rounds;
  /** If servers have the route in two places, and a reply shows that it is not in this one: the settings that lead to the other. */
  readonly otherPlace?: (
    reply: { readonly status: number; readonly text: string },
    call: UpstreamCall,
  ) => Readonly<Record<string, SettingValue>> | undefined;
  /** Tokens that ranking a list may take, prompts and answers included: reserved before the actual number is known. */
  readonly estimate: (
    call: Pick<UpstreamCall, 'query' | 'documents' | 'options' | 'settings'>,
  ) => number;
}

/** A provider that ranks in this process. */
export interface InProcessProvider extends ProviderBase {
  readonly transport: 'process';
  /** Ranks without blocking the event loop for long: others have their turn in a `pause`. Rejects early when the signal aborts. */
  readonly rank: (
    call: UpstreamCall,
    signal: AbortSignal,
    neural: NeuralRanker,
    pause: () => Promise<void>,
  ) => Promise<UpstreamRanking>;
}

export type Provider = HttpProvider | ComposedProvider | InProcessProvider;

/** What a provider behind HTTP declares: without `headers`, the key is sent as a bearer token. */
export type Declaration<P extends HttpBase> = Omit<P, 'transport' | 'headers'> &
  Partial<Pick<P, 'headers'>>;

/** Declares a provider behind HTTP. */
export function defineProvider(definition: Declaration<HttpProvider>): HttpProvider {
  return Object.freeze({ headers: bearer, ...definition, transport: 'http' as const });
}

/** Declares a provider behind HTTP that ranks by several calls. */
export function defineComposedProvider(
  definition: Declaration<ComposedProvider>,
): ComposedProvider {
  return Object.freeze({ headers: bearer, ...definition, transport: 'http' as const });
}

/** Declares a provider that ranks in this process. */
export function defineInProcessProvider(
  definition: Omit<InProcessProvider, 'transport'>,
): InProcessProvider {
  return Object.freeze({ ...definition, transport: 'process' as const });
}

/** `Authorization: Bearer <apiKey>`, or no header if the channel has no key. */
export function bearer(endpoint: Endpoint): Record<string, string> {
  const key = endpoint.credentials.apiKey;
  return key === undefined ? {} : { authorization: `Bearer ${key.reveal()}` };
}

/** The same with a header for each of these settings that is set: the header's name by the setting's. */
export function bearerWith(names: Readonly<Record<string, string>>): HttpProvider['headers'] {
  return (endpoint) => {
    const headers = bearer(endpoint);
    for (const [setting, header] of Object.entries(names)) {
      const value = textSetting(endpoint.settings, setting);
      if (value !== '') headers[header] = value;
    }
    return headers;
  };
}

/** The key as a bearer token, or in the header that the setting `apiKeyHeader` names; none without a key. */
export function keyInHeader(endpoint: Endpoint): Record<string, string> {
  const { apiKey } = endpoint.credentials;
  const name = textSetting(endpoint.settings, 'apiKeyHeader').toLowerCase();
  if (apiKey === undefined || name === '' || name === 'authorization') return bearer(endpoint);
  return { [name]: apiKey.reveal() };
}

/**
 * A credential that the provider's `credentials` declares as required.
 * @throws CredentialError if the channel does not have it.
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
    describe: 'API key, sent as a bearer token if the server asks for one',
  },
} as const satisfies Record<string, CredentialSpec>;

/** Reads a fact for one model. */
export function forModel<T>(fact: ByModel<T>, model: string): T {
  return fact.models?.find(({ match }) => match.test(model))?.value ?? fact.default;
}

/** A fact that is so for these models alone. */
export function onlyFor(match: RegExp): ByModel<boolean> {
  return { default: false, models: [{ match, value: true }] };
}

/**
 * The most documents of one request to a channel: its setting `maxDocuments` if its server was started with another limit,
 * otherwise the profile's limit; `undefined`: no limit is known.
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

/** A string setting of a channel; the empty string if it is not set. */
export function textSetting(
  settings: Readonly<Record<string, SettingValue>>,
  name: string,
): string {
  const value = settings[name];
  return value === undefined ? '' : String(value);
}

/** A sentence if the setting is not the name of a header; none can be sent then. */
export function headerMistake(
  settings: Readonly<Record<string, SettingValue>>,
  name: string,
): string | false {
  const isName = /^[\w!#$%&'*+.^`|~-]+$/.test(textSetting(settings, name));
  return !isName && `settings.${snakeCase(name)} must be the name of a header`;
}

/** A string setting of a channel; `undefined` if it is unset or empty. */
export function optionalTextSetting(
  settings: Readonly<Record<string, SettingValue>>,
  name: string,
): string | undefined {
  const value = textSetting(settings, name);
  return value === '' ? undefined : value;
}
