import { expect, it } from '@jest/globals';
import { textDocuments } from '../../src/core/text-documents.js';
import { loggable } from '../../src/gateway/loggable.js';

const ASKED = {
  query: 'who was the first person on the moon?',
  documents: textDocuments(['  Neil\n  Armstrong landed in 1969.', 'short one']),
};
const HIDDEN = '[the message quotes the request]';

it.each([
  ['words of its own', 'model not found: rerank-9', 'model not found: rerank-9'],
  ['the query', `invalid query "${ASKED.query}"`, HIDDEN],
  ['the beginning of a document, with other white space', 'too long: Neil Armstrong la...', HIDDEN],
  ['a key', `refused: sk-${'a1'.repeat(24)}`, 'refused: sk-a1a1…'],
  ['words that a short document has too', 'a short one is refused', 'a short one is refused'],
])('the log has a message with %s as it may', (_what, message, logged) => {
  expect(loggable({ kind: 'caller', status: 400, message }, ASKED)).toBe(logged);
});

it('the log has our own words as they are: nobody answered', () => {
  const message = `no connection for ${ASKED.query}`;

  expect(loggable({ kind: 'transient', status: undefined, message }, ASKED)).toBe(message);
});
