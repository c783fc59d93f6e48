import { statSync } from 'node:fs';
import type { Store } from '../store.js';
import { channelStore } from '../channel-store.js';
import { ownedStores } from '../owned.js';
import type { Vault } from '../vault.js';
import { openAccounts } from './accounts.js';
import { openAdmission } from './admission.js';
import { openChannels } from './channels.js';
import { openDeliveries } from './deliveries.js';
import { openEncryption } from './encryption.js';
import { openDuties } from './duties.js';
import { openOwned } from './owned.js';
import { openIdentities } from './identities.js';
import { openReplies } from './replies.js';
import { openLogs } from './logs.js';
import { openMoving } from './moving.js';
import { openNodes } from './nodes.js';
import { openDatabase } from './open.js';
import { openRedemption } from './redemption.js';
import { openReservations } from './reservations.js';
import { openSessions } from './sessions.js';
import { openShares } from './shares.js';
import { openPlaces } from './places.js';
import { openPrices } from './prices.js';
import { openSecrets } from './secrets.js';
import { openStats } from './stats.js';
import { openTokens } from './tokens.js';
import { openUsers } from './users.js';

export interface SqliteStoreOptions {
  /** The database file; it is created with its folder if missing. */
  readonly file: string;
  readonly vault: Vault;
  /** How long a call may wait for other processes that use the file. */
  readonly busyTimeoutMs?: number;
  /** How often to look for channel changes by other processes. */
  readonly pollMs?: number;
}

/**
 * The embedded store: one file on a local disk, which several processes of one machine may share. Throws if a newer release
 * has written the file, or if there is no SQLite to use.
 */
export function openSqliteStore({
  file,
  vault,
  busyTimeoutMs = 2_000,
  pollMs = 25,
}: SqliteStoreOptions): Store {
  const database = openDatabase(file, busyTimeoutMs);
  const reservations = openReservations(database);
  const channels = openChannels(database, pollMs, isGoneSince(file));
  const answer = database.prepare<{ readonly version: number }>(
    'SELECT version FROM channels_version',
  );
  return {
    ...openAdmission(database, reservations),
    ...openTokens(database, reservations),
    ...channelStore(channels.backend, vault),
    ...channels.watched,
    ...openEncryption(database),
    ...openUsers(database, reservations),
    ...openRedemption(database),
    ...openSessions(database),
    ...openAccounts(database),
    ...openLogs(database),
    ...openMoving(database, vault),
    ...openNodes(database),
    ...openDeliveries(database),
    ...openDuties(database),
    ...ownedStores((spec) => openOwned(database, spec)),
    ...openIdentities(database),
    ...openReplies(database),
    ...openStats(database),
    ...openShares(database),
    ...openPlaces(database),
    ...openPrices(database),
    ...openSecrets(database),

    ping: () =>
      database.read(() => {
        answer.get();
      }),

    close: () => {
      channels.stopWatching();
      return database.close();
    },
  };
}

/** Tells whether a file is no longer the one that it is now. SQLite goes on with one that was removed, and loses it at the end. */
function isGoneSince(file: string): () => boolean {
  const inode = (): number | undefined => statSync(file, { throwIfNoEntry: false })?.ino;
  const opened = inode();
  return () => inode() !== opened;
}
