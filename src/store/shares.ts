import type { ShareAnswer, ShareAsk } from '../core/share.js';

/** A limited resource that nodes use together: each takes a share in advance and uses it on its own. */
export interface ShareStore {
  /** Takes a share of the named resource, by the store's clock. */
  takeShare(name: string, ask: ShareAsk, nowMs: number): Promise<ShareAnswer>;
  /** Gives back unused units of a window that ends at a given time, as long as it lasts. */
  returnShare(name: string, units: number, nowMs: number): Promise<void>;
}
