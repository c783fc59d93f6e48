import Joi from 'joi';
import { CHANNEL_SCHEMA, type FileChannel } from './channels.js';
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
} from './checks.js';
import { MODEL_RULES_SCHEMA, type FileRules } from './rules.js';
import type {
  AlertSettings,
  ConsoleSettings,
  GatewaySettings,
  InitialSwitch,
  LogSettings,
  MailSettings,
  MetricsSettings,
  RootSettings,
  ServerSettings,
  StoreSettings,
  TrafficSettings,
} from './values.js';
import { MAX_QUOTA } from '../core/quota.js';
import type { SnakeCase } from '../core/records.js';
import type { Secret } from '../core/secret.js';
import type { AccountSettings } from '../management/accounts.js';

/** A group as in a file: names in snake case, secrets still plain. */
type FileGroup<T> = {
  [K in keyof T as SnakeCase<K & string>]: Secret extends T[K]
    ? string | undefined
    : T[K] extends readonly (infer Item)[]
      ? Item[]
      : T[K];
};

export type FilePrice =
  | { readonly per_request: number }
  | { readonly per_search_unit: number }
  | { readonly per_million_tokens: number };

export interface FileSettings {
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

export const FILE_SCHEMA = Joi.object<FileSettings>({
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
          'must be text such as rg: without spaces, braces, brackets, asterisks, question marks or backslashes',
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
