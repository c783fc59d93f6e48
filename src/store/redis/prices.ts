import { canonicalJson } from '../../core/records.js';
import type { KeptPrices, PriceStore } from '../store.js';
import type { Connection } from './connection.js';
import type { Keys } from './keys.js';
import { numberOf, run, SCRIPTS } from './scripts.js';

export function openPrices(connection: Connection, { prices: key }: Keys): PriceStore {
  return {
    async keepPrices({ atMs, prices }, most) {
      const args = [atMs, canonicalJson(prices), most];
      return numberOf(await run(connection, SCRIPTS.keepPrices, key, args)) === 1;
    },

    async listPrices() {
      return (await connection.answer(connection.client.lrange(key, 0, -1))).map(keptOf);
    },
  };
}

function keptOf(record: string): KeptPrices {
  const blank = record.indexOf(' ');
  // Written by `keepPrices`.
  const prices = JSON.parse(record.slice(blank + 1)) as KeptPrices['prices'];
  return { atMs: Number(record.slice(0, blank)), prices };
}
