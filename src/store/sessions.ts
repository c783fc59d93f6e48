import { number, recordOf, text } from './records.js';

/** A login by cookie, or an access token: only the hash of the secret is stored. */
export interface Session {
  readonly idHash: string;
  readonly userId: number;
  readonly kind: 'session' | 'access_token';
  readonly createdAtMs: number;
  /** Slides with use for sessions, up to `endsAtMs`. */
  readonly expiresAtMs: number;
  readonly endsAtMs: number;
  /** To a minute. */
  readonly usedAtMs: number;
  /** Where it was made from: the address and, as the client calls itself, the browser; '' if unknown. */
  readonly address: string;
  readonly agent: string;
  /** Who vouched for it, as `signOn` says; '' for a password. */
  readonly source: string;
}

export const SESSIONS = recordOf<Session>('sessions', {
  idHash: text(),
  userId: number(),
  kind: text<Session['kind']>(),
  createdAtMs: number(),
  expiresAtMs: number(),
  endsAtMs: number(),
  usedAtMs: number(),
  address: text(),
  agent: text(),
  source: text(),
});

/** Where a login is made from. */
export type LoginOrigin = Pick<Session, 'address' | 'agent' | 'source'>;

/** Counts as used when it is created. */
export type NewSession = Omit<Session, 'usedAtMs' | keyof LoginOrigin> & Partial<LoginOrigin>;

/** A use so soon after the last one that was noted is not noted. */
export const USED_STEP_MS = 60_000;

export type IdempotencyClaim =
  /** Not done yet: do it, then `completeIdempotent`. */
  | { readonly kind: 'fresh' }
  /** It was done: answer this again. */
  | { readonly kind: 'done'; readonly status: number; readonly body: string }
  | { readonly kind: 'running' }
  /** The key was used for another request. */
  | { readonly kind: 'mismatch' };

export interface SessionStore {
  createSession(session: NewSession): Promise<void>;
  /**
   * Creates a login on the strength of another one of the same user, and ends the user's other logins of its kind in the same
   * step. If `by` has ended, does nothing and resolves to false.
   */
  deriveSession(session: NewSession, by: string): Promise<boolean>;
  /** Finds a live login, notes its use and, for a session, moves its expiry to `nowMs + slideMs`, at most `endsAtMs`. */
  findSession(idHash: string, nowMs: number, slideMs: number): Promise<Session | undefined>;
  deleteSession(idHash: string): Promise<boolean>;
  /** The live ones of a user, newest first. */
  listSessions(userId: number, nowMs: number): Promise<readonly Session[]>;
  /** Ends all sessions and access tokens of a user, or those of one kind. */
  deleteUserSessions(userId: number, kind?: Session['kind']): Promise<number>;

  /** Replaces the user's one-time code, which is valid for `lifeMs`. */
  putOneTimeCode(userId: number, codeHash: string, nowMs: number, lifeMs: number): Promise<void>;
  /** Takes the code, once, if it matches and is valid; wrong ones are counted, and `maxAttempts` of them void the code. */
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

  /** Forgets what was counted under a name. */
  clearLimit(name: string): Promise<void>;

  /** Claims an idempotency key for a request with that fingerprint; a claim not completed within `claimMs` lapses. */
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
  /** Gives a claim back after a failure, so that the next attempt is fresh. */
  releaseIdempotent(key: string, fingerprint: string): Promise<void>;
}

/** The stored members of a one-time code. */
export interface OneTimeCode {
  readonly codeHash: string;
  readonly expiresAtMs: number;
  /** Wrong codes that were given for it. */
  readonly attempts: number;
}

/** What giving a code does: takes the kept one, counts as a wrong attempt, or shows that the kept one is void. */
export function judgeOneTimeCode(
  kept: OneTimeCode,
  codeHash: string,
  nowMs: number,
  maxAttempts: number,
): 'taken' | 'wrong' | 'void' {
  if (kept.expiresAtMs <= nowMs) return 'void';
  if (kept.codeHash === codeHash) return 'taken';
  return kept.attempts + 1 >= maxAttempts ? 'void' : 'wrong';
}
