import type { Channel } from '../core/channel.js';
import { returnDuty, type Outage } from '../core/outage.js';
import type { Observe } from '../gateway/events.js';
import { disableChannel, returnChannel } from '../management/outages.js';
import type { Store } from '../store/store.js';

/** What the gateway does on its own to channels that are certain to be of no use, and reports. */
export interface ChannelOutages {
  disable(channel: Channel, outage: Outage): Promise<void>;
  letReturn(channel: Channel): Promise<void>;
}

export function createOutages(deps: {
  readonly store: Store;
  readonly now: () => number;
  readonly observe: Observe;
  /** How long after it was disabled a channel is first tried again. */
  readonly firstTryMs: number;
}): ChannelOutages {
  const tell = (channel: Channel, state: 'disabled' | 'returned', outage: Outage): void => {
    deps.observe({
      kind: 'outage',
      channelId: channel.id,
      channel: channel.name,
      state,
      ...outage,
    });
  };
  return {
    async disable(channel, outage) {
      if (!(await disableChannel(deps, channel, outage))) return;
      tell(channel, 'disabled', outage);
      await deps.store.endDuty(returnDuty(channel.id, outage), '', deps.now(), deps.firstTryMs);
    },
    async letReturn(channel) {
      const { outage } = channel;
      if ((await returnChannel(deps, channel)) && outage !== undefined) {
        tell(channel, 'returned', outage);
      }
    },
  };
}
