import { describe, expect, it } from '@jest/globals';
import { fc } from '../support/property.js';
import { arePlain } from '../../src/ingress/plain-members.js';
import { RERANK_MEMBERS } from '../../src/ingress/cohere.js';

describe('arePlain', () => {
  it('takes the usual members', () => {
    expect(arePlain({ model: 'm', query: 'q', top_n: 3, return_documents: true })).toBe(true);
    expect(arePlain({ query: 'q' })).toBe(true);
  });

  it('never takes what the schema refuses or reads in another way', () => {
    const value = fc.oneof(
      fc.jsonValue({ maxDepth: 1 }),
      fc.constantFrom('', 'q', 1, 0, -1, 1.5, 1e21, true, 'true', null, 'x'.repeat(257)),
    );
    const members = fc.dictionary(
      fc.constantFrom('model', 'query', 'top_n', 'return_documents', 'priority', '__proto__', 'x'),
      value,
    );
    let taken = 0;
    fc.assert(
      fc.property(members, (given) => {
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
