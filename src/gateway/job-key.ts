import { createHash } from 'node:crypto';
import { encodeJson } from '../core/json/json.js';
import type { Job } from './rank.js';

/** Names what a job asks and for whom: equal keys have equal rankings, and belong to the same owner. */
export function jobKey({ owner, model, query, documents, topN, options }: Job): string {
  return createHash('sha256')
    .update(JSON.stringify([owner, model, query, topN, options, documents.count]))
    .update('\n')
    .update(encodeJson({ documents: documents.sources() }))
    .digest('base64');
}
