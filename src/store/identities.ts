/** How people whom somebody else vouches for, such as an OpenID provider, are found again. Only hashes of names are stored. */
export interface IdentityStore {
  /** The account that a name stands for; `undefined` if there is none, or no longer. */
  findIdentity(nameHash: string, nowMs: number): Promise<number | undefined>;
  /**
   * Makes a name stand for an account, unless it stands for another one that exists: resolves to the account that it stands
   * for now. With `lifeMs` the name ends after that time, and a later call always replaces it.
   */
  linkIdentity(nameHash: string, userId: number, nowMs: number, lifeMs?: number): Promise<number>;
}
