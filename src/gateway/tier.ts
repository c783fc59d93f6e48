import type { Job, Offer, Tier } from './rank.js';

/** The position of a job's owner in a tier, by weight. */
export function placeOf({ cumulative }: Tier, { keyId }: Pick<Job, 'keyId'>): number {
  const total = cumulative.at(-1) ?? 0;
  return total > 0 ? firstAbove(cumulative, fractionOf(String(keyId)) * total) : 0;
}

/** The offers of a tier in the order in which one owner tries them. */
export function ringOf(tier: Tier, job: Pick<Job, 'keyId'>): Offer[] {
  const first = placeOf(tier, job);
  return [...tier.offers.slice(first), ...tier.offers.slice(0, first)];
}

/** A number from 0 to below 1 that is always the same for the same text (FNV-1a). */
function fractionOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  }
  // Short texts that differ only in their last letter must be spread too.
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32;
}

/** The first position whose sum is above a point; an offer of weight 0 never has a higher sum than the one before. */
export function firstAbove(cumulative: Float64Array, point: number): number {
  let low = 0;
  let high = cumulative.length - 1;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((cumulative[middle] ?? 0) > point) high = middle;
    else low = middle + 1;
  }
  return low;
}
