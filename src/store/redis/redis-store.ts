import type { Store } from '../store.js';
import { channelStore } from '../channel-store.js';
import { ownedStores } from '../owned.js';
import type { Vault } from '../vault.js';
import { openAccounts } from './accounts.js';
import { openAdmission } from './admission.js';
import { openChannels } from './channels.js';
import { openEncryption } from './encryption.js';
import { connectRedis } from './connection.js';
import { createKeys } from './keys.js';
import { openDeliveries } from './deliveries.js';
import { openDuties } from './duties.js';
import { openOwned } from './owned.js';
import { openIdentities } from './identities.js';
import { openReplies } from './replies.js';
import { openLogs } from './logs.js';
import { openMoving } from './moving/moving.js';
import { openNodes } from './nodes.js';
import { openRedemption } from './redemption.js';
import { openSessions } from './sessions.js';
import { openShares } from './shares.js';
import { openPlaces } from './places.js';
import { openPrices } from './prices.js';
import { openSecrets } from './secrets.js';
import { openStats } from './stats.js';
import { openTokens } from './tokens.js';
import { openUsers } from './users.js';

export interface RedisStoreOptions {
  /** As `parseRedisUrl` reads it. */
  readonly url: string;
  /** Precedes every key. */
  readonly prefix?: string;
  readonly vault: Vault;
  readonly commandTimeoutMs?: number;
  readonly connectTimeoutMs?: number;
  /** Whose clock decides: the server's own, or, for tests that set it, the time given with each call. */
  readonly clock?: 'server' | 'caller';
  /** Called once, with a message, if the first connection takes a while. */
  readonly onWaiting?: ((why: string) => void) | undefined;
}

const DEFAULT_PREFIX = 'rg:';
const DEFAULT_COMMAND_TIMEOUT_MS = 1_000;
const DEFAULT_CONNECT_TIMEOUT_MS = 10_000;

/** The store for many nodes. Redis is the source of truth: it needs `appendonly yes` and `maxmemory-policy noeviction`. */
export async function openRedisStore({
  url,
  prefix = DEFAULT_PREFIX,
  vault,
  commandTimeoutMs = DEFAULT_COMMAND_TIMEOUT_MS,
  connectTimeoutMs = DEFAULT_CONNECT_TIMEOUT_MS,
  clock = 'server',
  onWaiting,
}: RedisStoreOptions): Promise<Store> {
  const connection = await connectRedis(url, {
    ...{ commandTimeoutMs, connectTimeoutMs, clock, onWaiting },
  });
  const keys = createKeys(prefix);
  const { flush, ...admission } = openAdmission(connection, keys);
  const channels = openChannels(connection, keys);
  return {
    ...admission,
    ...openTokens(connection, keys),
    ...openUsers(connection, keys),
    ...channelStore(channels.backend, vault),
    ...channels.watched,
    ...openEncryption(connection, keys),
    ...openRedemption(connection, keys),
    ...openSessions(connection, keys),
    ...openAccounts(connection, keys),
    ...openLogs(connection, keys),
    ...openMoving(connection, keys, vault),
    ...openNodes(connection, keys),
    ...openDeliveries(connection, keys),
    ...openDuties(connection, keys),
    ...ownedStores((spec) => openOwned(connection, keys, spec)),
    ...openIdentities(connection, keys),
    ...openReplies(connection, keys),
    ...openStats(connection, keys),
    ...openShares(connection, keys),
    ...openPlaces(connection, keys),
    ...openPrices(connection, keys),
    ...openSecrets(connection, keys),
    async ping() {
      await connection.answer(connection.client.ping());
    },
    async close(waitMs) {
      // Commands sent now are answered before the connection quits.
      flush();
      await connection.close(waitMs);
    },
  };
}
