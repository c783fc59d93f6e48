import { canonicalJson } from '../../core/records.js';
import type { KeptPrices, PriceStore } from '../store.js';
import type { Database } from './database.js';

interface Row {
  readonly id: number;
  readonly at_ms: number;
  readonly prices: string;
}

export function openPrices(database: Database): PriceStore {
  const last = database.prepare<Row>('SELECT * FROM price_lists ORDER BY id DESC LIMIT 1');
  const insert = database.prepare<Row>(
    'INSERT INTO price_lists (at_ms, prices) VALUES (?, ?) RETURNING *',
  );
  const bound = database.prepare<never>('DELETE FROM price_lists WHERE id <= ?');
  const all = database.prepare<Row>('SELECT * FROM price_lists ORDER BY id');
  return {
    keepPrices: ({ atMs, prices }, most) =>
      database.write(() => {
        const text = canonicalJson(prices);
        if (last.get()?.prices === text) return false;
        bound.run((insert.get(atMs, text)?.id ?? 0) - most);
        return true;
      }),

    listPrices: () => database.read(() => all.all().map(keptOf)),
  };
}

function keptOf({ at_ms: atMs, prices }: Row): KeptPrices {
  // Written by `keepPrices`.
  return { atMs, prices: JSON.parse(prices) as KeptPrices['prices'] };
}
