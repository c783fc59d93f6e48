/** What the operator decides about accounts. */
export interface AccountSettings {
  /** Whether people may register themselves. */
  readonly registration: boolean;
  /** What a person who registers starts with, in units. */
  readonly initialQuota: number;
  /** A login ends after this long without use. */
  readonly sessionIdleMs: number;
  /** A login ends after this long, used or not. */
  readonly sessionMaxMs: number;
  /** An access token ends after this long, unless a shorter life was asked for. */
  readonly accessTokenMs: number;
  /** How often one address may try each of login, register, reset and topup per window. */
  readonly attemptsPerAddress: number;
  /** How often each of them may be tried on one account per window. */
  readonly attemptsPerAccount: number;
  readonly attemptsWindowMs: number;
  /** How many mails with a one-time code one account gets per hour. */
  readonly resetMailsPerHour: number;
  /** How many API keys one account may have. */
  readonly keysPerAccount: number;
}
