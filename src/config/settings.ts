import Joi from 'joi';
import {
  checkFolder,
  checkKeys,
  checkNoFile,
  checkOtlpHeaders,
  checkRedisUrl,
  checkWebhookUrl,
  MAX_TIMER_MS,
  text,
  webhookSecret,
} from './checks.js';
import {
  count,
  flag,
  milliseconds,
  number,
  of,
  optional,
  ranges,
  reloading,
  secret,
  whole,
  type SettingGroup,
} from './setting.js';
import { snakeCase } from '../core/records.js';
import { ACCOUNTS, LOGIN, MAIL, OIDC, ROOT } from './people-settings.js';

const MIB = 1024 * 1024;
const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
type LogLevel = (typeof LOG_LEVELS)[number];

const SERVER = {
  publicUrl: optional(
    text().uri({ scheme: ['http', 'https'] }),
    'Where people reach the gateway, such as `https://rerank.example.com`; mails with codes then link to the page',
    { variable: 'PUBLIC_URL' },
  ),
  host: of<string>(
    text()
      .pattern(/^(?:[^/\s:]+|[\da-f]*:[\da-f.]*:[\da-f:.]*(?:%\w+)?)$/i)
      .messages({
        'string.pattern.base': 'must be an address or a name without a port, such as 0.0.0.0 or ::',
      }),
    '0.0.0.0',
    'Address to listen on',
    { variable: 'HOST' },
  ),
  port: whole(8080, 0, 65_535, '`0` takes any free one', { variable: 'PORT' }),
  workers: count(1, 'Processes that share the port; `auto`: one for each core', {
    variable: 'WORKERS',
    most: 256,
  }),
  http2: flag(
    true,
    'Serves HTTP/2 without TLS on the same port to connections that begin with it; HTTP/1.1 is always served',
    { variable: 'HTTP2' },
  ),
  trustedProxies: ranges(
    [],
    'Addresses and ranges whose `X-Forwarded-For` is trusted; separated by commas in the variable',
    { variable: 'TRUSTED_PROXIES' },
  ),
  bodyLimitBytes: count(32 * MIB, 'Size of one request, after decompression', { shown: '32 MiB' }),
  maxDocuments: count(10_000, 'Documents in one request'),
  maxInFlight: count(
    1_000,
    'Requests in flight at once in one process; any more get a 503 at once',
  ),
  maxInFlightBytes: count(
    256 * MIB,
    'Request bodies, and replies not yet read, held at once in one process',
    { shown: '256 MiB' },
  ),
  inFlightShare: of<number>(
    Joi.number().greater(0).max(1),
    0.8,
    'The part of both that one key, or one address, may have; name a proxy in front in `trusted_proxies`',
  ),
  headersTimeoutMs: milliseconds(10_000, 'How long the headers of a request may take to arrive'),
  bodyTimeoutMs: milliseconds(
    30_000,
    'How long its body may take to arrive; over HTTP/1.1, headers and body may take both times together',
  ),
  keepAliveTimeoutMs: milliseconds(
    65_000,
    'How long idle connections are kept; set it longer than the proxy in front does',
  ),
  drainMs: whole(30_000, 0, MAX_TIMER_MS, 'How long requests may go on after SIGTERM'),
  hstsMaxAgeS: whole(
    0,
    0,
    63_072_000,
    'Sends `Strict-Transport-Security` with so many seconds; only if all traffic is https',
    { variable: 'HSTS_MAX_AGE_S' },
  ),
} satisfies SettingGroup;

const STORE = {
  redisUrl: secret(
    Joi.string().trim().custom(checkRedisUrl),
    'Where Redis is; without it, the embedded store',
    { variable: 'REDIS_URL' },
  ),
  redisPrefix: of<string>(
    Joi.string()
      .trim()
      .min(1)
      .max(64)
      .pattern(/^[^\s{}*?[\]\\]+$/)
      .messages({
        'string.pattern.base':
          'must be text such as rg: without spaces, braces, brackets, asterisks, question marks or backslashes',
      }),
    'rg:',
    'Prefix of every key',
    { variable: 'REDIS_PREFIX' },
  ),
  dataDir: of<string>(
    text().custom(checkNoFile),
    './data',
    'Holds the embedded store, and mails while there is no SMTP server',
    { variable: 'DATA_DIR' },
  ),
  encryptionKey: secret(
    Joi.string().min(8),
    'Encrypts the channel credentials that the store keeps',
    { variable: 'ENCRYPTION_KEY' },
  ),
  encryptionKeys: secret(
    Joi.string().custom(checkKeys),
    '`<id>:<key>`, separated by commas, used instead: the first encrypts, all decrypt; see [operations.md](operations.md#changing-the-encryption-key)',
    { variable: 'ENCRYPTION_KEYS' },
  ),
  commandTimeoutMs: milliseconds(1_000, 'After this long, Redis counts as unavailable'),
} satisfies SettingGroup;

const GATEWAY = {
  deadlineMs: milliseconds(30_000, 'Time for one request, its body and all attempts together'),
  attemptTimeoutMs: milliseconds(10_000, 'Time for one attempt, unless its channel says otherwise'),
  maxAttempts: count(3, 'Attempts per request', { most: 100 }),
  stalenessMs: milliseconds(
    1_000,
    "How old a node's knowledge of channels and switches may be when an attempt begins",
    { least: 10 },
  ),
  defaultModel: optional(
    text(),
    'For requests and keys that name no model; the shipped file says `local`',
    { variable: 'DEFAULT_MODEL' },
  ),
  reservationGraceMs: milliseconds(
    30_000,
    'How long after the deadline the quota that a dead node reserved is given back',
  ),
  maxReplyBytes: count(64 * MIB, 'Size of one upstream reply, after decompression', {
    shown: '64 MiB',
  }),
  maxReplyBytesInFlight: count(
    256 * MIB,
    'Size of all upstream replies being read at once; one upstream may hold half of it',
    { shown: '256 MiB' },
  ),
  maxCooldownMs: milliseconds(60_000, 'The longest `Retry-After` that is honoured'),
  allowPrivateUpstreams: flag(
    true,
    '`false` refuses private addresses, whether given as numbers or by name',
  ),
  vectorMemoryBytes: count(0, 'Memory for vectors of documents embedded before; 0: none are kept', {
    least: 0,
  }),
  promptsDir: optional(
    text().custom(checkFolder),
    'A folder with your own prompts for chat models, in place of the built-in ones',
  ),
  allowMetadataUpstreams: flag(
    false,
    '`true` allows link-local addresses and cloud metadata services, where provider `google` gets tokens if it has no key',
  ),
} satisfies SettingGroup;

/** How faults and load of upstreams are handled. */
const TRAFFIC = {
  breakerFailures: whole(
    5,
    0,
    10_000,
    'Failures after which a channel is paused: in a row, or within the window if at least half of the calls fail; `0`: never',
  ),
  breakerWindowMs: milliseconds(30_000, 'The window in which they are counted'),
  breakerOpenMs: milliseconds(
    5_000,
    'The first pause; twice as long after each failed probe, up to `gateway.max_cooldown_ms`',
  ),
  disableFailures: whole(
    3,
    0,
    10_000,
    "Refusals in a row of a channel's credentials or account after which it is disabled for all nodes; `0`: never",
  ),
  disableWindowMs: milliseconds(
    600_000,
    'The window in which they are counted; a ranking in between resets the count',
  ),
  returnAfterMs: milliseconds(
    60_000,
    'How long until the first probe of such a channel; twice as long after each one that fails',
  ),
  returnLongestMs: milliseconds(3_600_000, 'The longest time between two probes'),
  retryPercent: number(
    20,
    0,
    100,
    'What retries on the same channel may add to the traffic; `0`: no retries',
  ),
  hedgePercent: number(10, 0, 100, 'What hedging may add to the traffic'),
  splitParallel: count(4, 'Windows of one request in flight at once', { most: 64 }),
  cacheMaxRows: count(1_000_000, "Size of a node's reply cache, in rows of rankings"),
  cacheSharedMax: count(
    10_000,
    'Size of the reply cache in the store, in rankings; those that expire first go first',
  ),
  cacheHitPercent: number(
    100,
    0,
    100,
    'What a cached ranking costs, in per cent of the price of a fresh one',
  ),
  queueMax: count(1_000, 'Requests that may wait for one model on a node', { most: 1_000_000 }),
} satisfies SettingGroup;

const LOG = {
  level: of<LogLevel>(
    Joi.string()
      .lowercase()
      .valid(...LOG_LEVELS),
    'info',
    '`trace`, `debug`, `info`, `warn`, `error`, `fatal` or `silent`',
    { variable: 'LOG_LEVEL' },
  ),
  format: of<'auto' | 'json' | 'pretty'>(
    Joi.string().lowercase().valid('auto', 'json', 'pretty'),
    'auto',
    'How the log is written: `json` lines, `pretty` for people, or `auto`: `pretty` on a terminal',
    { variable: 'LOG_FORMAT' },
  ),
  usageEntries: whole(
    200_000,
    0,
    100_000_000,
    'Entries of the usage log that the store keeps (about 700 bytes each in Redis, 200 in the embedded store); 0: no log',
  ),
  refusedEntries: whole(
    20_000,
    0,
    100_000_000,
    'Refused requests that the store keeps (about 800 bytes each in Redis, 250 in the embedded store); 0: no log',
  ),
  retentionDays: count(90, 'Older entries of the usage and the audit log are deleted', {
    most: 36_500,
  }),
  auditDays: whole(
    0,
    0,
    36_500,
    'Older entries of the audit log are deleted; `0`: as `retention_days` says',
  ),
  statsDays: whole(
    400,
    0,
    36_500,
    'Days for which the store keeps who spent what; 0: no statistics at all',
  ),
} satisfies SettingGroup;

const METRICS = {
  enabled: flag(true, '`GET /metrics`'),
  token: secret(Joi.string().min(8), 'Required as a bearer token; without it `allow_ips` decides', {
    variable: 'METRICS_TOKEN',
  }),
  allowIps: ranges(
    ['127.0.0.0/8', '::1'],
    'Addresses and ranges that may read where no token is set; separated by commas in the variable',
    { variable: 'METRICS_ALLOW_IPS' },
  ),
} satisfies SettingGroup;

/** Traces, and logs of requests, for the receivers of OpenTelemetry. */
const TELEMETRY = {
  otlpUrl: optional(
    text().uri({ scheme: ['http', 'https'] }),
    'Where traces go by OTLP over HTTP, such as `http://localhost:4318`; see [operations.md](operations.md#seeing)',
    { variable: 'OTEL_EXPORTER_OTLP_ENDPOINT' },
  ),
  otlpHeaders: secret(
    Joi.string().custom(checkOtlpHeaders),
    'Sent with them: `name=value,name=value`, values percent-encoded',
    { variable: 'OTEL_EXPORTER_OTLP_HEADERS' },
  ),
  serviceName: of<string>(text(), 'rerank-gateway', 'The name of the gateway there', {
    variable: 'OTEL_SERVICE_NAME',
  }),
  traceRatio: of<number>(
    Joi.number().min(0).max(1),
    0.01,
    'The part of the requests that begin a trace; a caller with a `traceparent` decides itself',
    { variable: 'OTEL_TRACES_SAMPLER_ARG' },
  ),
  logs: flag(false, 'Whether each request is also logged there', { variable: 'OTLP_LOGS' }),
} satisfies SettingGroup;

const CONSOLE = {
  enabled: flag(true, 'The browser console at `/console/`'),
  examples: flag(true, 'Whether the playground may keep inputs as examples, documents included'),
} satisfies SettingGroup;

/** Who is notified of what; `alert-targets.ts` has the targets. */
const ALERTS = {
  webhookUrl: secret(Joi.string().trim().custom(checkWebhookUrl), 'Gets a POST for each alert', {
    variable: 'ALERTS_WEBHOOK_URL',
  }),
  webhookSecret: secret(
    webhookSecret(),
    'Signs the calls; after the prefix `whsec_`, it is read as base64',
    { variable: 'ALERTS_WEBHOOK_SECRET' },
  ),
  endingDays: of<readonly number[]>(
    Joi.array().items(Joi.number().min(0).max(365)).max(10),
    [7, 1],
    'How many days before keys and codes end people are alerted',
  ),
  backupMaxDays: number(7, 0, 365, 'The age at which the last backup is too old; `0`: never'),
  backupDir: optional(
    text().custom(checkFolder),
    'The folder that backups are written to, where every gateway can read it; without it, the command `backup` leaves a mark in `data_dir`',
  ),
} satisfies SettingGroup;

/**
 * All settings that are plain values, by group. A new one is a row here; `npm run docs:tables` writes the example and the
 * documentation. Channels, models, prices, tags and callers have shapes of their own: see `schema.ts`.
 */
export const SETTINGS = {
  server: reloading(SERVER, ['maxDocuments', 'maxInFlight', 'maxInFlightBytes', 'inFlightShare']),
  store: STORE,
  gateway: reloading(GATEWAY, ['deadlineMs', 'attemptTimeoutMs', 'maxAttempts']),
  traffic: TRAFFIC,
  log: reloading(LOG, ['level']),
  metrics: METRICS,
  telemetry: TELEMETRY,
  console: CONSOLE,
  root: ROOT,
  accounts: reloading(ACCOUNTS),
  login: LOGIN,
  oidc: OIDC,
  mail: MAIL,
  alerts: reloading(ALERTS),
};

/** The settings that the environment may give, by variable; it overrides every file. */
export const ENVIRONMENT_SETTINGS: Readonly<Record<string, readonly [string, string]>> =
  Object.fromEntries(
    Object.entries(SETTINGS).flatMap(([group, rows]) =>
      Object.entries(rows as SettingGroup).flatMap(([name, { variable }]) =>
        variable === undefined ? [] : [[variable, [group, snakeCase(name)] as const]],
      ),
    ),
  );
