import type { ChannelSnapshot, ChannelStore } from '../store/store.js';

type Source = Pick<ChannelStore, 'channelsVersion' | 'loadChannels'>;

/** By store: what was read last. */
const known = new WeakMap<Source, ChannelSnapshot>();

/**
 * Channels and switches as they are now. They are read only if their version is another one than that of the last reading:
 * open pages ask every few seconds, and changes are rare.
 */
export async function latestChannels(store: Source): Promise<ChannelSnapshot> {
  const last = known.get(store);
  if (last?.version === (await store.channelsVersion())) return last;
  const snapshot = await store.loadChannels();
  known.set(store, snapshot);
  return snapshot;
}
