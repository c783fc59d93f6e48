import type { AccountStore } from './accounts.js';
import type { AdmissionStore } from './admission.js';
import type { ChannelStore } from './channels.js';
import type { DeliveryStore } from './deliveries.js';
import type { DutyStore } from './duties.js';
import type { ReplyStore } from './replies.js';
import type { ExampleStore } from './examples.js';
import type { EncryptionStore } from './encryption.js';
import type { IdentityStore } from './identities.js';
import type { LogStore } from './logs.js';
import type { MovingStore } from './moving.js';
import type { NodeStore } from './nodes.js';
import type { PlaceStore } from './places.js';
import type { PriceStore } from './prices.js';
import type { RedemptionStore } from './redemption.js';
import type { SecretStore } from './secrets.js';
import type { SessionStore } from './sessions.js';
import type { ShareStore } from './shares.js';
import type { StatsStore } from './stats.js';
import type { TokenStore } from './tokens.js';
import type { UserStore } from './users.js';

export type * from './accounts.js';
export type * from './admission.js';
export { LAPSED_MS } from './admission.js';
export type * from './encryption.js';
export type * from './examples.js';
export type * from './identities.js';
export type * from './tokens.js';
export type * from './channels.js';
export type * from './deliveries.js';
export type * from './duties.js';
export type * from './users.js';
export type * from './redemption.js';
export type * from './replies.js';
export type * from './sessions.js';
export type * from './logs.js';
export type * from './moving.js';
export type * from './nodes.js';
export type * from './shares.js';
export type * from './stats.js';
export type * from './balance.js';
export type * from './page.js';
export type * from './places.js';
export type * from './prices.js';
export type * from './secrets.js';

/**
 * What the gateway stores, as verbs of the domain: each is atomic across any number of nodes and takes the time as an
 * argument. Implementations differ in how they work, never in what they do: `test/store/contract` runs on all of them. Every
 * method rejects with `StoreUnavailableError` if the store cannot be reached or does not answer in time.
 */
export interface Store
  extends
    AdmissionStore,
    TokenStore,
    ChannelStore,
    UserStore,
    RedemptionStore,
    SessionStore,
    AccountStore,
    EncryptionStore,
    DeliveryStore,
    DutyStore,
    ExampleStore,
    IdentityStore,
    ReplyStore,
    LogStore,
    MovingStore,
    NodeStore,
    StatsStore,
    ShareStore,
    PlaceStore,
    PriceStore,
    SecretStore {
  /** Resolves when the store answers. */
  ping(): Promise<void>;
  /** Finishes what is in progress and releases files and connections; waits for others at most `waitMs`. */
  close(waitMs?: number): Promise<void>;
}

/** The store cannot be reached or did not answer in time. */
export class StoreUnavailableError extends Error {
  override readonly name = 'StoreUnavailableError';
  /** Whether it is certain that the store did nothing; otherwise it is unknown what it did. */
  readonly didNothing: boolean;

  constructor(message: string, options: ErrorOptions & { readonly didNothing?: boolean } = {}) {
    super(message, options);
    this.didNothing = options.didNothing ?? false;
  }
}

/** Channel credentials cannot be written or read: no encryption key is configured, or it is a different one. */
export class CredentialsLockedError extends Error {
  override readonly name = 'CredentialsLockedError';
}
