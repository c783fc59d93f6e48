import { expect, it } from '@jest/globals';
import { Secret } from '../../src/core/secret.js';
import { findProvider } from '../../src/providers/index.js';
import type { SettingValue } from '../../src/providers/provider.js';
import { channelMistakes } from '../../src/providers/settings.js';

type Row = readonly [
  provider: string,
  credentials: Readonly<Record<string, string>>,
  settings: Readonly<Record<string, SettingValue>>,
  mistakes: readonly string[],
];

const NO_AZURE_KEY =
  'credentials.api_key is missing, or credentials.client_secret with settings.tenant and settings.client_id';
const NO_ENTRA = 'credentials.client_secret needs settings.tenant and settings.client_id';
const NO_OWNER = 'exactly one of settings.project_id and settings.space_id must be set';
const NO_WAY_ON =
  'settings.upstream_provider or settings.config must say where Portkey hands requests on to';
const NO_SCHEME = 'settings.auth_scheme must be one of ApiKey, Basic, Bearer';
const NO_KEYS = 'credentials.access_key_id and credentials.secret_access_key must both be set';
const NO_HEADER = 'settings.api_key_header must be the name of a header';
const ONE_KEY = 'credentials.api_key is one key for bedrock-invoke; make a channel for each';
const NO_OVERLAP =
  'settings.stride must be less than settings.window_size, so that windows overlap';

const counted = (name: string, least = 1): string =>
  `settings.${name} must be a whole number from ${least}`;

it.each<Row>([
  ['azure-foundry', { apiKey: 'k' }, {}, []],
  ['azure-foundry', {}, {}, [NO_AZURE_KEY]],
  ['azure-foundry', { clientSecret: 's' }, { tenant: 't' }, [NO_ENTRA]],
  ['azure-foundry', { clientSecret: 's' }, { tenant: 't', clientId: 'c' }, []],
  ['azure-foundry', { apiKey: 'k' }, { apiKeyHeader: 'api key' }, [NO_HEADER]],
  ['azure-foundry', { apiKey: 'k' }, { apiKeyHeader: '' }, []],
  ['azure-data-ai', { apiKey: 'k' }, { apiKeyHeader: '' }, [NO_HEADER]],
  ['azure-openai-embeddings', { apiKey: 'k' }, { apiKeyHeader: 'api key' }, [NO_HEADER]],
  ['bedrock-invoke', { apiKey: 'k' }, {}, []],
  ['bedrock-invoke', { apiKey: 'k\nl' }, {}, [ONE_KEY]],
  ['bedrock-invoke', { accessKeyId: 'a' }, {}, [`${NO_KEYS}, or credentials.api_key`]],
  ['bedrock-invoke', { accessKeyId: 'a', secretAccessKey: 's' }, {}, []],
  ['watsonx', { apiKey: 'k' }, { projectId: 'p' }, []],
  ['watsonx', { apiKey: 'k' }, {}, [NO_OWNER]],
  ['watsonx', { apiKey: 'k' }, { projectId: 'p', spaceId: 's' }, [NO_OWNER]],
  ['openai-listwise', { apiKey: 'k' }, { windowSize: 10, stride: 9 }, []],
  ['openai-listwise', { apiKey: 'k' }, { windowSize: 10, stride: 10 }, [NO_OVERLAP]],
  ['openai-listwise', { apiKey: 'k' }, { windowSize: 1, stride: 1 }, [NO_OVERLAP]],
  ['openai-listwise', { apiKey: 'k' }, { maxTokens: 0 }, [counted('max_tokens')]],
  ['openai-embeddings', { apiKey: 'k' }, { batchSize: 0.5 }, [counted('batch_size')]],
  ['cohere', { apiKey: 'k' }, { maxTokensPerDoc: 2.5 }, [counted('max_tokens_per_doc')]],
  ['tei', {}, { maxDocuments: 2.5 }, [counted('max_documents')]],
  ['tei', {}, { maxDocuments: 0 }, [counted('max_documents')]],
  ['llama', {}, { modelPath: 'm', contextTokens: 15 }, [counted('context_tokens', 16)]],
  ['openai-listwise', { apiKey: 'k' }, { seed: -1 }, []],
  ['openai-listwise', { apiKey: 'k' }, { seed: 0.5 }, ['settings.seed must be a whole number']],
  ['volcengine', { accessKeyId: 'a' }, {}, [NO_KEYS]],
  ['vikingdb', { apiKey: 'k' }, {}, []],
  ['portkey', {}, { config: 'pc-1' }, []],
  ['portkey', {}, { upstreamProvider: 'cohere' }, []],
  ['portkey', {}, {}, [NO_WAY_ON]],
  ['elastic', { apiKey: 'k' }, { authScheme: 'Basically' }, [NO_SCHEME]],
  [
    'oci',
    { privateKey: 'not a key' },
    { compartment: 'c', tenancy: 't', user: 'u', fingerprint: 'f' },
    ['credentials.private_key is not a readable private key (PEM)'],
  ],
])('%s with %j and %j: %j', (id, credentials, settings, mistakes) => {
  const provider = findProvider(id);
  if (provider === undefined) throw new Error(`no provider ${id}`);
  const secrets = Object.entries(credentials).map(([name, value]) => [name, new Secret(value)]);

  const found = channelMistakes(provider, {
    credentials: Object.fromEntries(secrets) as Record<string, Secret>,
    settings,
  });

  expect(found).toEqual(mistakes);
});

it.each([
  ['azure-foundry', 'api-key', { 'api-key': 'k' }],
  ['azure-foundry', '', { authorization: 'Bearer k' }],
  ['azure-data-ai', 'Authorization', { authorization: 'Bearer k' }],
])('%s sends its key in the header that the channel names: %j', (id, name, headers) => {
  const provider = findProvider(id);
  if (provider === undefined || provider.transport === 'process') throw new Error(`no ${id}`);
  const credentials = { apiKey: new Secret('k') };
  const endpoint = {
    baseUrl: 'https://example.com',
    credentials,
    settings: { apiKeyHeader: name },
  };

  expect(provider.headers(endpoint)).toEqual(headers);
});
