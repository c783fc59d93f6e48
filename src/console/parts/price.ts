import type { Price } from '../lib/bill.js';
import { wp } from '../words.js';
import { money } from './values.js';

const PER_THOUSAND = 1_000;

/** A price in words; requests and search units are cheap, so they are priced per thousand. */
export function priceText({ per, units }: Price): string {
  const words = wp().models;
  if (units === 0) return words.free;
  return words.prices[per](money(per === 'million_tokens' ? units : units * PER_THOUSAND));
}
