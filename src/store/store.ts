import type { Channel, ChannelStatus, TagSwitch } from '../core/channel.js';
import type { RateState } from '../core/rate-limit.js';
import type { Token, TokenPolicy } from '../core/token.js';

/**
 * What the gateway keeps, as verbs of the domain: each is atomic, on however many nodes, and takes the time as an
 * argument. Implementations differ in how, never in what: `test/store/contract` is run on all of them. Every method
 * rejects with `StoreUnavailableError` when the store cannot be reached or does not answer in time.
 */
export interface Store
  extends
    AdmissionStore,
    TokenStore,
    ChannelStore,
    UserStore,
    RedemptionStore,
    SessionStore,
    LogStore {
  /** Resolves when the store answers. */
  ping(): Promise<void>;
  /** Finishes what is under way and lets go of files and connections. */
  close(): Promise<void>;
}

/** The store cannot be reached or did not answer in time. */
export class StoreUnavailableError extends Error {
  override readonly name = 'StoreUnavailableError';
  /** Whether it is certain that the store did nothing; else nothing is known of what it did. */
  readonly didNothing: boolean;

  constructor(message: string, options: ErrorOptions & { readonly didNothing?: boolean } = {}) {
    super(message, options);
    this.didNothing = options.didNothing ?? false;
  }
}

/** Channel credentials are to be written or read and no encryption key is configured, or the key is another one. */
export class CredentialsLockedError extends Error {
  override readonly name = 'CredentialsLockedError';
}

/** A token as a node keeps it in memory: good as long as `admit` finds the same version in the store. */
export interface Credential {
  readonly token: Token;
  /** Grows with every management change of the token; traffic does not change it. */
  readonly version: number;
  readonly userEnabled: boolean;
}

export interface AdmitRequest {
  readonly tokenId: number;
  readonly userId: number;
  /** The version of the credential that the caller has judged. */
  readonly version: number;
  /** Unique; names the reservation until it is settled. */
  readonly reservationId: string;
  /** Quota to set aside, ≥ 0. */
  readonly amount: number;
  readonly nowMs: number;
  /** When the reservation is given back if nobody settled it. */
  readonly expiresAtMs: number;
}

export type Admission =
  | { readonly kind: 'admitted'; readonly rate: RateState | undefined }
  /** The token has changed since `version`: judge this one, then ask again. Nothing was reserved. */
  | { readonly kind: 'stale'; readonly credential: Credential }
  | {
      readonly kind: 'refused';
      readonly reason:
        | 'unknown'
        | 'user_disabled'
        | 'disabled'
        | 'expired'
        | 'token_quota'
        | 'user_quota'
        | 'concurrency';
    }
  | {
      readonly kind: 'refused';
      readonly reason: 'rate';
      readonly retryAfterMs: number;
      readonly rate: RateState;
    };

export interface Settlement {
  readonly tokenId: number;
  readonly userId: number;
  readonly reservationId: string;
  /** What was reserved. */
  readonly amount: number;
  /** What is owed: 0 for a call that failed. More than `amount` takes the rest as far as both balances reach. */
  readonly cost: number;
  /** Whether a ranking was delivered; counts as a request of the user. */
  readonly served: boolean;
  readonly nowMs: number;
}

export interface AdmissionStore {
  /** The token of a key by the SHA-256 of it, in hex. Disabled, expired and exhausted tokens are found too. */
  findToken(keyHash: string): Promise<Credential | undefined>;

  /**
   * Checks and reserves in one step, in this order: token known, version (`stale`), user enabled, token enabled, not
   * expired, token quota (a limited token must have something left, and at least `amount`), user quota (at least
   * `amount`), rate, concurrency. When admitted: `amount` is off both balances (off the user's alone for an unlimited
   * token), the rate is counted, the token's accessed time is set, and the reservation holds one place of its
   * concurrency. Expired reservations of the user are given back first.
   */
  admit(request: AdmitRequest): Promise<Admission>;

  /**
   * Ends a reservation: what was not spent goes back, spent quota is counted on token and user, the place is free.
   * Resolves to what was charged, or `undefined` when the reservation is not there (settled already, or expired and given
   * back), in which case nothing changes. One that has expired and was not given back yet is settled as usual. Whether the
   * token's balance takes part was decided when it was admitted: making it unlimited or limited meanwhile does not matter.
   * A token deleted meanwhile still settles on the user.
   */
  settle(settlement: Settlement): Promise<number | undefined>;
}

export interface NewToken {
  readonly userId: number;
  readonly name: string;
  /** SHA-256 of the key in hex; the key itself is never stored. */
  readonly keyHash: string;
  readonly keyHint: string;
  readonly enabled: boolean;
  /** Unix seconds, or -1. */
  readonly expiredTime: number;
  readonly remainQuota: number;
  readonly unlimitedQuota: boolean;
  readonly policy: TokenPolicy;
}

/** `set` replaces a balance, `add` moves it (and may be negative): both atomically against running traffic. */
export type QuotaChange = { readonly set: number } | { readonly add: number };

export interface TokenChange {
  readonly name?: string;
  readonly enabled?: boolean;
  readonly expiredTime?: number;
  readonly unlimitedQuota?: boolean;
  readonly quota?: QuotaChange;
  /** Members that are present replace; `models` and `defaultModel` may be set to undefined. */
  readonly policy?: Partial<TokenPolicy>;
}

export type TokenUpdate =
  | { readonly kind: 'updated'; readonly token: Token }
  | { readonly kind: 'not_found' }
  /** `enabled: true` was asked for, and after the change the token would still be expired or exhausted. */
  | { readonly kind: 'conflict'; readonly reason: 'expired' | 'exhausted' }
  /** A balance would fall below zero or leave the range that is kept exactly. */
  | { readonly kind: 'conflict'; readonly reason: 'quota_range' };

export interface Page<T> {
  readonly items: readonly T[];
  readonly total: number;
}

/** A slice of a list, newest first; `offset` from 0. */
export interface Slice {
  readonly offset: number;
  readonly limit: number;
}

export interface TokenQuery extends Slice {
  readonly userId?: number;
  /** Part of the name, in any case. */
  readonly name?: string;
  /** Exactly this key's hash. */
  readonly keyHash?: string;
}

/** Reads give back expired reservations of the users concerned first, so that balances are true at `nowMs`. */
export interface TokenStore {
  /** `undefined` when the user does not exist. A new token counts as accessed when it was created. */
  createToken(token: NewToken, nowMs: number): Promise<Token | undefined>;
  getToken(id: number, nowMs: number): Promise<Token | undefined>;
  listTokens(query: TokenQuery, nowMs: number): Promise<Page<Token>>;
  /** With `ownerId`, a token of another user is `not_found`. */
  updateToken(
    id: number,
    change: TokenChange,
    nowMs: number,
    ownerId?: number,
  ): Promise<TokenUpdate>;
  /** The remaining quota of a deleted token is gone with it; the user's balance was never charged for it. */
  deleteToken(id: number, ownerId?: number): Promise<boolean>;
}

export type NewChannel = Omit<Channel, 'id' | 'origin'>;
/** Members that are present replace. */
export type ChannelChange = { readonly [K in keyof NewChannel]?: NewChannel[K] };

/** A channel of the configuration: known by its name; its credentials stay in the configuration and are never stored. */
export type DeclaredChannel = Omit<Channel, 'id' | 'origin' | 'status' | 'credentials'> & {
  /** What it starts with, and follows as long as the status in the store is the one that was declared last. */
  readonly status: ChannelStatus;
};

export interface ChannelSnapshot {
  /** Grows with every change of a channel or a tag switch. */
  readonly version: number;
  readonly channels: readonly Channel[];
  /**
   * Ids of channels whose stored credentials cannot be read with this encryption key: they are in `channels` with empty
   * credentials, must not be tried, and become usable when the key is right again or new credentials are stored.
   */
  readonly locked: ReadonlySet<number>;
  readonly switches: readonly TagSwitch[];
}

export type ChannelUpdate =
  | { readonly kind: 'updated'; readonly channel: Channel; readonly version: number }
  | { readonly kind: 'not_found' }
  | { readonly kind: 'name_taken' };

export interface ChannelStore {
  /** Channels and switches of one and the same version. */
  loadChannels(): Promise<ChannelSnapshot>;
  /** The current version, cheaply. */
  channelsVersion(): Promise<number>;
  /** Names are unique; a taken one is refused. */
  createChannel(channel: NewChannel): Promise<ChannelUpdate>;
  updateChannel(id: number, change: ChannelChange): Promise<ChannelUpdate>;
  /** The version after it, or `undefined` when there is no such channel. */
  deleteChannel(id: number): Promise<number | undefined>;
  /** Many changes as one: all or, when an id is missing or a name taken, none. Resolves to the version, or `undefined`. */
  updateChannels(
    changes: readonly { readonly id: number; readonly change: ChannelChange }[],
  ): Promise<number | undefined>;
  /** One write that covers every channel with the tag, now and later. Resolves to the version. */
  setTagSwitch(tagSwitch: TagSwitch): Promise<number>;
  /** Forgets the switch of a tag that is no longer wanted (it reads as on). Resolves to the version. */
  deleteTagSwitch(tag: string): Promise<number>;
  /**
   * Makes the channels of origin `config` those that are declared, matched by name: new ones are added, gone ones removed,
   * changed ones replaced but for their id and a status set by hand. A channel of origin `store` with a declared name is
   * left alone and its name returned in `taken`. Does not grow the version when nothing differs.
   */
  declareChannels(
    channels: readonly DeclaredChannel[],
  ): Promise<{ readonly version: number; readonly taken: readonly string[] }>;
  /** Calls `onChange` soon after any version change by any process, this one included; may miss or repeat one. Returns the way to stop. */
  watchChannels(onChange: () => void): () => void;
  /** Tells that a node has `version` in force; forgotten after `ttlMs`. */
  reportNode(nodeId: string, version: number, nowMs: number, ttlMs: number): Promise<void>;
  /** The oldest version that any live node reported, or `undefined` when none lives. */
  oldestNodeVersion(nowMs: number): Promise<number | undefined>;
  /** Takes a node that stops off the list. */
  forgetNode(nodeId: string): Promise<void>;
}

export type Role = 0 | 1 | 10 | 100;

/** An account. Times are unix seconds, quota is in units. */
export interface User {
  readonly id: number;
  readonly username: string;
  readonly email: string | undefined;
  readonly displayName: string;
  /** 0 guest, 1 user, 10 admin, 100 root. */
  readonly role: Role;
  readonly enabled: boolean;
  readonly quota: number;
  readonly usedQuota: number;
  readonly requestCount: number;
  readonly createdTime: number;
}

export interface NewUser {
  readonly username: string;
  readonly email: string | undefined;
  readonly displayName: string;
  readonly passwordHash: string;
  readonly role: Role;
  readonly enabled: boolean;
  readonly quota: number;
}

export interface UserChange {
  readonly username?: string;
  /** `null` takes the address away. */
  readonly email?: string | null;
  readonly displayName?: string;
  readonly passwordHash?: string;
  readonly role?: Role;
  readonly enabled?: boolean;
  readonly quota?: QuotaChange;
}

/** What an account must still have for a change of it to be made: what the one who asks has judged it by. */
export interface UserCondition {
  readonly role?: Role;
  readonly passwordHash?: string;
}

export type UserUpdate =
  | { readonly kind: 'updated'; readonly user: User }
  | { readonly kind: 'not_found' }
  | { readonly kind: 'taken'; readonly field: 'username' | 'email' }
  /** `changed`: the condition no longer holds. */
  | { readonly kind: 'conflict'; readonly reason: 'quota_range' | 'changed' };

export interface UserQuery extends Slice {
  /** Part of username, email or display name, in any case; or an id. */
  readonly keyword?: string;
  readonly role?: Role;
}

/** Usernames and addresses are unique without regard to case. Disabling a user stops its tokens at the next `admit`. */
export interface UserStore {
  createUser(user: NewUser, nowMs: number): Promise<UserUpdate>;
  getUser(id: number, nowMs: number): Promise<User | undefined>;
  /** By username, else by address. */
  findUser(login: string, nowMs: number): Promise<User | undefined>;
  /** The recorded password hash of a user. */
  getPasswordHash(userId: number): Promise<string | undefined>;
  listUsers(query: UserQuery, nowMs: number): Promise<Page<User>>;
  updateUser(
    id: number,
    change: UserChange,
    nowMs: number,
    condition?: UserCondition,
  ): Promise<UserUpdate>;
  /** Removes the user with its tokens and sessions. */
  deleteUser(id: number): Promise<boolean>;
}

/** A code that turns into quota. Times are unix seconds; only the SHA-256 of the code is stored. */
export interface RedemptionCode {
  readonly id: number;
  readonly name: string;
  readonly quota: number;
  readonly status: 'enabled' | 'disabled' | 'used';
  readonly codeHint: string;
  readonly createdBy: number;
  readonly createdTime: number;
  readonly redeemedTime: number;
  /** 0 while unused. */
  readonly usedUserId: number;
  /** 0: never. */
  readonly expiredTime: number;
}

export interface NewRedemptionCode {
  readonly name: string;
  readonly quota: number;
  readonly codeHash: string;
  readonly codeHint: string;
  readonly createdBy: number;
  readonly expiredTime: number;
}

export interface RedemptionChange {
  readonly name?: string;
  readonly quota?: number;
  readonly expiredTime?: number;
  readonly enabled?: boolean;
}

export type RedemptionUpdate =
  | { readonly kind: 'updated'; readonly code: RedemptionCode }
  | { readonly kind: 'not_found' }
  /** A used code is final. */
  | { readonly kind: 'used' };

export type Redemption =
  | { readonly kind: 'redeemed'; readonly quota: number; readonly codeId: number }
  | {
      readonly kind: 'refused';
      readonly reason: 'unknown' | 'disabled' | 'used' | 'expired' | 'quota_range';
    };

export interface RedemptionQuery extends Slice {
  /** Part of the name in any case, or an id. */
  readonly keyword?: string;
}

export interface RedemptionStore {
  /** All of them or none; in the order given. */
  createCodes(codes: readonly NewRedemptionCode[], nowMs: number): Promise<RedemptionCode[]>;
  getCode(id: number): Promise<RedemptionCode | undefined>;
  listCodes(query: RedemptionQuery): Promise<Page<RedemptionCode>>;
  updateCode(id: number, change: RedemptionChange): Promise<RedemptionUpdate>;
  deleteCode(id: number): Promise<boolean>;
  /** Deletes the used, disabled and expired ones; resolves to how many. */
  deleteInvalidCodes(nowMs: number): Promise<number>;
  /**
   * Exactly once under any race: claims the code and credits the user. When a process dies between the two, the same user's
   * next attempt or `recoverRedemptions` completes the credit, once.
   */
  redeem(codeHash: string, userId: number, nowMs: number): Promise<Redemption>;
  /** Completes claims older than `olderThanMs` whose credit is missing; resolves to how many. */
  recoverRedemptions(nowMs: number, olderThanMs: number): Promise<number>;
}

/** A login by cookie, or an access token: only the hash of the secret is stored. */
export interface Session {
  readonly idHash: string;
  readonly userId: number;
  readonly kind: 'session' | 'access_token';
  readonly createdAtMs: number;
  /** Slides with use for sessions, up to `endsAtMs`. */
  readonly expiresAtMs: number;
  readonly endsAtMs: number;
}

export type IdempotencyClaim =
  /** Nobody has done this yet: do it, then `completeIdempotent`. */
  | { readonly kind: 'fresh' }
  /** It was done: answer this again. */
  | { readonly kind: 'done'; readonly status: number; readonly body: string }
  | { readonly kind: 'running' }
  /** The key was used for another request. */
  | { readonly kind: 'mismatch' };

export interface SessionStore {
  createSession(session: Session): Promise<void>;
  /**
   * A login made on the strength of another one of the same user: it ends those of its own kind, in the same step. When `by`
   * no longer lives nothing is done, and it resolves to false.
   */
  deriveSession(session: Session, by: string): Promise<boolean>;
  /** Finds a live one and, for a session, slides its expiry to `nowMs + slideMs`, at most `endsAtMs`. */
  findSession(idHash: string, nowMs: number, slideMs: number): Promise<Session | undefined>;
  deleteSession(idHash: string): Promise<boolean>;
  /** Ends all sessions and access tokens of a user, or those of one kind. */
  deleteUserSessions(userId: number, kind?: Session['kind']): Promise<number>;

  /** Replaces the user's one-time code. */
  putOneTimeCode(userId: number, codeHash: string, expiresAtMs: number): Promise<void>;
  /** Takes the code if it matches and lives, once; a wrong one counts, and the code dies at `maxAttempts` wrong ones. */
  takeOneTimeCode(
    userId: number,
    codeHash: string,
    nowMs: number,
    maxAttempts: number,
  ): Promise<boolean>;

  /** Counts one event against `limit` per sliding window (two-window estimate as in core/rate-limit, any length). */
  takeLimit(
    name: string,
    limit: number,
    windowMs: number,
    nowMs: number,
  ): Promise<{
    readonly allowed: boolean;
    readonly remaining: number;
    readonly retryAfterMs: number;
  }>;

  /** Claims an idempotency key for a request with that fingerprint; a claim that is not completed is free again after `claimMs`. */
  claimIdempotent(
    key: string,
    fingerprint: string,
    nowMs: number,
    claimMs: number,
  ): Promise<IdempotencyClaim>;
  completeIdempotent(
    key: string,
    fingerprint: string,
    reply: { readonly status: number; readonly body: string },
    nowMs: number,
    keepMs: number,
  ): Promise<void>;
  /** Gives a claim back after a failure, so that the next try is fresh. */
  releaseIdempotent(key: string, fingerprint: string): Promise<void>;
}

/** One admitted request. Amounts in units, durations in milliseconds. */
export interface UsageEntry {
  readonly atMs: number;
  readonly requestId: string;
  readonly userId: number;
  readonly tokenId: number;
  readonly tokenName: string;
  readonly model: string;
  readonly channelId: number | undefined;
  readonly provider: string | undefined;
  readonly tag: string | undefined;
  readonly attempts: number;
  readonly documents: number;
  readonly inputTokens: number;
  readonly searchUnits: number;
  readonly quota: number;
  readonly durationMs: number;
  /** `ok`, or the error code that the caller got. */
  readonly outcome: string;
}

export interface UsageQuery extends Slice {
  readonly userId?: number;
  readonly tokenId?: number;
  readonly tokenName?: string;
  readonly model?: string;
  readonly channelId?: number;
  readonly outcome?: string;
  readonly fromMs?: number;
  readonly toMs?: number;
}

export interface UsageStats {
  readonly requests: number;
  readonly quota: number;
  readonly documents: number;
  readonly inputTokens: number;
}

/** One management write. `detail` holds no secrets. */
export interface AuditEntry {
  readonly atMs: number;
  readonly actorId: number | undefined;
  readonly actor: string;
  readonly action: string;
  readonly target: string;
  readonly detail: Readonly<Record<string, unknown>>;
  readonly address: string | undefined;
}

export interface AuditQuery extends Slice {
  readonly actorId?: number;
  readonly action?: string;
  readonly target?: string;
  readonly fromMs?: number;
  readonly toMs?: number;
}

/** Logs are bounded: the oldest entries go when there are more than `maxEntries`, or when they are older than asked. */
export interface LogStore {
  appendUsage(entries: readonly UsageEntry[], maxEntries: number): Promise<void>;
  listUsage(query: UsageQuery): Promise<Page<UsageEntry>>;
  usageStats(query: Omit<UsageQuery, 'offset' | 'limit'>): Promise<UsageStats>;
  appendAudit(entry: AuditEntry, maxEntries: number): Promise<void>;
  listAudit(query: AuditQuery): Promise<Page<AuditEntry>>;
  /** Drops what is older; resolves to how many entries went. */
  trimLogs(olderThanMs: number): Promise<number>;
}
