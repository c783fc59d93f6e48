import { createHash } from 'node:crypto';
import { encodeJson } from '../core/json/json.js';
import type { Job } from './rank.js';

/** Identifies what a job asks and for whom: jobs with equal keys belong to the same owner and have equal rankings. */
export function jobKey({ owner, model, query, documents, topN, options }: Job): string {
  return createHash('sha256')
    .update(JSON.stringify([owner, model, query, topN, options, documents.count]))
    .update('\n')
    .update(encodeJson({ documents: documents.sources() }))
    .digest('base64');
}
