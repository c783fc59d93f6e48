import { join } from 'node:path';

/** The file of the embedded store. */
export function storeFile(dataDir: string): string {
  return join(dataDir, 'gateway.db');
}

/** The file of the key that encrypts channel credentials if no other is given. */
export function keyFile(dataDir: string): string {
  return join(dataDir, 'encryption.key');
}

/** The file that a backup leaves to record when it was made. */
export function backupMark(dataDir: string): string {
  return join(dataDir, 'last-backup');
}
