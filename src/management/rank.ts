import { GatewayError } from '../core/errors.js';
import type { Role } from '../store/store.js';
import { ADMIN_ROLE, ROOT_ROLE, type Actor, type ManagementDeps } from './audit.js';

/** Somebody who works on the store itself, at the command line, and ranks above every account. */
export function isOperator(actor: Actor): boolean {
  return actor.id === undefined && actor.role === ROOT_ROLE;
}

/** Only admins act on accounts, and on none of an equal or higher role. `what` is the subject of the refusal. */
export function checkBelow(role: Role, actor: Actor, what: string): void {
  if ((actor.role >= ADMIN_ROLE && role < actor.role) || isOperator(actor)) return;
  throw new GatewayError(
    'permission_denied',
    `${what} is not below yours, so you may not change it.`,
  );
}

/**
 * Nobody acts on what belongs to somebody else of an equal or higher role, such as a key or a code; `what` names it.
 * Anything without an owner is open to everybody who may act at all.
 */
export async function checkOwner(
  { store, now }: ManagementDeps,
  ownerId: number,
  actor: Actor,
  what: string,
): Promise<void> {
  if (ownerId === actor.id || isOperator(actor)) return;
  // A reader does not act on things without an owner either.
  if (actor.role < ADMIN_ROLE)
    checkBelow(actor.role, actor, `The role of whom this ${what} belongs to`);
  const owner = await store.getUser(ownerId, now());
  if (owner !== undefined)
    checkBelow(owner.role, actor, `The role of whom this ${what} belongs to`);
}
