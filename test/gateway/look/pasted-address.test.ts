import { describe, expect, it } from '@jest/globals';
import { CHANNEL_DEFAULTS } from '../../../src/core/channel-members.js';
import { CHANNEL_ENABLED, type Channel } from '../../../src/core/channel.js';
import { Secret } from '../../../src/core/secret.js';
import { makeRoute } from '../../../src/gateway/channels/route.js';

function pathAt(provider: string, baseUrl: string, model: string, settings = {}): string {
  const channel: Channel = {
    id: 1,
    name: 'one',
    provider,
    baseUrl,
    credentials: { apiKey: new Secret('k') },
    models: { [model]: model },
    tag: undefined,
    ...CHANNEL_DEFAULTS,
    status: CHANNEL_ENABLED,
    settings,
    origin: 'store',
  };
  const made = makeRoute(channel, new Map(), new Map());
  if (made.kind === 'unusable') throw new Error(made.why);
  return made.route.pathOf({ model, settings: made.route.endpoint.settings });
}

const DEEPINFRA = '/v1/inference/Qwen/Qwen3-Reranker-8B';
const CLOUDFLARE = '/client/v4/accounts/acct/ai/run/@cf/baai/bge-reranker-base';

describe('a base URL that was pasted from the settings for chat', () => {
  it.each([
    ['deepinfra', 'https://h.test/v1/openai', 'Qwen/Qwen3-Reranker-8B', {}, DEEPINFRA],
    ['deepinfra', 'https://h.test/v1/openai/', 'Qwen/Qwen3-Reranker-8B', {}, DEEPINFRA],
    ['deepinfra', 'https://h.test/v1/inference', 'Qwen/Qwen3-Reranker-8B', {}, DEEPINFRA],
    ['deepinfra', 'https://h.test/proxy', 'a/b', {}, '/proxy/v1/inference/a/b'],
    [
      'cloudflare',
      'https://h.test/client/v4/accounts/acct/ai/v1',
      '@cf/baai/bge-reranker-base',
      { accountId: 'acct' },
      CLOUDFLARE,
    ],
    [
      'cloudflare',
      'https://h.test/client/v4',
      '@cf/baai/bge-reranker-base',
      { accountId: 'acct' },
      CLOUDFLARE,
    ],
    ['novita', 'https://h.test/v3/openai', 'm', {}, '/openai/v1/rerank'],
    ['novita', 'https://h.test/openai/v1', 'm', {}, '/openai/v1/rerank'],
    ['openrouter', 'https://h.test/api/v1', 'm', {}, '/api/v1/rerank'],
    ['fireworks', 'https://h.test/inference/v1', 'm', {}, '/inference/v1/rerank'],
    ['zhipu', 'https://h.test/api/paas/v4', 'rerank', {}, '/api/paas/v4/rerank'],
    ['scaleway', 'https://h.test/3f1c/v1', 'm', {}, '/3f1c/v1/rerank'],
    ['302ai', 'https://h.test/jina/v1', 'm', {}, '/jina/v1/rerank'],
  ])('%s at %s is asked for %s with %j at %s', (provider, baseUrl, model, settings, expected) => {
    expect(pathAt(provider, baseUrl, model, settings)).toBe(expected);
  });
});
