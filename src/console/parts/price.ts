import type { ReplyOf } from '../api/call.js';
import { useRead } from '../api/query.js';
import type { Price } from '../lib/bill.js';
import { wp } from '../words.js';
import type { Mark } from './chart.js';
import { money } from './values.js';

const PER_THOUSAND = 1_000;

/** A price in words; requests and search units are cheap, so they are priced per thousand. */
export function priceText({ per, units }: Price): string {
  const words = wp().models;
  if (units === 0) return words.free;
  return words.prices[per](money(per === 'million_tokens' ? units : units * PER_THOUSAND));
}

/** When prices changed within a range, and what changed, for a chart. */
export function usePriceMarks(range: {
  readonly start_timestamp: number;
  readonly end_timestamp: number;
}): readonly Mark[] {
  const { data = [] } = useRead('listPriceChanges', {
    // Exclusive there, inclusive here.
    query: { ...range, end_timestamp: range.end_timestamp - 1 },
  });
  return priceMarks(data);
}

export function priceMarks(changes: ReplyOf<'listPriceChanges'>): readonly Mark[] {
  const words = wp().models;
  return changes.map(({ changed_at: at, prices }) => {
    const [first] = prices;
    const model = first?.model ?? words.anyOther;
    const change =
      first === undefined
        ? ''
        : words.priceChanged(model, priceText(first.before), priceText(first.after));
    return { at, label: words.pricesChanged(change, prices.length - 1) };
  });
}
