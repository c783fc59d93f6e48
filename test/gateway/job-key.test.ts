import { describe, expect, it } from '@jest/globals';
import { textDocuments } from '../../src/core/text-documents.js';
import { jobKey } from '../../src/gateway/job-key.js';
import type { Job } from '../../src/gateway/rank.js';
import { documentsIn } from '../support/documents.js';
import { job } from '../support/offers.js';

describe('the key of a job', () => {
  it('is the same for another request that asks the same', async () => {
    const key = await jobKey(job({ requestId: 'one', keyId: 1 }));

    expect(await jobKey(job({ requestId: 'two', keyId: 2 }))).toBe(key);
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
  ])('is another for another %s', async (_, given) => {
    expect(await jobKey(job(given))).not.toBe(await jobKey(job()));
  });

  it('does not confuse where one text ends and the next begins', async () => {
    const lists = [
      ['ab', 'c'],
      ['a', 'bc'],
      ['a","b', 'c'],
    ];
    const keys = lists.map((texts) => jobKey(job({ documents: textDocuments(texts), topN: 2 })));

    expect(new Set(await Promise.all(keys)).size).toBe(3);
  });

  it('does not depend on the form in which the list is kept', async () => {
    const texts = ['a', 'b "c"', 'é'];
    const [kept, sent] = [textDocuments(texts), documentsIn(JSON.stringify(texts))];

    expect(await jobKey(job({ documents: sent }))).toBe(await jobKey(job({ documents: kept })));
  });
});
