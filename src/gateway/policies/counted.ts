import { countTexts, needsCount } from '../../core/eligibility.js';
import { inSteps } from '../../bytes/steps.js';
import { nextTurn } from '../../bytes/turns.js';
import type { Layer, Offer, Rank } from '../rank.js';

/** Lists that are counted in steps; smaller ones when their channels are looked at. */
const LARGE_BYTES = 1_048_576;

/** Counts the texts of a large list in steps where the limits of a channel ask for it: what comes after holds up nobody. */
export function counted(offers: readonly Pick<Offer, 'room'>[]): Layer<Rank> {
  return (next) => (job) => {
    const { documents } = job;
    const isLarge = documents.sizeBytes > LARGE_BYTES;
    if (!isLarge || !offers.some(({ room }) => needsCount(room, job))) return next(job);
    return inSteps(countTexts(documents), nextTurn).then(() => next(job));
  };
}
