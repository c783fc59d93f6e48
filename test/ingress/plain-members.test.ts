import { describe, expect, it } from '@jest/globals';
import { fc } from '../support/property.js';
import { arePlain } from '../../src/ingress/plain-members.js';
import { RERANK_MEMBERS } from '../../src/ingress/cohere.js';

describe('arePlain', () => {
  it('takes the usual members', () => {
    expect(arePlain({ model: 'm', query: 'q', top_n: 3, return_documents: true })).toBe(true);
    expect(arePlain({ query: 'q' })).toBe(true);
    expect(arePlain({ query: 'q', top_n: null, max_tokens_per_doc: 4096, user: 'u' })).toBe(true);
    expect(arePlain({ query: 'q', rank_fields: ['text'], max_chunks_per_doc: 10 })).toBe(true);
  });

  it('never takes what the schema refuses or reads in another way', () => {
    const value = fc.oneof(
      fc.jsonValue({ maxDepth: 1 }),
      fc.constantFrom<unknown>('', 'q', 1, 0, -1, 1.5, 1e21, true, 'true', null, 'x'.repeat(257)),
      fc.constantFrom<unknown>([], ['text'], ['text', 'text'], ['title'], [['text']], [null]),
    );
    const members = fc.dictionary(
      fc.constantFrom(
        ...['model', 'query', 'top_n', 'return_documents', 'priority', '__proto__', 'x'],
        ...['rank_fields', 'max_tokens_per_doc', 'max_chunks_per_doc', 'user'],
      ),
      value,
      { maxKeys: 3 },
    );
    let taken = 0;
    fc.assert(
      fc.property(members, fc.boolean(), (some, asks) => {
        const given = asks ? { query: 'q', ...some } : some;
        if (!arePlain(given)) return;
        taken += 1;
        const result = RERANK_MEMBERS.validate(given);
        expect(result.error).toBeUndefined();
        expect(result.value).toEqual(given);
      }),
      { numRuns: 20_000 },
    );
    expect(taken).toBeGreaterThan(10);
  });
});
