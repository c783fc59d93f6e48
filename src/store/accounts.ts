/** What is known of accounts beside their records: where they were used from, and addresses that wait to be confirmed. */
export interface AccountStore {
  /** Notes that a user has logged in from a place, by a hash of it. The newest 32 are kept, for `keepMs` each. */
  rememberPlace(userId: number, placeHash: string, nowMs: number, keepMs: number): Promise<void>;
  knowsPlace(userId: number, placeHash: string, nowMs: number): Promise<boolean>;

  /** Replaces the address that the user has yet to confirm, and the code for it, which lives for `lifeMs`. */
  putAddressCode(
    userId: number,
    email: string,
    codeHash: string,
    nowMs: number,
    lifeMs: number,
  ): Promise<void>;
  /** Takes the code if it matches and lives, once; resolves to the address that it confirms. Wrong ones change nothing. */
  takeAddressCode(userId: number, codeHash: string, nowMs: number): Promise<string | undefined>;
}

/** Places of one user that are kept. */
export const MOST_PLACES = 32;
