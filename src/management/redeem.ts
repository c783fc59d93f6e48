import { GatewayError } from '../core/errors.js';
import { recordAudit, type Actor, type ManagementDeps } from './audit.js';
import { hashSecret } from './secrets.js';

/** The stored form of a redemption code. People type codes by hand: case and surrounding blanks do not matter. */
export function hashRedemptionCode(code: string): string {
  return hashSecret(code.trim().toLowerCase());
}

/** Turns a code into quota for the user who redeems it, exactly once. Resolves to the quota added. */
export async function redeemCode(
  deps: ManagementDeps,
  code: string,
  actor: Actor & { readonly id: number },
): Promise<number> {
  const redemption = await deps.store.redeem(hashRedemptionCode(code), actor.id, deps.now());
  if (redemption.kind === 'refused') {
    if (redemption.reason === 'quota_range') {
      throw new GatewayError('conflict', 'Your balance cannot hold the quota of this code.');
    }
    if (redemption.reason === 'own') {
      throw new GatewayError(
        'permission_denied',
        'You made this code: codes are for others to redeem.',
        { param: 'key' },
      );
    }
    // Whether a code was ever valid concerns only its owner.
    throw new GatewayError('invalid_request', 'The code is unknown, used, disabled or expired.', {
      param: 'key',
    });
  }
  await recordAudit(deps, actor, 'redemption.redeem', `redemption:${redemption.codeId}`, {
    quota: redemption.quota,
  });
  return redemption.quota;
}
