import { createHash } from 'node:crypto';
import { afterEach, beforeEach } from '@jest/globals';
import { CHANNEL_DEFAULTS } from '../../../src/core/channel-members.js';
import { Secret } from '../../../src/core/secret.js';
import type {
  AdmitRequest,
  Credential,
  NewChannel,
  NewToken,
  NewUser,
  Settlement,
  Store,
} from '../../../src/store/store.js';
import { createVault, type Vault } from '../../../src/store/vault.js';
import { OPEN_POLICY } from '../../support/policy.js';

/** One empty store, and more views of the same data. */
export interface StoreHarness {
  readonly store: Store;
  /** The same data through a connection of its own, as another process has it; with `vault` instead of `VAULT` if given. */
  reopen(vault?: Vault): Promise<Store>;
  /** An empty store of the same kind, with nothing in common. */
  fresh(): Promise<Store>;
  /** Closes all of them and removes the data. */
  dispose(): Promise<void>;
}

/** Opens an empty store, whose first view uses `VAULT`. */
export type OpenHarness = () => Promise<StoreHarness>;

export const VAULT = createVault(new Secret('the key of the contract'));

/** A whole minute, so that rate windows begin here; far ahead, since a Redis forgets by its own clock what has ended. */
export const T0 = Date.UTC(2055, 0, 15, 8);
export const T0_SECONDS = T0 / 1000;

/** A fresh store for every test of the surrounding `describe`. */
export function freshStore(open: OpenHarness): {
  readonly store: Store;
  reopen(vault?: Vault): Promise<Store>;
  fresh(): Promise<Store>;
} {
  let harness: StoreHarness | undefined;
  const opened = (): StoreHarness => {
    if (harness === undefined) throw new Error('the store is there only while a test runs');
    return harness;
  };
  beforeEach(async () => {
    harness = await open();
  });
  afterEach(async () => {
    await harness?.dispose();
    harness = undefined;
  });
  return {
    get store() {
      return opened().store;
    },
    reopen: (vault) => opened().reopen(vault),
    fresh: () => opened().fresh(),
  };
}

export function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

let serial = 0;
/** A name that no other call has given. */
export function unique(prefix: string): string {
  serial += 1;
  return `${prefix}-${serial}`;
}

export function newUser(given: Partial<NewUser> = {}): NewUser {
  return {
    username: unique('user'),
    email: undefined,
    displayName: 'Somebody',
    passwordHash: 'hash of a password',
    role: 1,
    enabled: true,
    quota: 1_000_000,
    ...given,
  };
}

export function newToken(userId: number, given: Partial<NewToken> = {}): NewToken {
  return {
    userId,
    name: 'a key',
    keyHash: sha256(unique('key')),
    keyHint: 'sk-aaaa…zzzz',
    enabled: true,
    expiredTime: -1,
    remainQuota: 100_000,
    unlimitedQuota: false,
    policy: OPEN_POLICY,
    ...given,
  };
}

export function newChannel(given: Partial<NewChannel> = {}): NewChannel {
  return {
    name: unique('channel'),
    provider: 'cohere',
    baseUrl: undefined,
    credentials: { apiKey: new Secret('upstream key') },
    models: { 'rerank-v1': 'rerank-v1' },
    tag: undefined,
    ...CHANNEL_DEFAULTS,
    status: 1,
    settings: {},
    ...given,
  };
}

export async function createUser(store: Store, given: Partial<NewUser> = {}): Promise<number> {
  const created = await store.createUser(newUser(given), T0);
  if (created.kind !== 'updated') throw new Error(`the user was not created: ${created.kind}`);
  return created.user.id;
}

/** A token of a new user, or of `userId`, as a node finds it by its key. */
export async function createToken(
  store: Store,
  given: Partial<NewToken> & { readonly userQuota?: number } = {},
): Promise<Credential> {
  const { userQuota, ...token } = given;
  const userId =
    token.userId ?? (await createUser(store, userQuota === undefined ? {} : { quota: userQuota }));
  const wanted = newToken(userId, token);
  await store.createToken(wanted, T0);
  const credential = await store.findToken(wanted.keyHash);
  if (credential === undefined) throw new Error('the token was not created');
  return credential;
}

export function admitRequest(
  { token, version, keyHash }: Credential,
  given: Partial<AdmitRequest> = {},
): AdmitRequest {
  const nowMs = given.nowMs ?? T0;
  return {
    tokenId: token.id,
    userId: token.userId,
    version,
    keyHash,
    reservationId: unique('reservation'),
    amount: 10,
    nowMs,
    expiresAtMs: nowMs + 60_000,
    ...given,
  };
}

export function settlement(
  request: AdmitRequest,
  given: Pick<Settlement, 'cost'> & Partial<Settlement>,
): Settlement {
  return {
    tokenId: request.tokenId,
    userId: request.userId,
    reservationId: request.reservationId,
    amount: request.amount,
    served: given.cost > 0,
    nowMs: request.nowMs,
    ...given,
  };
}
