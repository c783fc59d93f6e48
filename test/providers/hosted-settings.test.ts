import { describe, expect, it } from '@jest/globals';
import { Secret } from '../../src/core/secret.js';
import { findProvider } from '../../src/providers/index.js';
import type { SettingValue } from '../../src/providers/provider.js';
import { channelMistakes } from '../../src/providers/settings.js';

function mistakesOf(id: string, settings: Readonly<Record<string, SettingValue>>): string[] {
  const provider = findProvider(id);
  if (provider === undefined) throw new Error(`no provider ${id}`);
  return channelMistakes(provider, { credentials: { apiKey: new Secret('k') }, settings });
}

describe('settings of hosted providers', () => {
  it.each([
    ['cloudflare', {}, 'settings.account_id is missing: account id'],
    [
      'cloudflare-gateway',
      { accountId: 'a' },
      'settings.gateway_id is missing: name of the gateway',
    ],
    ['deepinfra', { queryKey: 'question' }, 'settings.query_key must be query, queries or auto'],
    [
      'elastic',
      { authScheme: 'Digest' },
      'settings.auth_scheme must be one of ApiKey, Basic, Bearer',
    ],
    [
      'isaacus',
      { scoringMethod: 'max' },
      'settings.scoring_method must be one of auto, chunk_max, chunk_avg, chunk_min',
    ],
    [
      'openrouter',
      { provider: '["cohere"]' },
      'settings.provider must be a JSON object, such as {"only": ["cohere"]}',
    ],
    [
      'openrouter',
      { provider: '{only' },
      'settings.provider must be a JSON object, such as {"only": ["cohere"]}',
    ],
    ['zeroentropy', { latency: 'medium' }, 'settings.latency must be fast, slow or empty'],
  ] as const)('of %s say what is wrong with %j', (id, settings, mistake) => {
    expect(mistakesOf(id, settings)).toEqual([mistake]);
  });

  it.each([
    ['cloudflare', { accountId: 'a', gatewayId: 'g' }],
    ['deepinfra', {}],
    ['elastic', { authScheme: 'Bearer', timeout: '30s' }],
    ['isaacus', { scoringMethod: 'chunk_avg' }],
    ['openrouter', { provider: '{"only": ["cohere"]}' }],
    ['zeroentropy-eu', { latency: 'slow' }],
  ] as const)('of %s are fine as %j', (id, settings) => {
    expect(mistakesOf(id, settings)).toEqual([]);
  });
});
