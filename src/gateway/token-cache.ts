import { LRUCache } from 'lru-cache';
import { StoreUnavailableError, type AdmissionStore, type Credential } from '../store/store.js';
import { EMPTIED } from './store-health.js';

const MAX_CREDENTIALS = 50_000;
/** Whatever happens to the store, nothing that a node remembers about a key is older than this. */
const LIFE_MS = 60_000;
/** How often the clock is read, which costs more than finding a token. */
const TTL_RESOLUTION_MS = 100;

/**
 * Tokens that this node has seen, by the hash of their key. An entry may be out of date: `admit` compares versions in the
 * store, so a stale one is replaced before it admits anything. Unknown keys are not kept, since one may be created at any
 * moment.
 */
export interface TokenCacheDeps {
  readonly store: Pick<AdmissionStore, 'findToken'>;
  /** Whether the store has lost everything, so that a key missing there means nothing. */
  readonly isEmptied: () => boolean;
  readonly now: () => number;
  /** How long a token is remembered. */
  readonly lifeMs?: number;
}

export class TokenCache {
  readonly #deps: TokenCacheDeps;
  readonly #byHash: LRUCache<string, Credential>;

  constructor(deps: TokenCacheDeps) {
    this.#deps = deps;
    this.#byHash = new LRUCache({
      // By size, since `max` would fill arrays for all of them at once: 11 ms for each gateway.
      maxSize: MAX_CREDENTIALS,
      sizeCalculation: () => 1,
      ttl: deps.lifeMs ?? LIFE_MS,
      ttlResolution: TTL_RESOLUTION_MS,
    });
  }

  /** What this node remembers, else what the store knows. */
  async find(keyHash: string): Promise<Credential | undefined> {
    return this.peek(keyHash) ?? (await this.findFresh(keyHash));
  }

  /** What the store knows now. */
  async findFresh(keyHash: string): Promise<Credential | undefined> {
    const credential = this.#live(await this.#deps.store.findToken(keyHash, this.#deps.now()));
    if (credential === undefined) {
      if (this.#deps.isEmptied()) throw new StoreUnavailableError(EMPTIED);
      this.#byHash.delete(keyHash);
    } else {
      this.#byHash.set(keyHash, credential);
    }
    return credential;
  }

  remember(keyHash: string, credential: Credential): void {
    this.#byHash.set(keyHash, credential);
  }

  /** Forgets all of them: the store's contents may have changed. */
  clear(): void {
    this.#byHash.clear();
  }

  /** What this node remembers, without asking: the usual case costs no promise. */
  peek(keyHash: string): Credential | undefined {
    return this.#live(this.#byHash.get(keyHash));
  }

  /** A key that was replaced by another one is unknown once its time is up. */
  #live(credential: Credential | undefined): Credential | undefined {
    const endsAtMs = credential?.endsAtMs;
    return endsAtMs === undefined || this.#deps.now() < endsAtMs ? credential : undefined;
  }
}
