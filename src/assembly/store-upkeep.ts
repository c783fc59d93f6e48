import type { Config } from '../config/values.js';
import { GatewayError } from '../core/errors.js';
import type { Background } from '../gateway/background.js';
import type { ChannelTable } from '../gateway/channels/table.js';
import { EMPTIED, type StoreHealth } from '../gateway/store-health.js';
import { notePrices } from '../management/price-changes.js';
import { recoverRedemptions } from '../management/redemption-codes.js';
import { StoreUnavailableError, type Store } from '../store/store.js';

const RECOVER_EVERY_MS = 60_000;
const TRIM_EVERY_MS = 3_600_000;
const DAY_MS = 24 * 3_600_000;

/**
 * Declares the channels, initial switches and prices of the configuration to the store. Switches that people have set stay.
 */
export async function announceConfig(
  config: Pick<Config, 'channels' | 'tags' | 'prices'>,
  store: Store,
  nowMs: number,
): Promise<void> {
  if (config.channels !== undefined) {
    await store.declareChannels(config.channels.map(({ declared }) => declared));
  }
  await notePrices(store, config.prices, nowMs);
  if (config.tags.length === 0) return;
  const { switches } = await store.loadChannels();
  const known = new Set(switches.map(({ tag }) => tag));
  for (const { tag, disabled, reason } of config.tags) {
    if (known.has(tag)) continue;
    await store.setTagSwitch({
      tag,
      disabled,
      reason,
      changedTime: Math.floor(nowMs / 1000),
      changedBy: 'config',
    });
  }
}

/** @throws GatewayError with the reason if the store would admit nobody. */
export async function judgeStore(channels: ChannelTable, health: StoreHealth): Promise<void> {
  try {
    // A write, like an admission: a store that can be read may be full.
    await channels.refresh();
  } catch (error) {
    const why =
      error instanceof StoreUnavailableError
        ? error.message
        : 'It answers with an error; the log has it.';
    throw new GatewayError('store_unavailable', `The store cannot be used: ${why}`, {
      ...{ retryAfterMs: 1_000, cause: error },
    });
  }
  if (health.isEmptied) {
    throw new GatewayError('store_unavailable', EMPTIED, { retryAfterMs: 1_000 });
  }
  await channels.ensureFresh();
}

/** Stops one of the recurring jobs. */
type Stop = () => void;

/** Begins what is done in the store now and again: interrupted redemptions are completed, old log entries removed. */
export function keepUp(
  store: Store,
  now: () => number,
  { run }: Background,
  { retentionDays, auditDays }: Pick<Config['log'], 'retentionDays' | 'auditDays'>,
): { readonly stopRecovering: Stop; readonly stopTrimming: Stop } {
  return {
    stopTrimming: often(TRIM_EVERY_MS, () => {
      run('removing old log entries', async () => {
        const audit = auditDays === 0 ? retentionDays : auditDays;
        await store.trimLogs(now() - retentionDays * DAY_MS, now() - audit * DAY_MS);
      });
    }),
    stopRecovering: often(RECOVER_EVERY_MS, () => {
      run('completing interrupted redemptions', () => recoverRedemptions({ store, now }));
    }),
  };
}

/** Does something now and at intervals. */
function often(everyMs: number, act: () => void): Stop {
  act();
  const timer = setInterval(act, everyMs);
  timer.unref();
  return () => clearInterval(timer);
}
