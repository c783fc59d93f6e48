import { describe, expect, it } from '@jest/globals';
import { Json } from '../../../src/core/json.js';
import { readSigns, rerankersOf } from '../../../src/gateway/look/signs.js';

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
    ['SGLang', { '/get_model_info': { model_path: 'm' } }, ['sglang'], ['m'], undefined],
    [
      'llama.cpp',
      { '/props': { default_generation_settings: {}, build_info: 'b1' } },
      ['llamacpp'],
      [],
      undefined,
    ],
    ['Triton', { '/v2': { name: 'triton' } }, ['triton'], [], undefined],
    ['NIM', { '/v1/health/ready': { object: 'health.response' } }, ['nim'], [], undefined],
    ['a bare list of models', { '/models': [{ id: 'm' }] }, [], ['m'], undefined],
    [
      "LiteLLM's proxy",
      { '/health/liveliness': "I'm alive!", '/v1/models': MODELS('openai') },
      ['litellm'],
      ['m'],
      undefined,
    ],
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
      {
        ...{
          '/info': { name: 'a blog' },
          '/v2': { name: 'not triton' },
          '/health/liveliness': 'ok',
        },
        ...{ '/v1/health/ready': { object: 'ok' }, '/props': { default_generation_settings: {} } },
      },
      [],
      [],
      undefined,
    ],
    ['nothing', {}, [], [], undefined],
  ] as const)(
    'is read from the replies of %s',
    async (_what, replies, providers, models, mostDocuments) => {
      expect(await saying(replies)).toMatchObject({ providers, models, mostDocuments });
    },
  );

  it('is not hidden by a fault of ours', async () => {
    await expect(readSigns(() => Promise.reject(new TypeError('a fault')))).rejects.toThrow(
      'a fault',
    );
  });
});

describe('the models that may rerank', () => {
  it.each<[string, Readonly<Record<string, unknown>>, string[]]>([
    [
      'those of which Infinity says so',
      {
        '/v1/models': {
          data: [
            { id: 'intfloat/e5', owned_by: 'infinity', capabilities: ['embed'] },
            { id: 'own/name', owned_by: 'infinity', capabilities: ['rerank'] },
          ],
        },
      },
      ['own/name'],
    ],
    [
      'those of which LiteLLM says so, and those of which it says nothing',
      {
        '/v1/models': { data: ['gpt', 'ranks', 'other'].map((id) => ({ id })) },
        '/v1/model/info': {
          data: [
            { model_name: 'gpt', model_info: { mode: 'chat' } },
            { model_name: 'other', model_info: { mode: null } },
            { model_name: 'ranks', model_info: { mode: 'rerank' } },
          ],
        },
      },
      ['ranks', 'other'],
    ],
    [
      'the likeliest first by their names, without embedders, where the server says nothing',
      { '/v1/models': { data: ['bge-m3', 'qwen3', 'bge-reranker-base'].map((id) => ({ id })) } },
      ['bge-reranker-base', 'qwen3'],
    ],
  ])('are %s', async (_which, replies, expected) => {
    expect(rerankersOf(await saying(replies))).toEqual(expected);
  });
});
