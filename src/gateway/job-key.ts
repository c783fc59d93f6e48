import { createHash } from 'node:crypto';
import { Pace } from '../bytes/steps.js';
import { nextTurn } from '../bytes/turns.js';
import type { Job } from './rank.js';

/** How much is hashed in one go. */
const STEP_BYTES = 262_144;

/**
 * Identifies what a job asks and for whom: jobs with equal keys belong to the same owner and have equal rankings. Long lists
 * are hashed in steps.
 */
export async function jobKey(
  { owner, model, query, documents, topN, options, scope }: Job,
  pause: () => Promise<void> = nextTurn,
): Promise<string> {
  const hash = createHash('sha256')
    .update(JSON.stringify([owner, model, query, topN, options, documents.count]))
    .update('\n{"documents":');
  const pace = new Pace(STEP_BYTES);
  for (const piece of documents.sources().pieces()) {
    for (let at = 0; at < piece.length; at += STEP_BYTES) {
      const step = piece.subarray(at, at + STEP_BYTES);
      hash.update(step);
      if (!pace.fills(step.length)) continue;
      await pause();
      scope.throwIfEnded();
    }
  }
  return hash.update('}').digest('base64');
}
