import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import Joi from 'joi';
import { stringify } from 'yaml';
import {
  closest,
  isRecord,
  readSettings,
  type ConfigMistake,
  type Environment,
  type RawSettings,
  type SettingPath,
} from './config-files.js';
import { CHANNEL_DISABLED, CHANNEL_ENABLED } from './core/channel.js';
import { DEFAULT_PRICE, MAX_QUOTA, type Price, type PriceList } from './core/quota.js';
import { Secret } from './core/secret.js';
import type { AccountSettings } from './management/accounts.js';
import {
  addressMistake,
  AMBIGUOUS_RANGE,
  isAddressOrRange,
  isAmbiguousRange,
} from './management/addresses.js';
import { allProviders, findProvider } from './providers/index.js';
import type { Provider, SettingValue } from './providers/provider.js';
import { channelMistakes } from './providers/settings.js';
import { parseRedisUrl, RedisUrlError } from './store/redis/url.js';
import type { DeclaredChannel } from './store/store.js';

interface ServerSettings {
  readonly host: string;
  /** 0: the system chooses a free one. */
  readonly port: number;
  /** Processes that share the port. */
  readonly workers: number;
  /** Addresses and CIDR ranges whose `X-Forwarded-For` is believed; empty: it is ignored. */
  readonly trustedProxies: readonly string[];
  /** Of one request, counted after decompression. */
  readonly bodyLimitBytes: number;
  readonly maxDocuments: number;
  /** Requests at work at once; beyond that a 503 at once. */
  readonly maxInFlight: number;
  /** Request bodies held at once, all together. */
  readonly maxInFlightBytes: number;
  readonly headersTimeoutMs: number;
  readonly bodyTimeoutMs: number;
  readonly keepAliveTimeoutMs: number;
  /** How long requests may still run after SIGTERM. */
  readonly drainMs: number;
}

export interface StoreSettings {
  /** One server, a comma-separated list of a Cluster's, or `redis+sentinel://`; without it, SQLite in `dataDir`. */
  readonly redisUrl: Secret | undefined;
  readonly redisPrefix: string;
  readonly dataDir: string;
  /** Encrypts the credentials of channels that are kept in the store. */
  readonly encryptionKey: Secret | undefined;
  readonly commandTimeoutMs: number;
}

interface GatewaySettings {
  /** Bound of one request, all attempts together. */
  readonly deadlineMs: number;
  /** Bound of one attempt, unless its channel has its own. */
  readonly attemptTimeoutMs: number;
  readonly maxAttempts: number;
  /** How old a node's knowledge of channels and switches may be when an attempt begins. */
  readonly stalenessMs: number;
  /** For requests and keys that name no model. */
  readonly defaultModel: string | undefined;
  /** How long past the deadline a reservation lives that nobody settles. */
  readonly reservationGraceMs: number;
  readonly maxReplyBytes: number;
  /** The longest `Retry-After` of an upstream that is heeded. */
  readonly maxCooldownMs: number;
  readonly allowPrivateUpstreams: boolean;
}

interface LogSettings {
  readonly level: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent';
  /** How many entries of the usage log the store keeps; 0: none is written. */
  readonly usageEntries: number;
  /** How long the store keeps entries of the usage and the audit log. */
  readonly retentionDays: number;
}

interface MetricsSettings {
  readonly enabled: boolean;
  /** What `GET /metrics` asks for as a bearer token; without it, everybody may read. */
  readonly token: Secret | undefined;
}

/** The account that the first start creates. */
interface RootSettings {
  readonly username: string;
  /** Without it, a random one is made and printed once. */
  readonly password: Secret | undefined;
  readonly quota: number;
}

/** How mail with one-time codes goes out. */
export interface MailSettings {
  /** `smtp://` or `smtps://`, with user and password where the server asks for them; without it, files in `outboxDir`. */
  readonly smtpUrl: Secret | undefined;
  readonly from: string;
  /** Without it, `outbox` in the data folder. */
  readonly outboxDir: string | undefined;
}

/** A channel of the configuration. Its credentials stay in this process: the store gets `declared` alone. */
interface ConfiguredChannel {
  readonly declared: DeclaredChannel;
  readonly credentials: Readonly<Record<string, Secret>>;
}

/** How a tag's switch stands before anybody has touched it. */
interface InitialSwitch {
  readonly tag: string;
  readonly disabled: boolean;
  readonly reason: string | undefined;
}

export interface Config {
  readonly server: ServerSettings;
  readonly store: StoreSettings;
  readonly gateway: GatewaySettings;
  readonly log: LogSettings;
  readonly metrics: MetricsSettings;
  readonly root: RootSettings;
  readonly accounts: AccountSettings;
  readonly mail: MailSettings;
  readonly prices: PriceList;
  /** `undefined` where no file has the key, so that channels declared before are left as they are. */
  readonly channels: readonly ConfiguredChannel[] | undefined;
  readonly tags: readonly InitialSwitch[];
}

export interface ConfigSources {
  readonly env: Environment;
  /** A YAML file or a folder of them; wins over `CONFIG`. Without either, `config/gateway.yaml` where it exists. */
  readonly configPath?: string | undefined;
  /** Where the default file is looked for. */
  readonly folder?: string;
}

/** The exit code of a process that cannot start for its settings (`EX_CONFIG` of sysexits). */
export const CONFIG_EXIT_CODE = 78;

/** Everything that is wrong with the settings, at once. The message is for a person and quotes no secret. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly mistakes: readonly ConfigMistake[];

  constructor(mistakes: readonly ConfigMistake[]) {
    const count = mistakes.length === 1 ? 'is 1 mistake' : `are ${mistakes.length} mistakes`;
    super([`There ${count} in the settings:`, ...mistakes.map(describeMistake)].join('\n'));
    this.mistakes = mistakes;
  }
}

/** The settings that the environment may give, by variable; it wins over every file. */
export const ENVIRONMENT_SETTINGS: Readonly<Record<string, readonly [string, string]>> = {
  HOST: ['server', 'host'],
  PORT: ['server', 'port'],
  WORKERS: ['server', 'workers'],
  TRUSTED_PROXIES: ['server', 'trusted_proxies'],
  REDIS_URL: ['store', 'redis_url'],
  REDIS_PREFIX: ['store', 'redis_prefix'],
  DATA_DIR: ['store', 'data_dir'],
  ENCRYPTION_KEY: ['store', 'encryption_key'],
  DEFAULT_MODEL: ['gateway', 'default_model'],
  LOG_LEVEL: ['log', 'level'],
  METRICS_TOKEN: ['metrics', 'token'],
  ROOT_USERNAME: ['root', 'username'],
  ROOT_PASSWORD: ['root', 'password'],
  REGISTRATION: ['accounts', 'registration'],
  SMTP_URL: ['mail', 'smtp_url'],
  MAIL_FROM: ['mail', 'from'],
};

const DEFAULT_FILE = join('config', 'gateway.yaml');

/**
 * Reads files and environment into one frozen value.
 * @throws ConfigError with every mistake.
 */
export function loadConfig(sources: ConfigSources): Config {
  const raw = readSources(sources);
  const mistakes = new MistakeList(raw);
  const result = FILE_SCHEMA.validate(raw.values, { abortEarly: false, errors: { label: false } });
  for (const detail of result.error?.details ?? []) mistakes.add(detail.path, sayMistake(detail));
  checkDuplicates(raw.values.channels, 'channels', 'name', mistakes);
  checkDuplicates(raw.values.tags, 'tags', 'tag', mistakes);
  const channels = readChannels(raw.values, mistakes);
  const server = result.error === undefined ? result.value.server : undefined;
  if (server !== undefined && server.body_limit_bytes > server.max_in_flight_bytes) {
    const path = ['server', 'max_in_flight_bytes'];
    mistakes.add(path, 'is less than body_limit_bytes, so that the largest body never fits');
  }
  if (result.error !== undefined || mistakes.all.length > 0) throw new ConfigError(mistakes.all);
  const settings = result.value;
  return freeze({
    server: camelKeys(settings.server) as unknown as ServerSettings,
    store: {
      ...(camelKeys(settings.store) as unknown as StoreSettings),
      redisUrl: toSecret(settings.store.redis_url),
      encryptionKey: toSecret(settings.store.encryption_key),
    },
    gateway: camelKeys(settings.gateway) as unknown as GatewaySettings,
    log: camelKeys(settings.log) as unknown as LogSettings,
    metrics: { enabled: settings.metrics.enabled, token: toSecret(settings.metrics.token) },
    root: { ...settings.root, password: toSecret(settings.root.password) },
    accounts: camelKeys(settings.accounts) as unknown as AccountSettings,
    mail: {
      smtpUrl: toSecret(settings.mail.smtp_url),
      from: settings.mail.from,
      outboxDir: settings.mail.outbox_dir,
    },
    prices: {
      models: mapValues(settings.prices.models, toPrice),
      fallback:
        settings.prices.default === undefined ? DEFAULT_PRICE : toPrice(settings.prices.default),
    },
    channels,
    tags: settings.tags.map(({ tag, disabled, reason }) => ({ tag, disabled, reason })),
  });
}

/** The settings in force as YAML in the shape of a file, every secret masked. */
export function printConfig(config: Config): string {
  const { prices, channels, tags, ...groups } = config;
  const shown = {
    ...mapValues(groups, snakeKeys),
    prices: {
      default: fromPrice(prices.fallback),
      models: mapValues(prices.models, fromPrice),
    },
    tags: tags.map(snakeKeys),
    channels: channels?.map(({ declared, credentials }) => {
      const { status, settings, models, ...rest } = declared;
      return {
        ...snakeKeys(rest),
        enabled: status === CHANNEL_ENABLED,
        models,
        settings: snakeKeys(settings),
        credentials: snakeKeys(credentials),
      };
    }),
  };
  return stringify(shown, { lineWidth: 0 });
}

function describeMistake({ where, path, message }: ConfigMistake): string {
  const setting = path.reduce<string>(
    (text, part) =>
      typeof part === 'number' ? `${text}[${part}]` : text === '' ? part : `${text}.${part}`,
    '',
  );
  return `  ${[where, setting, message].filter((part) => part !== '').join(': ')}`;
}

type SnakeCase<S extends string> = S extends `${infer Head}${infer Tail}`
  ? Head extends Lowercase<Head>
    ? `${Head}${SnakeCase<Tail>}`
    : `_${Lowercase<Head>}${SnakeCase<Tail>}`
  : S;

/** A group as a file has it: names in snake case, secrets still plain. */
type FileGroup<T> = {
  [K in keyof T as SnakeCase<K & string>]: Secret extends T[K]
    ? string | undefined
    : T[K] extends readonly (infer Item)[]
      ? Item[]
      : T[K];
};

type FilePrice =
  | { readonly per_request: number }
  | { readonly per_search_unit: number }
  | { readonly per_million_tokens: number };

interface FileChannel {
  name: string;
  provider: string;
  enabled: boolean;
  base_url: string | undefined;
  api_key: string | undefined;
  credentials: Record<string, string>;
  models: string[] | Record<string, string>;
  tag: string | undefined;
  priority: number;
  weight: number;
  timeout_ms: number | undefined;
  max_concurrency: number;
  scores: DeclaredChannel['scores'];
  settings: Record<string, SettingValue>;
}

interface FileSettings {
  server: FileGroup<ServerSettings>;
  store: FileGroup<StoreSettings>;
  gateway: FileGroup<GatewaySettings>;
  log: FileGroup<LogSettings>;
  metrics: FileGroup<MetricsSettings>;
  root: FileGroup<RootSettings>;
  accounts: FileGroup<AccountSettings>;
  mail: FileGroup<MailSettings>;
  prices: { default: FilePrice | undefined; models: Record<string, FilePrice> };
  channels: FileChannel[] | undefined;
  tags: FileGroup<InitialSwitch>[];
}

const MIB = 1024 * 1024;
const DAY_MS = 24 * 60 * 60 * 1000;
const MAX_TIMER_MS = 2_147_483_647;

const text = (): Joi.StringSchema => Joi.string().trim().min(1).max(1_000);
const count = (fallback: number): Joi.NumberSchema =>
  Joi.number().integer().min(1).default(fallback);
const milliseconds = (fallback?: number): Joi.NumberSchema => {
  const schema = Joi.number().integer().min(1).max(MAX_TIMER_MS);
  return fallback === undefined ? schema : schema.default(fallback);
};
const units = (): Joi.NumberSchema => Joi.number().integer().min(0).max(MAX_QUOTA);

const PRICE_SCHEMA = Joi.object({
  per_request: units(),
  per_search_unit: units(),
  per_million_tokens: units(),
}).xor('per_request', 'per_search_unit', 'per_million_tokens');

const CHANNEL_SCHEMA = Joi.object<FileChannel>({
  name: text().required(),
  provider: text().required(),
  enabled: Joi.boolean().default(true),
  base_url: text().custom(checkBaseUrl),
  api_key: Joi.string().trim(),
  credentials: Joi.object().pattern(Joi.string(), Joi.string().trim()).default({}),
  models: Joi.alternatives()
    .conditional(Joi.array(), {
      then: Joi.array().items(text()).min(1),
      otherwise: Joi.object().pattern(text(), text()).min(1),
    })
    .required(),
  tag: text().max(128),
  priority: Joi.number().integer().default(0),
  weight: Joi.number().min(0).default(1),
  timeout_ms: milliseconds(),
  max_concurrency: Joi.number().integer().min(0).default(0),
  scores: Joi.string().valid('raw', 'normalized').default('raw'),
  settings: Joi.object()
    .pattern(
      Joi.string(),
      Joi.alternatives(Joi.string(), Joi.number(), Joi.boolean()).prefs({ convert: false }),
    )
    .default({}),
});

const FILE_SCHEMA = Joi.object<FileSettings>({
  server: Joi.object<FileSettings['server'], true>({
    host: text().default('0.0.0.0'),
    port: Joi.number().integer().min(0).max(65_535).default(8080),
    workers: count(1).max(256),
    trusted_proxies: Joi.array().items(text().custom(checkRange)).default([]),
    body_limit_bytes: count(32 * MIB),
    max_documents: count(10_000),
    max_in_flight: count(1_000),
    max_in_flight_bytes: count(256 * MIB),
    headers_timeout_ms: milliseconds(10_000),
    body_timeout_ms: milliseconds(30_000),
    keep_alive_timeout_ms: milliseconds(65_000),
    drain_ms: Joi.number().integer().min(0).max(MAX_TIMER_MS).default(30_000),
  }).default(),
  store: Joi.object<FileSettings['store'], true>({
    redis_url: Joi.string().trim().custom(checkRedisUrl),
    redis_prefix: Joi.string()
      .trim()
      .min(1)
      .max(64)
      .pattern(/^[^\s{}*?[\]\\]+$/)
      .default('rg:'),
    data_dir: text().default('./data'),
    encryption_key: Joi.string().min(8),
    command_timeout_ms: milliseconds(1_000),
  }).default(),
  gateway: Joi.object<FileSettings['gateway'], true>({
    deadline_ms: milliseconds(30_000),
    attempt_timeout_ms: milliseconds(10_000),
    max_attempts: count(3).max(100),
    staleness_ms: milliseconds(1_000).min(10),
    default_model: text(),
    reservation_grace_ms: milliseconds(30_000),
    max_reply_bytes: count(64 * MIB),
    max_cooldown_ms: milliseconds(60_000),
    allow_private_upstreams: Joi.boolean().default(true),
  }).default(),
  log: Joi.object<FileSettings['log'], true>({
    level: Joi.string()
      .lowercase()
      .valid('trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent')
      .default('info'),
    usage_entries: Joi.number().integer().min(0).max(100_000_000).default(200_000),
    retention_days: count(90).max(36_500),
  }).default(),
  metrics: Joi.object<FileSettings['metrics'], true>({
    enabled: Joi.boolean().default(true),
    token: Joi.string().min(8),
  }).default(),
  root: Joi.object<FileSettings['root'], true>({
    username: text().max(64).default('root'),
    password: Joi.string().min(8).max(256),
    quota: units().default(1_000_000_000_000_000),
  }).default(),
  accounts: Joi.object<FileSettings['accounts'], true>({
    registration: Joi.boolean().default(true),
    initial_quota: units().default(0),
    session_idle_ms: count(7 * DAY_MS),
    session_max_ms: count(30 * DAY_MS),
    attempts_per_address: count(60),
    attempts_per_account: count(10),
    attempts_window_ms: milliseconds(60_000),
    reset_mails_per_hour: count(3),
  }).default(),
  mail: Joi.object<FileSettings['mail'], true>({
    smtp_url: Joi.string().trim().custom(checkSmtpUrl),
    from: text().default('rerank-gateway <no-reply@localhost>'),
    outbox_dir: text(),
  }).default(),
  prices: Joi.object({
    default: PRICE_SCHEMA,
    models: Joi.object().pattern(Joi.string(), PRICE_SCHEMA).default({}),
  }).default(),
  channels: Joi.array().items(CHANNEL_SCHEMA),
  tags: Joi.array()
    .items(
      Joi.object<FileSettings['tags'][number]>({
        tag: text().max(128).required(),
        disabled: Joi.boolean().default(false),
        reason: text(),
      }),
    )
    .default([]),
});

function readSources({ env, configPath, folder = '.' }: ConfigSources): RawSettings {
  const named = configPath ?? (env.CONFIG === '' ? undefined : env.CONFIG);
  const standard = join(folder, DEFAULT_FILE);
  const path = named ?? (existsSync(standard) ? standard : undefined);
  let raw: RawSettings;
  try {
    raw = readSettings(path, env);
  } catch (error) {
    const reason = isRecord(error) ? String(error.code) : 'unknown reason';
    const message = `cannot be read (${reason}); name a YAML file or a folder of them`;
    throw new ConfigError([{ where: path ?? '', path: [], message }]);
  }
  for (const [variable, setting] of Object.entries(ENVIRONMENT_SETTINGS)) {
    const value = env[variable];
    // An empty variable is what a compose file makes of one that is not set.
    if (value === undefined || value === '') continue;
    const list = setting[1] === 'trusted_proxies';
    raw.put(setting, list ? value.split(',') : value, `environment ${variable}`);
  }
  if (isRecord(raw.values.server) && raw.values.server.workers === 'auto') {
    raw.values.server.workers = availableParallelism();
  }
  return raw;
}

/** Mistakes in the order they are found, one for each setting: what follows from the first is not news. */
class MistakeList {
  readonly #raw: RawSettings;
  readonly all: ConfigMistake[];

  constructor(raw: RawSettings) {
    this.#raw = raw;
    this.all = [...raw.mistakes];
  }

  add(path: SettingPath, message: string): void {
    if (this.all.some((mistake) => mistake.path.length > 0 && samePath(mistake.path, path))) return;
    this.all.push({ where: this.#raw.whereIs(path), path, message });
  }

  /** Like `add`, for what may be said of one setting more than once. */
  addMore(path: SettingPath, message: string): void {
    this.all.push({ where: this.#raw.whereIs(path), path, message });
  }

  whereIs(path: SettingPath): string {
    return this.#raw.whereIs(path);
  }

  /** The members of `path` in which something is wrong. */
  namesBelow(path: SettingPath): ReadonlySet<unknown> {
    const below = this.all.filter((mistake) => samePath(mistake.path.slice(0, path.length), path));
    return new Set(below.map((mistake) => mistake.path[path.length]));
  }
}

function samePath(a: SettingPath, b: SettingPath): boolean {
  return a.length === b.length && a.every((part, index) => part === b[index]);
}

function sayMistake({ type, path, message, context }: Joi.ValidationErrorItem): string {
  switch (type) {
    case 'any.required':
      return 'is missing';
    case 'object.unknown': {
      const near = closest(String(path.at(-1)), knownSettings(path.slice(0, -1)));
      return `is not a setting${near === undefined ? '' : `; did you mean ${near}?`}`;
    }
    case 'object.missing':
      return `needs one of ${listOf(context?.peers)}`;
    case 'object.xor':
      return `has more than one of ${listOf(context?.peers)}; keep one`;
    case 'string.base':
      return 'must be a text; put it in quotes';
    case 'object.base':
      return 'must be a group of settings by name';
    case 'array.base':
      return 'must be a list';
    default:
      return message;
  }
}

function listOf(names: unknown): string {
  return Array.isArray(names) ? names.join(', ') : '';
}

/** The names that the schema knows in the group at `path`. */
function knownSettings(path: SettingPath): string[] {
  let schema: Joi.Description | undefined = FILE_SCHEMA.describe();
  for (const part of path) {
    // Joi types descriptions loosely; these three members are how it lays out objects, maps and lists.
    const { keys, items, patterns } = schema as {
      readonly keys?: Record<string, Joi.Description>;
      readonly items?: readonly Joi.Description[];
      readonly patterns?: readonly { readonly rule: Joi.Description }[];
    };
    schema = typeof part === 'number' ? items?.[0] : (keys?.[part] ?? patterns?.[0]?.rule);
    if (schema === undefined) return [];
  }
  return Object.keys((schema.keys ?? {}) as object);
}

function checkBaseUrl(value: string, helpers: Joi.CustomHelpers): unknown {
  const refuse = (message: string): Joi.ErrorReport => helpers.message({ custom: message });
  if (!URL.canParse(value)) return refuse('must be a URL such as https://rerank.example.com');
  const url = new URL(value);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    return refuse('must begin with http:// or https://');
  }
  if (url.username !== '' || url.password !== '') {
    return refuse('must not carry a user or password; put secrets under credentials');
  }
  if (url.search !== '' || url.hash !== '') {
    return refuse('must end with the path: no "?" and no "#"');
  }
  return value.replace(/\/+$/, '');
}

function checkRange(value: string, helpers: Joi.CustomHelpers): unknown {
  if (isAddressOrRange(value)) return value;
  return helpers.message({
    custom: isAmbiguousRange(value)
      ? AMBIGUOUS_RANGE
      : 'must be an address or a range such as 10.0.0.0/8',
  });
}

function checkRedisUrl(value: string, helpers: Joi.CustomHelpers): unknown {
  try {
    parseRedisUrl(value);
    return value;
  } catch (error) {
    if (!(error instanceof RedisUrlError)) throw error;
    return helpers.message({ custom: error.mistake });
  }
}

function checkSmtpUrl(value: string, helpers: Joi.CustomHelpers): unknown {
  return /^smtps?:\/\/[^\s/]/.test(value) && URL.canParse(value)
    ? value
    : helpers.message({ custom: 'must begin with smtp:// or smtps:// and name a server' });
}

/** The channels, and what is wrong with each for its provider, also where the schema has found something else wrong. */
function readChannels(
  values: Readonly<Record<string, unknown>>,
  mistakes: MistakeList,
): ConfiguredChannel[] | undefined {
  if (!Array.isArray(values.channels)) return undefined;
  const gateway = isRecord(values.gateway) ? values.gateway : {};
  const allowPrivate = String(gateway.allow_private_upstreams) !== 'false';
  const channels: ConfiguredChannel[] = [];
  for (const [index, written] of (values.channels as unknown[]).entries()) {
    const at = ['channels', index];
    const wrong = mistakes.namesBelow(at);
    const channel = readableChannel(written, wrong);
    if (channel === undefined) continue;
    const provider = findProvider(channel.provider);
    if (provider === undefined) {
      mistakes.add([...at, 'provider'], unknownProvider(channel.provider));
      continue;
    }
    const settings = providerSettings(channel, provider);
    const credentials = providerCredentials(channel);
    if (!wrong.has('settings') && !wrong.has('credentials') && !wrong.has('api_key')) {
      for (const sentence of channelMistakes(provider, { credentials, settings })) {
        mistakes.addMore(at, inFileNames(sentence, provider));
      }
    }
    if (channel.api_key !== undefined && channel.credentials.api_key !== undefined) {
      mistakes.add([...at, 'api_key'], 'is given twice: here and under credentials; keep one');
    }
    if (!wrong.has('base_url')) {
      const address = addressMistake(channel.base_url, provider, settings, allowPrivate);
      if (address !== undefined) mistakes.add([...at, 'base_url'], address);
    }
    channels.push({ declared: declaredChannel(channel, settings), credentials });
  }
  return channels;
}

/** A channel as the schema makes it, without the settings that are wrong; `undefined` where no provider is named. */
function readableChannel(written: unknown, wrong: ReadonlySet<unknown>): FileChannel | undefined {
  if (!isRecord(written) || typeof written.provider !== 'string') return undefined;
  const sound = Object.entries(written).filter(([name]) => !wrong.has(name));
  const needed = { name: '-', models: ['-'] };
  const result = CHANNEL_SCHEMA.validate({ ...needed, ...Object.fromEntries(sound) });
  return result.error === undefined ? result.value : undefined;
}

function declaredChannel(
  channel: FileChannel,
  settings: Readonly<Record<string, SettingValue>>,
): DeclaredChannel {
  const { models } = channel;
  return {
    name: channel.name,
    provider: channel.provider,
    baseUrl: channel.base_url,
    models: Array.isArray(models) ? Object.fromEntries(models.map((name) => [name, name])) : models,
    tag: channel.tag,
    priority: channel.priority,
    weight: channel.weight,
    timeoutMs: channel.timeout_ms,
    maxConcurrency: channel.max_concurrency,
    status: channel.enabled ? CHANNEL_ENABLED : CHANNEL_DISABLED,
    scores: channel.scores,
    settings,
  };
}

function providerCredentials(channel: FileChannel): Record<string, Secret> {
  const given: Record<string, string> = { ...channel.credentials };
  if (channel.api_key !== undefined) given.api_key = channel.api_key;
  return mapValues(camelKeys(given), (value) => new Secret(value));
}

/** A channel's settings by the provider's names; what came as text through a variable becomes the type it is read as. */
function providerSettings(channel: FileChannel, provider: Provider): Record<string, SettingValue> {
  const settings = camelKeys(channel.settings);
  for (const [name, value] of Object.entries(settings)) {
    const type = provider.settings?.[name]?.type;
    if (typeof value !== 'string') continue;
    if (type === 'number' && value.trim() !== '' && Number.isFinite(Number(value))) {
      settings[name] = Number(value);
    } else if (type === 'boolean' && (value === 'true' || value === 'false')) {
      settings[name] = value === 'true';
    }
  }
  return settings;
}

function unknownProvider(id: string): string {
  const known = allProviders().map((provider) => provider.id);
  const near = closest(id, known);
  return `"${id}" is not a provider; ${
    near === undefined ? `known are ${known.join(', ')}` : `did you mean ${near}?`
  }`;
}

/** Providers speak of their settings in camel case, files in snake case. */
function inFileNames(sentence: string, provider: Provider): string {
  const names = [
    ...Object.keys(provider.settings ?? {}),
    ...Object.keys(provider.credentials ?? {}),
  ];
  const known = names.reduce((text, name) => text.replaceAll(name, snakeCase(name)), sentence);
  return known.replace(
    /\b(settings|credentials)\.(\w+)/,
    (_, group: string, name: string) => `${group}.${snakeCase(name)}`,
  );
}

/** Says where a name was used before; read from what was written, since the schema drops what it refuses. */
function checkDuplicates(raw: unknown, list: string, key: string, mistakes: MistakeList): void {
  if (!Array.isArray(raw)) return;
  const first = new Map<string, number>();
  for (const [index, item] of (raw as unknown[]).entries()) {
    const name = isRecord(item) ? item[key] : undefined;
    if (typeof name !== 'string') continue;
    const before = first.get(name);
    if (before === undefined) first.set(name, index);
    else {
      const where = mistakes.whereIs([list, before, key]);
      mistakes.add([list, index, key], `"${name}" is there already (${where}); names are unique`);
    }
  }
}

function toSecret(value: string | undefined): Secret | undefined {
  return value === undefined ? undefined : new Secret(value);
}

function toPrice(price: FilePrice): Price {
  if ('per_request' in price) return { per: 'request', units: price.per_request };
  if ('per_search_unit' in price) return { per: 'search_unit', units: price.per_search_unit };
  return { per: 'million_tokens', units: price.per_million_tokens };
}

function fromPrice({ per, units: amount }: Price): Record<string, number> {
  return { [`per_${per}`]: amount };
}

function mapValues<T, U>(
  record: Readonly<Record<string, T>>,
  change: (value: T) => U,
): Record<string, U> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, change(value)]));
}

function camelKeys<T>(record: Readonly<Record<string, T>>): Record<string, T> {
  return Object.fromEntries(
    Object.entries(record).map(([name, value]) => [
      name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase()),
      value,
    ]),
  );
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** The members in snake case, and secrets as their mask. */
function snakeKeys(record: object): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(record).map(([name, value]: [string, unknown]) => [
      snakeCase(name),
      value instanceof Secret ? value.toString() : value,
    ]),
  );
}

function freeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !(value instanceof Secret)) {
    for (const member of Object.values(value)) freeze(member);
    Object.freeze(value);
  }
  return value;
}
