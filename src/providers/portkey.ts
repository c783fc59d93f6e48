import { configurableWire } from './configurable.js';
import { decodeAny, plainBody } from './dialects.js';
import { HOSTED } from './hosted.js';
import { bearer, defineProvider, optionalTextSetting, type Endpoint } from './provider.js';
import { SELF_HOSTED } from './self-hosted.js';

const wire = configurableWire({});

function portkeyHeaders({ credentials, settings }: Endpoint): Record<string, string> {
  const named: readonly (readonly [header: string, value: string | undefined])[] = [
    ['x-portkey-provider', optionalTextSetting(settings, 'upstreamProvider')],
    ['x-portkey-custom-host', optionalTextSetting(settings, 'customHost')],
    ['x-portkey-config', optionalTextSetting(settings, 'config')],
    ['x-portkey-api-key', credentials.portkeyApiKey?.reveal()],
  ];
  const own = named.flatMap(([header, value]) => (value === undefined ? [] : [[header, value]]));
  return Object.fromEntries(own) as Record<string, string>;
}

/** Portkey's open-source gateway has no rerank route and passes the body on to the provider that a header names. */
export const portkey = defineProvider({
  ...wire,
  id: 'portkey',
  title: 'Portkey gateway (open source)',
  credentials: {
    apiKey: { required: false, describe: "the provider's API key, sent on by Portkey" },
    portkeyApiKey: { required: false, describe: "Portkey's own key, if it asks for one" },
  },
  settings: {
    ...wire.settings,
    upstreamProvider: { type: 'string', describe: 'provider to hand on to (x-portkey-provider)' },
    customHost: { type: 'string', describe: 'address of that provider (x-portkey-custom-host)' },
    config: {
      type: 'string',
      secret: true,
      describe: 'id or JSON of a config (x-portkey-config)',
    },
  },
  headers: (endpoint) => ({ ...wire.headers(endpoint), ...portkeyHeaders(endpoint) }),
  mistakes: (channel) => [
    ...(wire.mistakes?.(channel) ?? []),
    optionalTextSetting(channel.settings, 'upstreamProvider') === undefined &&
      optionalTextSetting(channel.settings, 'config') === undefined &&
      'settings.upstream_provider or settings.config must say where Portkey hands requests on to',
  ],
  profile: { ...SELF_HOSTED, isRelay: true, sorted: false, topN: 'ignored', echo: 'optional' },
  exampleModels: ['rerank-v3.5'],
  notes: [
    "The form of request and reply is that provider's: set its path and keys.",
    'The hosted product has its own form for all of them: portkey-hosted.',
  ],
});

/** Portkey's hosted gateway: one form for Cohere, Voyage, Jina, Pinecone, Bedrock and Azure. */
export const portkeyHosted = defineProvider({
  id: 'portkey-hosted',
  title: 'Portkey (hosted)',
  baseUrl: 'https://api.portkey.ai',
  path: '/v1/rerank',
  credentials: {
    portkeyApiKey: { required: true, describe: "Portkey's own key (x-portkey-api-key)" },
    apiKey: {
      required: false,
      describe: "the provider's API key, if Portkey does not keep it",
    },
  },
  settings: {
    upstreamProvider: {
      type: 'string',
      describe: 'provider, if the model does not name it (x-portkey-provider)',
    },
    customHost: { type: 'string', describe: 'address of that provider (x-portkey-custom-host)' },
    config: {
      type: 'string',
      secret: true,
      describe: 'id or JSON of a config (x-portkey-config)',
    },
  },
  headers: (endpoint) => ({ ...bearer(endpoint), ...portkeyHeaders(endpoint) }),
  body: (call) => ({
    ...plainBody(call),
    max_tokens_per_doc: call.options.maxTokensPerDoc,
  }),
  decode: decodeAny,
  profile: { ...HOSTED, sorted: false, echo: 'optional', blanks: 'as_space' },
  exampleModels: ['@cohere/rerank-v3.5', '@voyage/rerank-2.5'],
  notes: [
    'The model names the provider as it is called at Portkey, as @name/model; for Bedrock the whole ARN follows it.',
    'Scores and limits are those of the provider behind the model.',
  ],
});
