/** Facts about accounts besides their records: the places of their logins, and addresses awaiting confirmation. */
export interface AccountStore {
  /** Notes that a user has logged in from a place, by a hash of it. The newest 32 are kept, for `keepMs` each. */
  rememberPlace(userId: number, placeHash: string, nowMs: number, keepMs: number): Promise<void>;
  knowsPlace(userId: number, placeHash: string, nowMs: number): Promise<boolean>;

  /** Replaces the address that the user has yet to confirm, and its code, which is valid for `lifeMs`. */
  putAddressCode(
    userId: number,
    email: string,
    codeHash: string,
    nowMs: number,
    lifeMs: number,
  ): Promise<void>;
  /** Takes the code, once, if it matches and is valid; resolves to the address that it confirms. A wrong one changes nothing. */
  takeAddressCode(userId: number, codeHash: string, nowMs: number): Promise<string | undefined>;
}

/** How many places are kept per user. */
export const MOST_PLACES = 32;
