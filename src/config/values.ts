import type { ConfiguredChannel } from './channels.js';
import type { ModelRulesSettings } from './rules.js';
import type { PriceList } from '../core/quota.js';
import type { Secret } from '../core/secret.js';
import type { AccountSettings } from '../management/accounts.js';

export interface ServerSettings {
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

export interface GatewaySettings {
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
export interface TrafficSettings {
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

export interface LogSettings {
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

export interface ConsoleSettings {
  /** Whether the browser console is served below `/console/`. */
  readonly enabled: boolean;
  /** Whether inputs of the playground may be kept, documents included. */
  readonly examples: boolean;
}

export interface MetricsSettings {
  readonly enabled: boolean;
  /** The bearer token that `GET /metrics` requires; without it, `allowIps` decides. */
  readonly token: Secret | undefined;
  /** Addresses and ranges that may read without a token if none is set. */
  readonly allowIps: readonly string[];
}

/** The account that the first start creates. */
export interface RootSettings {
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
export interface AlertSettings {
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
export interface InitialSwitch {
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
