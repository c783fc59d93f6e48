import { priceOf, type Price, type PriceList } from '../core/quota.js';
import type { ManagementDeps } from './audit.js';
import { listModels } from './channel-views.js';

/** A model as callers may name it. */
export interface CallableModel {
  readonly model: string;
  /** Whether a channel answers for it now. */
  readonly live: boolean;
  readonly price: Price;
  /** Its aliases. */
  readonly aliases: readonly string[];
}

/** Every model with its price, by name, as a key that is bound to `tags` sees it, if any are given. Which channels serve it is for admins to know. */
export async function listCallableModels(
  deps: Pick<ManagementDeps, 'store' | 'now'>,
  prices: PriceList,
  aliases: Readonly<Record<string, string>>,
  tags: readonly string[] = [],
): Promise<CallableModel[]> {
  const models = await listModels(deps);
  const own = new Set(models.map(({ model }) => model));
  const others = Object.entries(aliases).filter(([name]) => !own.has(name));
  return models.map(({ model, channels }) => ({
    model,
    live: channels.some(
      ({ state, tag = '' }) => state.live && (tags.length === 0 || tags.includes(tag)),
    ),
    price: priceOf(prices, model),
    aliases: others.filter(([, of]) => of === model).map(([name]) => name),
  }));
}
