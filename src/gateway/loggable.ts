import type { RerankRequest } from '../core/rerank.js';
import type { UpstreamFailure } from '../core/retry.js';
import { withoutKeys } from '../core/secret.js';

/** A text of at least this length found in a message is a quotation; shorter ones are words that any message may contain. */
const QUOTED_CHARACTERS = 12;
/** The beginning of a text, up to this many characters, with white space as in a message. */
const LOOKED_AT_CHARACTERS = 64;

/** Providers quote what they refuse, and name keys. The caller may see its own words again; the log must not contain them. */
export function loggable(
  { status, message }: UpstreamFailure,
  { query, documents }: Pick<RerankRequest, 'query' | 'documents'>,
): string {
  // Without a status there was no answer: the words are ours.
  if (status === undefined || message.length < QUOTED_CHARACTERS) return message;
  const isQuoted = (text: string): boolean => {
    const start = text.trimStart().slice(0, LOOKED_AT_CHARACTERS).replace(/\s+/g, ' ');
    const words = start.slice(0, QUOTED_CHARACTERS);
    return words.length === QUOTED_CHARACTERS && message.includes(words);
  };
  let quotes = isQuoted(query);
  for (let index = 0; index < documents.count && !quotes; index += 1) {
    quotes = isQuoted(documents.text(index));
  }
  return quotes ? '[the message quotes the request]' : withoutKeys(message);
}
