import type { RerankRequest } from '../core/rerank.js';
import type { UpstreamFailure } from '../core/retry.js';

/** So much of a text in a message is a quotation; shorter ones are words that any message may have. */
const QUOTED_CHARACTERS = 12;
/** Of a text, as much as has that many characters once its white space is like a message's. */
const LOOKED_AT_CHARACTERS = 64;

/** Providers quote what they refuse. The caller may see its own words again; the log must not have them. */
export function loggable(
  { status, message }: UpstreamFailure,
  { query, documents }: Pick<RerankRequest, 'query' | 'documents'>,
): string {
  // Without a status nobody answered: the words are ours.
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
  return quotes ? '[the message quotes the request]' : message;
}
