import { priceOf, type Price, type PriceList } from '../core/quota.js';
import type { KeptPrices, Store } from '../store/store.js';

/** Lists of prices that are kept: of years, if they change each week. */
const MOST_KEPT = 200;

/** A model whose price changed; without a name, the price of all models without their own. */
export interface ChangedPrice {
  readonly model: string | undefined;
  readonly before: Price;
  readonly after: Price;
}

export interface PriceChange {
  readonly atMs: number;
  readonly prices: readonly ChangedPrice[];
}

/** Keeps the prices of a gateway that starts, if they are others than those before. */
export async function notePrices(
  store: Pick<Store, 'keepPrices'>,
  prices: PriceList,
  nowMs: number,
): Promise<void> {
  await store.keepPrices({ atMs: nowMs, prices }, MOST_KEPT);
}

/** When prices changed within a span, and which, as far back as they are kept. */
export async function listPriceChanges(
  store: Pick<Store, 'listPrices'>,
  { fromMs = -Infinity, toMs = Infinity }: { readonly fromMs?: number; readonly toMs?: number },
): Promise<PriceChange[]> {
  const kept = await store.listPrices();
  return kept
    .slice(1)
    .map((after, index) => changeOf(kept[index] ?? after, after))
    .filter(({ atMs, prices }) => prices.length > 0 && atMs >= fromMs && atMs <= toMs);
}

function changeOf(
  { prices: before }: KeptPrices,
  { atMs, prices: after }: KeptPrices,
): PriceChange {
  const names = [...new Set([...Object.keys(before.models), ...Object.keys(after.models)])].sort();
  const ofModels = names.map((model) => ({
    ...{ model, before: priceOf(before, model), after: priceOf(after, model) },
  }));
  const ofOthers = { model: undefined, before: before.fallback, after: after.fallback };
  const prices = [...ofModels, ofOthers].filter((price) => !isSame(price.before, price.after));
  return { atMs, prices };
}

function isSame(one: Price, other: Price): boolean {
  return one.per === other.per && one.units === other.units;
}
