import { MAX_QUOTA } from '../../core/quota.js';
import type { QuotaChange } from '../store.js';

/** The balance after a change, or `undefined` if it would leave the valid range. */
export function changedBalance(
  balance: number,
  change: QuotaChange | undefined,
): number | undefined {
  if (change === undefined) return balance;
  const next = 'set' in change ? change.set : balance + change.add;
  return next >= 0 && next <= MAX_QUOTA ? next : undefined;
}
