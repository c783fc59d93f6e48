import type { ShareAnswer, ShareAsk } from '../core/share.js';

/** What nodes use together of something that is limited: each takes a share in advance and uses it on its own. */
export interface ShareStore {
  /** Takes a share of what a name stands for, by the store's clock. */
  takeShare(name: string, ask: ShareAsk, nowMs: number): Promise<ShareAnswer>;
  /** Gives back what was not used in a window that ends at a time, while it lasts. */
  returnShare(name: string, units: number, nowMs: number): Promise<void>;
}
