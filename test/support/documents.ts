import { sentDocuments, type Documents } from '../../src/core/documents.js';
import { scanBody } from '../../src/core/json/scan.js';

/** Documents as they come in a body, from the JSON of their list. */
export function documentsIn(list: string | Buffer): Documents {
  const scanned = scanBody(Buffer.from(`{"documents":${list.toString()}}`));
  if (scanned === undefined) throw new Error('the list is not one that is kept as bytes');
  return sentDocuments(scanned);
}

/** A value at whose depth the walk leaves a body to the plain parser. */
export const TOO_DEEP = '['.repeat(64) + ']'.repeat(64);
