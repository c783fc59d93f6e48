import { describe, expect, it } from '@jest/globals';
import { textDocuments } from '../../src/core/documents.js';
import { jobKey } from '../../src/gateway/job-key.js';
import type { Job } from '../../src/gateway/rank.js';
import { job } from '../support/offers.js';

describe('the key of a job', () => {
  it('is the same for another request that asks the same', () => {
    expect(jobKey(job({ requestId: 'one', keyId: 1 }))).toBe(
      jobKey(job({ requestId: 'two', keyId: 2 })),
    );
  });

  it.each<[string, Partial<Job>]>([
    ['owner', { owner: 'another' }],
    ['model', { model: 'another' }],
    ['query', { query: 'another' }],
    ['number of results', { topN: 1 }],
    ['option', { options: { maxTokensPerDoc: 10 } }],
    ['order of the documents', { documents: textDocuments(['c', 'b', 'a']) }],
    ['document', { documents: textDocuments(['a', 'b', 'd']) }],
    ['number of documents', { documents: textDocuments(['a', 'b']), topN: 3 }],
  ])('is another for another %s', (_, given) => {
    expect(jobKey(job(given))).not.toBe(jobKey(job()));
  });

  it('does not confuse where one text ends and the next begins', () => {
    const keys = [
      ['ab', 'c'],
      ['a', 'bc'],
      ['a","b', 'c'],
    ].map((texts) => jobKey(job({ documents: textDocuments(texts), topN: 2 })));

    expect(new Set(keys).size).toBe(3);
  });
});
