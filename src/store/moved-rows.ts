import { Secret } from '../core/secret.js';
import { MOVED_AT_ONCE, type MovedRow } from './moving.js';
import { CredentialsLockedError } from './store.js';
import type { Credentials } from './vault.js';

/** The secrets of a channel as the text of a row; null if it has none. */
export function credentialsText(credentials: Credentials): string | null {
  const entries = Object.entries(credentials).map(([name, secret]) => [name, secret.reveal()]);
  return entries.length === 0 ? null : JSON.stringify(Object.fromEntries(entries));
}

/** The secrets of a channel from the text of a row. */
export function credentialsIn(text: string | number | null | undefined): Credentials {
  if (typeof text !== 'string') return {};
  const members = JSON.parse(text) as Record<string, string>;
  return Object.fromEntries(
    Object.entries(members).map(([name, value]) => [name, new Secret(value)]),
  );
}

/** Row after row in parts of `MOVED_AT_ONCE`. */
export function* inParts<T>(all: readonly T[]): Generator<readonly T[]> {
  for (let at = 0; at < all.length; at += MOVED_AT_ONCE) yield all.slice(at, at + MOVED_AT_ONCE);
}

/** Refuses a row of a newer release: it cannot be kept whole. */
export function checkColumns(table: string, row: MovedRow, known: readonly string[]): void {
  const name = Object.keys(row).find((column) => !known.includes(column));
  if (name === undefined) return;
  throw new Error(
    `This release does not know the member ${name} of ${table}: import with the release that made the export, or a newer one.`,
  );
}

export function lockedChannel(name: string | number | null | undefined): Error {
  return new CredentialsLockedError(
    `The credentials of channel ${String(name)} cannot be read with the encryption key that is set: set ENCRYPTION_KEY to the one that sealed them.`,
  );
}
