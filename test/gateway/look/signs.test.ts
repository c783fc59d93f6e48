import { describe, expect, it } from '@jest/globals';
import { Json } from '../../../src/core/json.js';
import { readSigns } from '../../../src/gateway/look/signs.js';

/** What a server says about itself that answers these paths, and no others. */
const saying = (replies: Readonly<Record<string, unknown>>) =>
  readSigns((path) =>
    Promise.resolve(Object.hasOwn(replies, path) ? new Json(replies[path]) : undefined),
  );
const MODELS = (owner: string) => ({ data: [{ id: 'm', owned_by: owner }] });

describe('what a server says about itself', () => {
  it.each([
    [
      'a reranker of TEI',
      { '/info': { model_id: 'bge', model_type: { reranker: {} }, max_client_batch_size: 32 } },
      ['tei'],
      ['bge'],
      32,
    ],
    [
      'embeddings of TEI',
      { '/info': { model_id: 'e5', model_type: { embedding: {} } } },
      ['tei-embeddings'],
      ['e5'],
      undefined,
    ],
    [
      'vLLM',
      { '/version': { version: '0.9' }, '/v1/models': MODELS('vllm') },
      ['vllm'],
      ['m'],
      undefined,
    ],
    [
      'Ollama',
      { '/api/version': { version: '1' }, '/api/tags': { models: [{ name: 'm:1' }] } },
      ['ollama'],
      ['m:1'],
      undefined,
    ],
    ['a bare list of models', { '/models': [{ id: 'm' }] }, [], ['m'], undefined],
    [
      'a gateway such as this',
      { '/version': { version: '1' }, '/v1/models': MODELS('rerank-gateway') },
      ['rerank-gateway'],
      ['m'],
      undefined,
    ],
    ['an owner that is not a server', { '/v1/models': MODELS('someone') }, [], ['m'], undefined],
    [
      'something else there',
      { '/info': { name: 'a blog' }, '/v2': { name: 'not triton' } },
      [],
      [],
      undefined,
    ],
    ['nothing', {}, [], [], undefined],
  ] as const)(
    'is read from the replies of %s',
    async (_what, replies, providers, models, mostDocuments) => {
      expect(await saying(replies)).toEqual({ providers, models, mostDocuments });
    },
  );

  it('is not hidden by a fault of ours', async () => {
    await expect(readSigns(() => Promise.reject(new TypeError('a fault')))).rejects.toThrow(
      'a fault',
    );
  });
});
