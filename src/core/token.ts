import type { BudgetUse } from './budget.js';
import type { Aliases } from './model-names.js';
import { TOKEN_DEFAULTS, type TokenMembers } from './token-members.js';

/** 1 and 2 are set by people; 3 and 4 follow from the clock and the balance and are never stored. */
export type TokenStatus = 1 | 2 | 3 | 4;

export const TOKEN_ENABLED = 1;
export const TOKEN_DISABLED = 2;
export const TOKEN_EXPIRED = 3;
export const TOKEN_EXHAUSTED = 4;

/** `expiredTime` of a token that never expires. */
export const NEVER_EXPIRES = -1;

/** What a token may be used for. Only management changes it, so nodes keep it in memory under its version. */
export interface TokenPolicy extends TokenMembers {
  /** The models that may be used, or `undefined` for all. */
  readonly models: readonly string[] | undefined;
  /** Addresses and CIDR ranges from which it may be used; empty: from anywhere. */
  readonly allowIps: readonly string[];
  /** Tags that it is bound to; empty: none. */
  readonly tags: readonly string[];
  readonly defaultModel: string | undefined;
  /** Other names of models for its requests; they come before those of the gateway. */
  readonly aliases: Aliases;
  /** Models to try in turn when no channel of the one it names returns a ranking; empty: those of the model's rule. */
  readonly fallbacks: readonly string[];
}

/** Forbids nothing. */
export const OPEN_POLICY: TokenPolicy = {
  models: undefined,
  allowIps: [],
  tags: [],
  defaultModel: undefined,
  aliases: {},
  fallbacks: [],
  ...TOKEN_DEFAULTS,
};

/** A client's credential as the store keeps it. Times are unix seconds; quota is in units. */
export interface Token {
  readonly id: number;
  readonly userId: number;
  readonly name: string;
  /** What people set: enabled or disabled. `tokenStatus` gives the effective status. */
  readonly enabled: boolean;
  /** First and last four characters of the key, for display. */
  readonly keyHint: string;
  readonly createdTime: number;
  /** Unix seconds of its last use, or 0 if it has not been used; keys of earlier releases begin with their creation. */
  readonly accessedTime: number;
  /** Unix seconds, or -1 for never. */
  readonly expiredTime: number;
  readonly remainQuota: number;
  readonly unlimitedQuota: boolean;
  readonly usedQuota: number;
  readonly budgetUse: BudgetUse;
  /** Unix milliseconds until which the key works that this one has replaced. */
  readonly oldKeyUntilMs?: number;
  readonly policy: TokenPolicy;
}

/** The status that people see: what was set, unless the clock or the balance overrides it. */
export function tokenStatus(token: Token, nowMs: number): TokenStatus {
  if (!token.enabled) return TOKEN_DISABLED;
  if (isExpired(token.expiredTime, nowMs)) return TOKEN_EXPIRED;
  if (!token.unlimitedQuota && token.remainQuota <= 0) return TOKEN_EXHAUSTED;
  return TOKEN_ENABLED;
}

export function isExpired(expiredTime: number, nowMs: number): boolean {
  return expiredTime !== NEVER_EXPIRES && expiredTime * 1000 <= nowMs;
}

/** Whether a policy allows `model`. */
export function allowsModel(policy: TokenPolicy, model: string): boolean {
  return policy.models === undefined || policy.models.includes(model);
}

export const KEY_PREFIX = 'sk-';
const KEY_CHARACTERS = 48;
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

/**
 * A fresh API key: `sk-` and 48 alphanumerics. `randomBytes` must come from a cryptographic source; bytes beyond the largest
 * multiple of the alphabet are discarded, so that each character is equally likely.
 */
export function newApiKey(randomBytes: (count: number) => Uint8Array): string {
  const limit = 256 - (256 % ALPHABET.length);
  let key = KEY_PREFIX;
  while (key.length < KEY_PREFIX.length + KEY_CHARACTERS) {
    for (const byte of randomBytes(KEY_CHARACTERS)) {
      if (byte < limit) key += ALPHABET[byte % ALPHABET.length] ?? '';
      if (key.length === KEY_PREFIX.length + KEY_CHARACTERS) break;
    }
  }
  return key;
}

/** The part of a key that may be shown forever: its first and last four characters after the prefix. */
export function keyHint(key: string): string {
  const body = key.startsWith(KEY_PREFIX) ? key.slice(KEY_PREFIX.length) : key;
  return `${KEY_PREFIX}${body.slice(0, 4)}…${body.slice(-4)}`;
}
