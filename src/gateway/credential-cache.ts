import { LRUCache } from 'lru-cache';
import type { AdmissionStore, Credential } from '../store/store.js';

const MAX_CREDENTIALS = 50_000;

/**
 * Tokens that this node has seen, by the hash of their key. An entry may be out of date: `admit` compares versions in the
 * store, so a stale one is replaced before it lets anything through. Unknown keys are not kept, since one may be created
 * at any moment.
 */
export class CredentialCache {
  readonly #store: Pick<AdmissionStore, 'findToken'>;
  readonly #byHash = new LRUCache<string, Credential>({ max: MAX_CREDENTIALS });

  constructor(store: Pick<AdmissionStore, 'findToken'>) {
    this.#store = store;
  }

  /** What this node remembers, else what the store knows. */
  async find(keyHash: string): Promise<Credential | undefined> {
    return this.#byHash.get(keyHash) ?? (await this.findFresh(keyHash));
  }

  /** What the store knows now. */
  async findFresh(keyHash: string): Promise<Credential | undefined> {
    const credential = await this.#store.findToken(keyHash);
    if (credential === undefined) this.#byHash.delete(keyHash);
    else this.#byHash.set(keyHash, credential);
    return credential;
  }

  remember(keyHash: string, credential: Credential): void {
    this.#byHash.set(keyHash, credential);
  }

  forget(keyHash: string): void {
    this.#byHash.delete(keyHash);
  }

  /** What this node remembers, without asking: the usual case costs no promise. */
  peek(keyHash: string): Credential | undefined {
    return this.#byHash.get(keyHash);
  }
}
