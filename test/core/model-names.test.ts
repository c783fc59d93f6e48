import { describe, expect, it } from '@jest/globals';
import { isBuiltIn, resolveModel } from '../../src/core/model-names.js';

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

describe('a name that clients have built in', () => {
  it.each([
    ...[
      'rerank-v3.5',
      'rerank-english-v3.0',
      'rerank-2.5-lite',
      'cohere.rerank-v3-5:0',
      'rerank-2',
    ],
    ...['jina-reranker-v2-base-multilingual', 'mixedbread-ai/mxbai-rerank-large-v1', 'zerank-1'],
    ...[
      'BAAI/bge-reranker-v2-m3',
      'gte-rerank',
      'semantic-ranker-default@latest',
      'amazon.rerank-v1:0',
    ],
    ...[
      'nvidia/nv-rerankqa-mistral-4b-v3',
      'cross-encoder/ms-marco-MiniLM-L-6-v2',
      'Qwen/Qwen3-Reranker-8B',
    ],
  ])('is %s', (name) => {
    expect(isBuiltIn(name)).toBe(true);
  });

  it.each(['local', 'my-reranker', 'rerank', 'prod', ''])('is not %s', (name) => {
    expect(isBuiltIn(name)).toBe(false);
  });
});
