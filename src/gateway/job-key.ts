import { createHash } from 'node:crypto';
import type { Job } from './rank.js';
import { sha256Of } from './transport/body-hash.js';

/**
 * Identifies what a job asks and for whom: jobs with equal keys belong to the same owner and have equal rankings.
 */
export async function jobKey({
  owner,
  model,
  query,
  documents,
  topN,
  options,
}: Job): Promise<string> {
  const hash = createHash('sha256')
    .update(JSON.stringify([owner, model, query, topN, options, documents.count]))
    .update(await sha256Of(documents.sources().bytes));
  return hash.digest('base64');
}
