import { join } from 'node:path';
import type { StoreSettings } from './config.js';
import type { Store } from './store/store.js';
import { createVault } from './store/vault.js';

/**
 * Opens the store that the settings name: Redis, or the embedded one in the data folder. Drivers are loaded only when they
 * are used. `connectTimeoutMs` bounds the first connection where the caller has less patience than a gateway.
 */
export async function openStore(
  settings: StoreSettings,
  patience: { readonly connectTimeoutMs?: number } = {},
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
    vault: createVault(settings.encryptionKey),
  });
}

/** Where the embedded store keeps everything. */
export function storeFile(dataDir: string): string {
  return join(dataDir, 'gateway.db');
}
