import { randomBytes } from 'node:crypto';
import type { Config } from '../config/values.js';
import type { Background } from '../gateway/background.js';
import type { Observe } from '../gateway/events.js';
import { Settlements } from '../gateway/settlements.js';
import { StoreHealth } from '../gateway/store-health.js';
import { TokenCache } from '../gateway/token-cache.js';
import { MASK_KEY_BYTES, MaskedIds } from '../management/masked-ids.js';
import type { Store } from '../store/store.js';
import { createOutages, type ChannelOutages } from './channel-outages.js';
import type { DataPlaneParts } from './data-plane.js';
import { announceConfig } from './store-upkeep.js';

/** The name of the key that ids of log entries are masked with, on all nodes alike. */
const MASK_NAME = 'log-ids';

/** What this process remembers of the store, and has yet to tell it. */
export interface Remembered {
  readonly storeHealth: StoreHealth;
  readonly settlements: Settlements;
  readonly credentials: TokenCache;
  readonly outages: ChannelOutages;
  readonly logIds: MaskedIds;
  /** What must happen when the store answers, is back or has lost writes, and when a channel is of no use. */
  readonly reactions: Pick<DataPlaneParts, 'onNews' | 'onStoreBack' | 'onStoreLost' | 'onOutage'>;
}

/** Begins to use the store: it has the declared configuration when this resolves. */
export async function beginStore(
  config: Config,
  parts: {
    readonly store: Store;
    readonly observe: Observe;
    readonly background: Background;
    readonly now: () => number;
  },
): Promise<Remembered> {
  const { store, observe, background, now } = parts;
  await store.begin();
  await announceConfig(config, store, now());
  const maskKey = await store.keepSecret(MASK_NAME, randomBytes(MASK_KEY_BYTES).toString('hex'));
  const storeHealth = new StoreHealth(observe);
  const settlements = new Settlements({ store, observe, now });
  const credentials = new TokenCache({ store, now, isEmptied: () => storeHealth.isEmptied });
  const firstTryMs = config.traffic.returnAfterMs;
  const outages = createOutages({ store, now, observe, firstTryMs });
  return {
    ...{ storeHealth, settlements, credentials, outages },
    logIds: new MaskedIds(Buffer.from(maskKey, 'hex')),
    reactions: {
      onNews: (...news) => storeHealth.heard(...news),
      onStoreBack: () => settlements.storeIsBack(),
      onStoreLost: () => {
        credentials.clear();
        // The restored store may be older than the configuration of this process.
        background.run('re-declaring the configuration in the store', () =>
          announceConfig(config, store, now()),
        );
        background.run('keeping the key of log ids', async () => {
          await store.keepSecret(MASK_NAME, maskKey);
        });
      },
      onOutage: (route, outage) => {
        background.run('a channel could not be disabled', () =>
          outages.disable(route.channel, outage),
        );
      },
    },
  };
}
