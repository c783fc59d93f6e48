import { describe, expect, it } from '@jest/globals';
import { cohere } from '../../src/providers/cohere.js';
import { findProvider } from '../../src/providers/index.js';
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

  it('are fewer where images are sent, and only where they are', () => {
    const limits = (id: string, model: string, hasImages: boolean) =>
      documentLimit(findProvider(id)?.profile ?? tei.profile, model, {}, hasImages);

    expect(limits('dashscope', 'qwen3-vl-rerank', false)).toBe(100);
    expect(limits('dashscope', 'qwen3-vl-rerank', true)).toBe(40);
    // Images beside a text are left out for a model that takes none.
    expect(limits('dashscope', 'qwen3-rerank', true)).toBe(500);
    expect(limits('cohere', 'rerank-v3.5', true)).toBe(10_000);
  });

  it.each([0, -1, 0.5])('are never less than one, whatever is set: %d', (maxDocuments) => {
    expect(documentLimit(tei.profile, 'a-model', { maxDocuments })).toBe(32);
  });
});
