import { withoutKeys } from '../core/secret.js';
import type { AuditChange, Role, Store } from '../store/store.js';
import { keptDetail } from './changes.js';

/** What every management function needs. Time and chance come from outside. */
export interface ManagementDeps {
  readonly store: Store;
  readonly now: () => number;
  /** Bytes from a cryptographic source. */
  readonly randomBytes: (count: number) => Uint8Array;
}

/** The person who asks: decides what they may change, and is named in the audit log. */
export interface Actor {
  /** `undefined` for somebody who works on the store itself, at the command line. */
  readonly id: number | undefined;
  readonly name: string;
  readonly role: Role;
  readonly address: string | undefined;
  /** Why, in their own words; goes into the audit log with whatever they do. */
  readonly reason?: string | undefined;
}

/** Reads all that admins read, and changes nothing but what is their own. */
export const AUDITOR_ROLE = 5;
export const ADMIN_ROLE = 10;
export const ROOT_ROLE = 100;

const MAX_AUDIT_ENTRIES = 100_000;

/** What a write acted on, for people. */
interface ActedOn {
  /** What it was called. */
  readonly name?: string;
  /** What became of its members; holds no secrets. */
  readonly changes?: readonly AuditChange[];
}

/** Keeps a record of a write that has happened. `detail` must hold no secrets. */
export async function recordAudit(
  { store, now }: Pick<ManagementDeps, 'store' | 'now'>,
  actor: Actor,
  action: string,
  target: string,
  detail: Readonly<Record<string, unknown>> = {},
  { name = nameIn(target, actor), changes = [] }: ActedOn = {},
): Promise<void> {
  const kept = keptDetail(detail);
  await store.appendAudit(
    {
      atMs: now(),
      actorId: actor.id,
      actor: actor.name,
      action,
      target,
      ...(name === undefined ? {} : { name }),
      detail: cleaned(actor.reason === undefined ? kept : { ...kept, reason: actor.reason }),
      ...(changes.length === 0 ? {} : { changes: cleaned(changes) }),
      address: actor.address,
    },
    MAX_AUDIT_ENTRIES,
  );
}

/** The same without the keys that somebody has put into it. */
function cleaned<T extends object>(kept: T): T {
  const text = JSON.stringify(kept);
  const clean = withoutKeys(text);
  // Only characters inside of strings have been replaced.
  return clean === text ? kept : (JSON.parse(clean) as T);
}

/** The name of a target that says it itself: a tag, and oneself. */
function nameIn(target: string, actor: Actor): string | undefined {
  if (target.startsWith('tag:')) return target.slice('tag:'.length);
  return target === `user:${actor.id ?? ''}` ? actor.name : undefined;
}
