/** What the operator decides about accounts. */
export interface AccountSettings {
  /** Whether people may register themselves. */
  readonly registration: boolean;
  /** What somebody who registers starts with, in units. */
  readonly initialQuota: number;
  /** A login ends when it was not used for so long. */
  readonly sessionIdleMs: number;
  /** A login ends after so long, used or not. */
  readonly sessionMaxMs: number;
  /** An access token ends after so long, unless it was asked for a shorter life. */
  readonly accessTokenMs: number;
  /** How often one address may try each of login, register, reset and topup in a window. */
  readonly attemptsPerAddress: number;
  /** How often each of them may be tried on one account in a window. */
  readonly attemptsPerAccount: number;
  readonly attemptsWindowMs: number;
  /** How many mails with a one-time code one account gets in an hour. */
  readonly resetMailsPerHour: number;
  /** How many API keys one account may have. */
  readonly keysPerAccount: number;
}
