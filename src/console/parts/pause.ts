import { clock } from '../lib/format.js';
import { faultWords, wp } from '../words.js';
import { style } from './values.js';

/** Why a node leaves a channel alone, and until when. */
export function pauseWords(why: string, until: number | null): string {
  const words = faultWords(why);
  return until === null ? words : wp().nodes.untilThen(words, clock(until, style()));
}
