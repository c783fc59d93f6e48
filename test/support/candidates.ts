import type { Selection } from '../../src/core/model-rules.js';
import { candidatesOf, type CandidatesDeps } from '../../src/gateway/candidates.js';
import type { Availability } from '../../src/gateway/channels/state.js';
import { tiersOf } from '../../src/gateway/offer.js';
import type { Job, Offer } from '../../src/gateway/rank.js';
import { job, plan } from './offers.js';

export const T0 = 1_700_000_000_000;

export interface Given extends Partial<CandidatesDeps> {
  readonly availability?: (offer: Offer) => Availability;
  readonly select?: Selection;
  readonly load?: (offer: Offer) => number;
  readonly expectedMs?: (offer: Offer) => number;
  readonly patienceMs?: (offer: Offer, bytes: number) => number | undefined;
  readonly overtaken?: CandidatesDeps['health']['overtaken'];
}

export function candidates(offers: readonly Offer[], given: Given = {}, asked: Job = job()) {
  return candidatesOf(depsOf(offers, given), asked);
}

export function depsOf(offers: readonly Offer[], given: Given): CandidatesDeps {
  const { select = 'weighted', load = () => 0, expectedMs = () => 0 } = given;
  const { patienceMs = () => undefined, overtaken = () => undefined } = given;
  const costOf = select === 'cheapest' ? ({ id }: Offer) => id % 2 : undefined;
  const availability = given.availability ?? (() => ({ kind: 'ready' as const }));
  return {
    planOf: () => plan(offers, { select, tiers: tiersOf(offers, costOf) }),
    isLive: () => true,
    health: { availability, load, expectedMs, patienceMs, overtaken },
    now: () => T0,
    random: () => 0,
    ...given,
  };
}

/** Takes candidates until there are none. */
export function allOf(from: ReturnType<typeof candidates>): number[] {
  const ids: number[] = [];
  for (let next = from.next(); next !== undefined; next = from.next()) ids.push(next.id);
  return ids;
}
