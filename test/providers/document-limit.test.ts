import { describe, expect, it } from '@jest/globals';
import { cohere } from '../../src/providers/cohere.js';
import { documentLimit } from '../../src/providers/provider.js';
import { tei } from '../../src/providers/tei.js';
import { vllm } from '../../src/providers/vllm.js';

describe('the documents that one request to a channel may have', () => {
  it('are as many as the provider takes by default', () => {
    expect(documentLimit(tei.profile, 'a-model', {})).toBe(32);
    expect(documentLimit(cohere.profile, 'rerank-v3.5', {})).toBe(10_000);
  });

  it('are as many as the server was started for', () => {
    expect(documentLimit(tei.profile, 'a-model', { maxDocuments: 512 })).toBe(512);
  });

  it('are not limited where nobody says so', () => {
    expect(documentLimit(vllm.profile, 'a-model', {})).toBeUndefined();
  });

  it('are never less than one', () => {
    expect(documentLimit(tei.profile, 'a-model', { maxDocuments: 0 })).toBe(32);
  });
});
