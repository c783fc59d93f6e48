import type { ChannelStore } from '../../src/store/store.js';

const serials = new Map<string, number>();

/** Tells the store that a node has a version in force, as a gateway does. */
export async function report(
  store: ChannelStore,
  nodeId: string,
  version: number,
  nowMs: number,
  ttlMs: number,
): Promise<Awaited<ReturnType<ChannelStore['syncNode']>>> {
  const serial = (serials.get(nodeId) ?? 0) + 1;
  serials.set(nodeId, serial);
  return store.syncNode({ nodeId, version, serial, heardSerial: 0, nowMs, ttlMs });
}
