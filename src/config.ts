import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import Joi from 'joi';
import {
  CHANNEL_SCHEMA,
  readChannels,
  type ConfiguredChannel,
  type FileChannel,
} from './config-channels.js';
import {
  checkFolder,
  checkKeys,
  checkRange,
  checkRedisUrl,
  checkRootPassword,
  checkSmtpUrl,
  checkWebhookUrl,
  MAX_TIMER_MS,
  text,
} from './config-checks.js';
import { isRecord, readSettings, type Environment, type RawSettings } from './config-files.js';
import { checkDuplicates, ConfigError, foremost, MistakeList } from './config-mistakes.js';
import { looseEnds, type LooseEnd } from './config-references.js';
import {
  MODEL_RULES_SCHEMA,
  modelRulesOf,
  type FileRules,
  type ModelRulesSettings,
} from './config-rules.js';
import { namesAt, sayMistake } from './config-words.js';
import { DEFAULT_PRICE, MAX_QUOTA, type Price, type PriceList } from './core/quota.js';
import { camelKeys, mapValues, type SnakeCase } from './core/records.js';
import { Secret } from './core/secret.js';
import type { AccountSettings } from './management/accounts.js';

interface ServerSettings {
  /** Where people reach the gateway, for the links in mails; without it, mails have codes alone. */
  readonly publicUrl: string | undefined;
  readonly host: string;
  /** 0: the system chooses a free one. */
  readonly port: number;
  /** Processes that share the port. */
  readonly workers: number;
  /** Whether connections that begin with HTTP/2 are served; HTTP/1.1 always is. */
  readonly http2: boolean;
  /** Addresses and CIDR ranges whose `X-Forwarded-For` is trusted; empty: it is ignored. */
  readonly trustedProxies: readonly string[];
  /** Of one request, after decompression. */
  readonly bodyLimitBytes: number;
  readonly maxDocuments: number;
  /** Requests in progress at once; any more get a 503 immediately. */
  readonly maxInFlight: number;
  /** Bytes of all request bodies that are held at once. */
  readonly maxInFlightBytes: number;
  /** The share of both that one key, and one address, may have. */
  readonly inFlightShare: number;
  readonly headersTimeoutMs: number;
  readonly bodyTimeoutMs: number;
  readonly keepAliveTimeoutMs: number;
  /** How long requests may still run after SIGTERM. */
  readonly drainMs: number;
  /** `Strict-Transport-Security` for this long; 0: not sent, for a gateway that is also reached without TLS. */
  readonly hstsMaxAgeS: number;
}

export interface StoreSettings {
  /** One server, a comma-separated list of those of a Cluster, or `redis+sentinel://`; without it, SQLite in `dataDir`. */
  readonly redisUrl: Secret | undefined;
  readonly redisPrefix: string;
  readonly dataDir: string;
  /** Encrypts the credentials of the channels in the store. */
  readonly encryptionKey: Secret | undefined;
  /** `<id>:<key>` pairs separated by commas, instead of `encryptionKey` or before it: the first one seals, all of them open. */
  readonly encryptionKeys: Secret | undefined;
  readonly commandTimeoutMs: number;
}

interface GatewaySettings {
  /** Limit of one request, over all attempts. */
  readonly deadlineMs: number;
  /** Limit of one attempt, unless its channel has its own. */
  readonly attemptTimeoutMs: number;
  readonly maxAttempts: number;
  /** How old a node's knowledge of channels and switches may be when an attempt begins. */
  readonly stalenessMs: number;
  /** For requests and keys that name no model. */
  readonly defaultModel: string | undefined;
  /** How long an unsettled reservation lives past the deadline. */
  readonly reservationGraceMs: number;
  readonly maxReplyBytes: number;
  /** Of all upstream replies that are being read at once; one upstream may hold half of it. */
  readonly maxReplyBytesInFlight: number;
  /** The longest `Retry-After` of an upstream that is honored. */
  readonly maxCooldownMs: number;
  readonly allowPrivateUpstreams: boolean;
  /** Memory for the vectors of embedded documents; 0: none are remembered. */
  readonly vectorMemoryBytes: number;
  /** A folder of the operator's own prompts for chat models. */
  readonly promptsDir: string | undefined;
  /** Whether connections to link-local addresses and those of cloud metadata services are allowed. */
  readonly allowMetadataUpstreams: boolean;
}

/** How faults and load of upstreams are handled. */
interface TrafficSettings {
  /** Failures of a channel within the window, at least half of its calls, after which it is left alone; 0: never. */
  readonly breakerFailures: number;
  readonly breakerWindowMs: number;
  /** How long it is left alone at first; doubled after each failed probe, up to `gateway.max_cooldown_ms`. */
  readonly breakerOpenMs: number;
  /** Refusals of a channel's credentials or account in a row, within the window, that disable it on all nodes; 0: never. */
  readonly disableFailures: number;
  readonly disableWindowMs: number;
  /** When such a channel is first tried again; doubled after each failure, up to the longest. */
  readonly returnAfterMs: number;
  readonly returnLongestMs: number;
  /** How much retries on the same channel may add to the traffic. */
  readonly retryPercent: number;
  /** How much hedging may add to the traffic. */
  readonly hedgePercent: number;
  /** Windows of one request that are in progress at once. */
  readonly splitParallel: number;
  /** Limit of the reply cache of a node, in rows of rankings. */
  readonly cacheMaxRows: number;
  /** Limit of the reply cache in the store, in rankings. */
  readonly cacheSharedMax: number;
  /** The cost of a ranking from the cache, in percent of the price of a fresh one. */
  readonly cacheHitPercent: number;
  /** The most requests that may wait for one model on a node. */
  readonly queueMax: number;
}

interface LogSettings {
  readonly level: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent';
  /** How many entries of the usage log the store keeps; 0: none are written. */
  readonly usageEntries: number;
  /** How many requests that were refused before admission the store keeps; 0: none are written. */
  readonly refusedEntries: number;
  /** How long the store keeps entries of the usage and the audit log. */
  readonly retentionDays: number;
  /** How long the store keeps spending by day; 0: no statistics are kept at all. */
  readonly statsDays: number;
}

interface ConsoleSettings {
  /** Whether the browser console is served below `/console/`. */
  readonly enabled: boolean;
  /** Whether inputs of the playground may be kept, documents included. */
  readonly examples: boolean;
}

interface MetricsSettings {
  readonly enabled: boolean;
  /** The bearer token that `GET /metrics` requires; without it, `allowIps` decides. */
  readonly token: Secret | undefined;
  /** Addresses and ranges that may read without a token if none is set. */
  readonly allowIps: readonly string[];
}

/** The account that the first start creates. */
interface RootSettings {
  readonly username: string;
  /** Without it, a random one is generated and printed once. */
  readonly password: Secret | undefined;
  readonly quota: number;
}

/** How mail with one-time codes is sent. */
export interface MailSettings {
  /** `smtp://` or `smtps://`, with user and password if the server requires them; without it, files in `outboxDir`. */
  readonly smtpUrl: Secret | undefined;
  readonly from: string;
  /** Without it, `outbox` in the data folder. */
  readonly outboxDir: string | undefined;
}

/** Who is notified of what happens to channels. */
interface AlertSettings {
  /** Gets a POST for each change; its address may be a secret. Absent: nobody is notified. */
  readonly webhookUrl: Secret | undefined;
  /** Signs the notifications. */
  readonly webhookSecret: Secret | undefined;
}

/** What the configuration settles for callers, rather than their keys. */
interface CallerSettings {
  /** Other names of models. */
  readonly aliases: Readonly<Record<string, string>>;
  /** The addresses of callers without a key, and the key that they are served with. */
  readonly anonymous: { readonly addresses: readonly string[]; readonly key: Secret } | undefined;
  /** Access key ids of clients that sign like those of AWS, with the API keys that they stand for and sign with. */
  readonly awsKeys: Readonly<Record<string, Secret>>;
}

/** The state of a tag's switch before anybody has touched it. */
interface InitialSwitch {
  readonly tag: string;
  readonly disabled: boolean;
  readonly reason: string | undefined;
}

export interface Config {
  readonly server: ServerSettings;
  readonly store: StoreSettings;
  readonly gateway: GatewaySettings;
  readonly traffic: TrafficSettings;
  readonly models: ModelRulesSettings;
  readonly log: LogSettings;
  readonly metrics: MetricsSettings;
  readonly console: ConsoleSettings;
  readonly root: RootSettings;
  readonly accounts: AccountSettings;
  readonly mail: MailSettings;
  readonly alerts: AlertSettings;
  readonly callers: CallerSettings;
  readonly prices: PriceList;
  /** `undefined` if no file has the key, so that channels declared before are left as they are. */
  readonly channels: readonly ConfiguredChannel[] | undefined;
  readonly tags: readonly InitialSwitch[];
}

export interface ConfigSources {
  readonly env: Environment;
  /** A YAML file or a folder of them; overrides `CONFIG`. Without either, `config/gateway.yaml` if it exists. */
  readonly configPath?: string | undefined;
  /** Where to look for the default file. */
  readonly folder?: string;
}

/** The settings that the environment may give, by variable; it overrides every file. */
export const ENVIRONMENT_SETTINGS: Readonly<Record<string, readonly [string, string]>> = {
  PUBLIC_URL: ['server', 'public_url'],
  HOST: ['server', 'host'],
  PORT: ['server', 'port'],
  WORKERS: ['server', 'workers'],
  HTTP2: ['server', 'http2'],
  TRUSTED_PROXIES: ['server', 'trusted_proxies'],
  REDIS_URL: ['store', 'redis_url'],
  REDIS_PREFIX: ['store', 'redis_prefix'],
  DATA_DIR: ['store', 'data_dir'],
  ENCRYPTION_KEY: ['store', 'encryption_key'],
  ENCRYPTION_KEYS: ['store', 'encryption_keys'],
  DEFAULT_MODEL: ['gateway', 'default_model'],
  LOG_LEVEL: ['log', 'level'],
  METRICS_TOKEN: ['metrics', 'token'],
  METRICS_ALLOW_IPS: ['metrics', 'allow_ips'],
  HSTS_MAX_AGE_S: ['server', 'hsts_max_age_s'],
  ROOT_USERNAME: ['root', 'username'],
  ROOT_PASSWORD: ['root', 'password'],
  REGISTRATION: ['accounts', 'registration'],
  SMTP_URL: ['mail', 'smtp_url'],
  MAIL_FROM: ['mail', 'from'],
  ALERTS_WEBHOOK_URL: ['alerts', 'webhook_url'],
  ALERTS_WEBHOOK_SECRET: ['alerts', 'webhook_secret'],
};

/** Settings that a variable gives as a comma-separated list. */
const LISTS: ReadonlySet<string> = new Set(['trusted_proxies', 'allow_ips']);

const DEFAULT_FILE = join('config', 'gateway.yaml');

/**
 * Reads files and environment into one frozen value.
 * @throws ConfigError with every mistake.
 */
export function loadConfig(sources: ConfigSources): Config {
  return judge(readSources(sources));
}

/**
 * Like `loadConfig`, but also reports models and tags that the settings refer to and none of their channels has. A gateway
 * starts with those, since its store may have further channels.
 * @throws ConfigError with every mistake.
 */
export function checkConfig(sources: ConfigSources): Config {
  const raw = readSources(sources);
  return judge(raw, looseEnds(raw.values));
}

/**
 * The settings of some groups, for a command that needs no others: mistakes elsewhere, such as a channel whose key is only
 * in the environment of the gateway, do not concern the command.
 * @throws ConfigError with every mistake in these groups, and every group that does not exist.
 */
export function loadGroups<Group extends keyof Config & keyof FileSettings>(
  sources: ConfigSources,
  groups: readonly Group[],
): Pick<Config, Group> {
  const raw = readSources(sources);
  const others = new Set<unknown>(
    namesAt(FILE_SCHEMA, []).filter((name) => !groups.some((group) => group === name)),
  );
  const isNeeded = (name: unknown): boolean => !others.has(name);
  return judge({
    ...raw,
    values: Object.fromEntries(Object.entries(raw.values).filter(([name]) => isNeeded(name))),
    mistakes: raw.mistakes.filter(({ path }) => isNeeded(path[0])),
  });
}

/**
 * The credentials that the configuration has for one channel, or `undefined` if it does not have the channel.
 * @throws ConfigError with every mistake in this channel.
 */
export function loadCredentials(
  sources: ConfigSources,
  channel: string,
): Readonly<Record<string, Secret>> | undefined {
  const raw = readSources(sources);
  const written = Array.isArray(raw.values.channels) ? (raw.values.channels as unknown[]) : [];
  const index = written.findIndex((item) => isRecord(item) && item.name === channel);
  if (index === -1) return undefined;
  const mistakes = new MistakeList(raw);
  const all = readChannels(raw.values, mistakes) ?? [];
  const ofIt = mistakes.all.filter(({ path }) => path[0] === 'channels' && path[1] === index);
  if (ofIt.length > 0) throw new ConfigError(ofIt);
  return all.find(({ declared }) => declared.name === channel)?.credentials;
}

/** Builds the settings from what was written, or throws everything that is wrong with it. */
function judge(raw: RawSettings, further: readonly LooseEnd[] = []): Config {
  const mistakes = new MistakeList(raw);
  const result = FILE_SCHEMA.validate(raw.values, { abortEarly: false, errors: { label: false } });
  for (const detail of foremost(result.error?.details ?? []))
    mistakes.add(detail.path, sayMistake(FILE_SCHEMA, detail));
  checkDuplicates(raw.values.channels, 'channels', 'name', mistakes);
  checkDuplicates(raw.values.tags, 'tags', 'tag', mistakes);
  const channels = readChannels(raw.values, mistakes);
  const server = result.error === undefined ? result.value.server : undefined;
  if (server !== undefined && server.body_limit_bytes > server.max_in_flight_bytes) {
    const path = ['server', 'max_in_flight_bytes'];
    mistakes.add(path, 'is less than body_limit_bytes, so that the largest body never fits');
  }
  for (const { path, message } of further) mistakes.add(path, message);
  if (result.error !== undefined || mistakes.all.length > 0) throw new ConfigError(mistakes.all);
  const settings = result.value;
  return freeze({
    server: camelKeys(settings.server) as unknown as ServerSettings,
    store: {
      ...(camelKeys(settings.store) as unknown as StoreSettings),
      redisUrl: toSecret(settings.store.redis_url),
      encryptionKey: toSecret(settings.store.encryption_key),
      encryptionKeys: toSecret(settings.store.encryption_keys),
    },
    gateway: camelKeys(settings.gateway) as unknown as GatewaySettings,
    traffic: camelKeys(settings.traffic) as unknown as TrafficSettings,
    models: modelRulesOf(settings.models),
    log: camelKeys(settings.log) as unknown as LogSettings,
    metrics: {
      enabled: settings.metrics.enabled,
      token: toSecret(settings.metrics.token),
      allowIps: settings.metrics.allow_ips,
    },
    console: { ...settings.console },
    root: { ...settings.root, password: toSecret(settings.root.password) },
    accounts: camelKeys(settings.accounts) as unknown as AccountSettings,
    alerts: {
      webhookUrl: toSecret(settings.alerts.webhook_url),
      webhookSecret: toSecret(settings.alerts.webhook_secret),
    },
    mail: {
      smtpUrl: toSecret(settings.mail.smtp_url),
      from: settings.mail.from,
      outboxDir: settings.mail.outbox_dir,
    },
    callers: {
      aliases: settings.callers.aliases,
      anonymous:
        settings.callers.anonymous === undefined
          ? undefined
          : {
              addresses: settings.callers.anonymous.addresses,
              key: new Secret(settings.callers.anonymous.key),
            },
      awsKeys: mapValues(settings.callers.aws_keys, (key) => new Secret(key)),
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

/** A group as in a file: names in snake case, secrets still plain. */
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

interface FileSettings {
  server: FileGroup<ServerSettings>;
  store: FileGroup<StoreSettings>;
  gateway: FileGroup<GatewaySettings>;
  traffic: FileGroup<TrafficSettings>;
  log: FileGroup<LogSettings>;
  metrics: FileGroup<MetricsSettings>;
  console: FileGroup<ConsoleSettings>;
  root: FileGroup<RootSettings>;
  accounts: FileGroup<AccountSettings>;
  mail: FileGroup<MailSettings>;
  alerts: FileGroup<AlertSettings>;
  callers: {
    aliases: Record<string, string>;
    anonymous: { addresses: string[]; key: string } | undefined;
    aws_keys: Record<string, string>;
  };
  models: Record<string, FileRules>;
  prices: { default: FilePrice | undefined; models: Record<string, FilePrice> };
  channels: FileChannel[] | undefined;
  tags: FileGroup<InitialSwitch>[];
}

const MIB = 1024 * 1024;
const DAY_MS = 24 * 60 * 60 * 1000;

const count = (fallback: number): Joi.NumberSchema =>
  Joi.number().integer().min(1).default(fallback);
const milliseconds = (fallback: number): Joi.NumberSchema =>
  Joi.number().integer().min(1).max(MAX_TIMER_MS).default(fallback);
const units = (): Joi.NumberSchema => Joi.number().integer().min(0).max(MAX_QUOTA);

const PRICE_SCHEMA = Joi.object({
  per_request: units(),
  per_search_unit: units(),
  per_million_tokens: units(),
}).xor('per_request', 'per_search_unit', 'per_million_tokens');

const FILE_SCHEMA = Joi.object<FileSettings>({
  server: Joi.object<FileSettings['server'], true>({
    public_url: text().uri({ scheme: ['http', 'https'] }),
    host: text().default('0.0.0.0'),
    port: Joi.number().integer().min(0).max(65_535).default(8080),
    workers: count(1).max(256),
    http2: Joi.boolean().default(true),
    trusted_proxies: Joi.array().items(text().custom(checkRange)).default([]),
    body_limit_bytes: count(32 * MIB),
    max_documents: count(10_000),
    max_in_flight: count(1_000),
    max_in_flight_bytes: count(256 * MIB),
    in_flight_share: Joi.number().greater(0).max(1).default(0.8),
    headers_timeout_ms: milliseconds(10_000),
    body_timeout_ms: milliseconds(30_000),
    keep_alive_timeout_ms: milliseconds(65_000),
    drain_ms: Joi.number().integer().min(0).max(MAX_TIMER_MS).default(30_000),
    hsts_max_age_s: Joi.number().integer().min(0).max(63_072_000).default(0),
  }).default(),
  store: Joi.object<FileSettings['store'], true>({
    redis_url: Joi.string().trim().custom(checkRedisUrl),
    redis_prefix: Joi.string()
      .trim()
      .min(1)
      .max(64)
      .pattern(/^[^\s{}*?[\]\\]+$/)
      .messages({
        'string.pattern.base':
          'must be a text such as rg: without blanks, braces, brackets, stars, question marks and backslashes',
      })
      .default('rg:'),
    data_dir: text().default('./data'),
    encryption_key: Joi.string().min(8),
    encryption_keys: Joi.string().custom(checkKeys),
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
    max_reply_bytes_in_flight: count(256 * MIB),
    max_cooldown_ms: milliseconds(60_000),
    allow_private_upstreams: Joi.boolean().default(true),
    vector_memory_bytes: Joi.number().integer().min(0).default(0),
    prompts_dir: text().custom(checkFolder),
    allow_metadata_upstreams: Joi.boolean().default(false),
  }).default(),
  traffic: Joi.object<FileSettings['traffic'], true>({
    breaker_failures: Joi.number().integer().min(0).max(10_000).default(5),
    breaker_window_ms: milliseconds(30_000),
    breaker_open_ms: milliseconds(5_000),
    disable_failures: Joi.number().integer().min(0).max(10_000).default(3),
    disable_window_ms: milliseconds(600_000),
    return_after_ms: milliseconds(60_000),
    return_longest_ms: milliseconds(3_600_000),
    retry_percent: Joi.number().min(0).max(100).default(20),
    hedge_percent: Joi.number().min(0).max(100).default(10),
    split_parallel: count(4).max(64),
    cache_max_rows: count(1_000_000),
    cache_shared_max: count(10_000),
    cache_hit_percent: Joi.number().min(0).max(100).default(100),
    queue_max: count(1_000).max(1_000_000),
  }).default(),
  log: Joi.object<FileSettings['log'], true>({
    level: Joi.string()
      .lowercase()
      .valid('trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent')
      .default('info'),
    usage_entries: Joi.number().integer().min(0).max(100_000_000).default(200_000),
    refused_entries: Joi.number().integer().min(0).max(100_000_000).default(20_000),
    retention_days: count(90).max(36_500),
    stats_days: Joi.number().integer().min(0).max(36_500).default(400),
  }).default(),
  metrics: Joi.object<FileSettings['metrics'], true>({
    enabled: Joi.boolean().default(true),
    token: Joi.string().min(8),
    allow_ips: Joi.array().items(text().custom(checkRange)).default(['127.0.0.0/8', '::1']),
  }).default(),
  console: Joi.object<FileSettings['console'], true>({
    enabled: Joi.boolean().default(true),
    examples: Joi.boolean().default(true),
  }).default(),
  root: Joi.object<FileSettings['root'], true>({
    username: text().max(64).default('root'),
    password: Joi.string().custom(checkRootPassword),
    quota: units().default(1_000_000_000_000_000),
  }).default(),
  accounts: Joi.object<FileSettings['accounts'], true>({
    registration: Joi.boolean().default(false),
    initial_quota: units().default(0),
    session_idle_ms: count(7 * DAY_MS),
    session_max_ms: count(30 * DAY_MS),
    access_token_ms: count(90 * DAY_MS),
    attempts_per_address: count(60),
    attempts_per_account: count(10),
    attempts_window_ms: milliseconds(60_000),
    reset_mails_per_hour: count(3),
    keys_per_account: count(200),
  }).default(),
  alerts: Joi.object<FileSettings['alerts'], true>({
    webhook_url: Joi.string().trim().custom(checkWebhookUrl),
    webhook_secret: Joi.string().min(8),
  }).default(),
  mail: Joi.object<FileSettings['mail'], true>({
    smtp_url: Joi.string().trim().custom(checkSmtpUrl),
    from: text().default('rerank-gateway <no-reply@localhost>'),
    outbox_dir: text(),
  }).default(),
  callers: Joi.object<FileSettings['callers'], true>({
    aliases: Joi.object().pattern(text(), text()).default({}),
    anonymous: Joi.object({
      addresses: Joi.array().items(text().custom(checkRange)).min(1).required(),
      key: Joi.string().trim().min(8).required(),
    }),
    aws_keys: Joi.object()
      .pattern(text().pattern(/^\w{4,128}$/), Joi.string().trim().min(8))
      .default({}),
  }).default(),
  models: Joi.object().pattern(Joi.string().max(256), MODEL_RULES_SCHEMA).default({}),
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
    const message = `cannot be read (${reason}); name a YAML file, or a folder of YAML files`;
    throw new ConfigError([{ where: path ?? '', path: [], message }]);
  }
  for (const [variable, setting] of Object.entries(ENVIRONMENT_SETTINGS)) {
    const value = env[variable];
    // Compose files turn a variable that is not set into an empty one.
    if (value === undefined || value === '') continue;
    const list = LISTS.has(setting[1]);
    raw.put(setting, list ? value.split(',') : value, `environment ${variable}`);
  }
  if (isRecord(raw.values.server) && raw.values.server.workers === 'auto') {
    raw.values.server.workers = availableParallelism();
  }
  return raw;
}

function toSecret(value: string | undefined): Secret | undefined {
  return value === undefined ? undefined : new Secret(value);
}

function toPrice(price: FilePrice): Price {
  if ('per_request' in price) return { per: 'request', units: price.per_request };
  if ('per_search_unit' in price) return { per: 'search_unit', units: price.per_search_unit };
  return { per: 'million_tokens', units: price.per_million_tokens };
}

function freeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !(value instanceof Secret)) {
    for (const member of Object.values(value)) freeze(member);
    Object.freeze(value);
  }
  return value;
}
