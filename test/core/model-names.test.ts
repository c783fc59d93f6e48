import { describe, expect, it } from '@jest/globals';
import { resolveModel } from '../../src/core/model-names.js';

const MODELS = new Set(['moon', 'cohere/moon', 'sun', 'BAAI/bge-reranker-v2-m3']);
const exists = (model: string) => MODELS.has(model);

describe('resolveModel', () => {
  it.each<[string, string | undefined]>([
    ['moon', 'moon'],
    ['cohere/moon', 'cohere/moon'],
    ['cohere/sun', 'sun'],
    ['mixedbread-ai/sun', 'sun'],
    ['litellm_proxy/cohere/sun', 'sun'],
    ['accounts/fireworks/models/sun', 'sun'],
    ['huggingface/BAAI/bge-reranker-v2-m3', 'BAAI/bge-reranker-v2-m3'],
    ['sunny', 'sun'],
    ['voyage/sunny', 'sun'],
    ['own', 'moon'],
    ['to-nowhere', undefined],
    ['cohere/', undefined],
    ['someone/sun', undefined],
    ['constructor', undefined],
    ['', undefined],
  ])('takes %s for %s', (name, model) => {
    const key = { own: 'moon' };
    const gateway = { sunny: 'sun', own: 'sun', moon: 'sun', 'to-nowhere': 'nobody' };

    expect(resolveModel(name, exists, key, gateway)).toBe(model);
  });
});
