import { randomBytes, randomUUID } from 'node:crypto';
import { existsSync, linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { StoreSettings } from './config.js';
import { systemCode } from './core/errors.js';
import { Secret } from './core/secret.js';
import { StoreUnavailableError, type Store } from './store/store.js';
import { createVault } from './store/vault.js';

/**
 * Opens the store that the settings name: Redis, or the embedded one in the data folder. Drivers are loaded only when they
 * are used. `connectTimeoutMs` bounds the first connection where the caller has less patience than a gateway; `onWaiting` is
 * told, in words, when it has to be waited for.
 */
export async function openStore(
  settings: StoreSettings,
  patience: {
    readonly connectTimeoutMs?: number;
    readonly onWaiting?: (why: string) => void;
  } = {},
): Promise<Store> {
  if (settings.redisUrl !== undefined) {
    const { openRedisStore } = await import('./store/redis/redis-store.js');
    return openRedisStore({
      url: settings.redisUrl.reveal(),
      prefix: settings.redisPrefix,
      commandTimeoutMs: settings.commandTimeoutMs,
      vault: createVault(settings.encryptionKey),
      ...patience,
    });
  }
  const { openSqliteStore } = await import('./store/sqlite/sqlite-store.js');
  return openSqliteStore({
    file: storeFile(settings.dataDir),
    vault: createVault(settings.encryptionKey ?? embeddedKey(settings.dataDir)),
  });
}

/** Where the embedded store keeps everything. */
export function storeFile(dataDir: string): string {
  return join(dataDir, 'gateway.db');
}

/**
 * The key that encrypts channel credentials where none was given: made once, beside the embedded store, readable by its
 * owner alone. It keeps credentials out of a copy of the database file, not from somebody who can read the folder.
 */
function embeddedKey(dataDir: string): Secret {
  const file = join(dataDir, 'encryption.key');
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  if (!existsSync(file)) makeKey(file);
  const key = readFileSync(file, 'utf8').trim();
  if (key === '')
    throw new StoreUnavailableError(`${file} is empty: put the key back, or delete it`);
  return new Secret(key);
}

/** The file appears with the key already in it: workers that start together read no half of one. */
function makeKey(file: string): void {
  const draft = `${file}.${randomUUID()}`;
  writeFileSync(draft, randomBytes(32).toString('hex'), { flag: 'wx', mode: 0o600 });
  try {
    linkSync(draft, file);
  } catch (error) {
    // Another process has made it at this very moment.
    if (systemCode(error) !== 'EEXIST') throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}
