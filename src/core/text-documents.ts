import { documentsOf, type Documents } from '../bytes/index.js';

/** Documents from plain strings, for channel checks, tests and anything else that starts from text. */
export function textDocuments(texts: readonly string[]): Documents {
  return documentsOf(texts.map((text) => ({ text, source: text })));
}
