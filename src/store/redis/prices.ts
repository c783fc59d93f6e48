import { canonicalJson } from '../../core/records.js';
import type { KeptPrices, PriceStore } from '../store.js';
import { change } from './change.js';
import type { Connection } from './connection.js';
import type { Keys } from './keys.js';

export function openPrices(connection: Connection, { prices: key }: Keys): PriceStore {
  return {
    keepPrices({ atMs, prices }, most) {
      const text = canonicalJson(prices);
      return change(connection, [['LINDEX', key, -1]], atMs, ([last]) => {
        if (typeof last === 'string' && textOf(last) === text) return { result: false };
        const writes = [
          ['RPUSH', key, `${atMs} ${text}`],
          ['LTRIM', key, -most, -1],
        ] as const;
        return { result: true, writes };
      });
    },

    async listPrices() {
      return (await connection.answer(connection.client.lrange(key, 0, -1))).map(keptOf);
    },
  };
}

/** A record is the time and the prices. */
function keptOf(record: string): KeptPrices {
  // Written by `keepPrices`.
  const prices = JSON.parse(textOf(record)) as KeptPrices['prices'];
  return { atMs: Number.parseInt(record, 10), prices };
}

function textOf(record: string): string {
  return record.slice(record.indexOf(' ') + 1);
}
