import type { UpstreamFailure } from './retry.js';

/** A certain, lasting fault of a channel. */
export type OutageReason = 'credentials_refused' | 'no_credit';

/** Why and when the gateway disabled a channel. */
export interface Outage {
  readonly reason: OutageReason;
  /** The upstream's words, without addresses and credentials; may be empty. */
  readonly message: string;
  readonly sinceMs: number;
}

/** How many such failures in a row, within a window, disable a channel; 0: it is never disabled. */
export interface OutageRule {
  readonly failures: number;
  readonly windowMs: number;
}

/** Consecutive failures that show the same certain fault. */
export interface Tally {
  readonly reason: OutageReason;
  readonly count: number;
  readonly sinceMs: number;
}

const NO_CREDIT =
  /insufficient.{0,12}(quota|balance|credit|fund)|(balance|credit|quota).{0,24}(insufficient|exhaust|exceed|not enough|too low|used up)|exceeded your current quota|out of credit|payment required|arrear|unpaid|overdue|billing|monthly|余额|欠费/i;
const REFUSED_CREDENTIALS =
  /(api|access|secret|subscription)[ _-]?key|credential|unauthori[sz]ed|authenticat|signature|invalid_(client|grant|token)|(invalid|expired|revoked).{0,8}token/i;

/** The certain fault of a channel's account that a failure shows, whatever the request was; `undefined` if it shows none. */
export function certaintyOf({ kind, status, message }: UpstreamFailure): OutageReason | undefined {
  // Without a status there was no refusal.
  if (kind !== 'misconfigured' || status === undefined) return undefined;
  if (status === 402 || NO_CREDIT.test(message)) return 'no_credit';
  if (status === 401) return 'credentials_refused';
  // A key that may not do something with one model may do it with another.
  if (/\bmodels?\b/i.test(message)) return undefined;
  if (status === 403 || REFUSED_CREDENTIALS.test(message)) return 'credentials_refused';
  return undefined;
}

/** The tally after one more such failure. Failures outside the window, or with another fault, are forgotten. */
export function tallied(
  tally: Tally | undefined,
  reason: OutageReason,
  nowMs: number,
  { windowMs }: OutageRule,
): Tally {
  const goesOn = tally?.reason === reason && nowMs - tally.sinceMs < windowMs;
  return goesOn ? { ...tally, count: tally.count + 1 } : { reason, count: 1, sinceMs: nowMs };
}

/** Whether there are enough failures to disable the channel. */
export function isEnough({ count }: Pick<Tally, 'count'>, { failures }: OutageRule): boolean {
  return failures > 0 && count >= failures;
}

/** When a failed channel is tried again: after `firstMs` at first, twice as long after each failure, spread by a tenth. */
export function nextTryMs(
  failures: number,
  { firstMs, longestMs }: { readonly firstMs: number; readonly longestMs: number },
  random: () => number,
): number {
  const waitMs = Math.min(firstMs * 2 ** failures, longestMs);
  return Math.round(waitMs * (0.9 + 0.1 * random()));
}

/** The name of the duty of finding out whether a channel works again. */
export function returnDuty(channelId: number, { sinceMs }: Outage): string {
  return `return:${channelId}:${sinceMs}`;
}

/** Why a channel is disabled, in words. */
export function outageText({ reason, message }: Outage): string {
  return message === '' ? OUTAGE_TEXTS[reason] : `${OUTAGE_TEXTS[reason]}: ${message}`;
}

const OUTAGE_TEXTS: Readonly<Record<OutageReason, string>> = {
  credentials_refused: 'the provider refuses its credentials',
  no_credit: 'its account is out of credit',
};
