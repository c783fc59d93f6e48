import type { PriceList } from '../core/quota.js';

/** Prices that took effect at a moment. */
export interface KeptPrices {
  readonly atMs: number;
  readonly prices: PriceList;
}

export interface PriceStore {
  /** Keeps these prices unless they are the last ones kept, and drops the oldest beyond `most`; resolves to whether it did. */
  keepPrices(kept: KeptPrices, most: number): Promise<boolean>;
  /** In the order in which they were kept. */
  listPrices(): Promise<readonly KeptPrices[]>;
}
