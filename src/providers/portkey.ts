import { configurableWire } from './configurable.js';
import { defineProvider, optionalTextSetting, type Endpoint } from './provider.js';
import { SELF_HOSTED } from './self-hosted.js';

const wire = configurableWire({});

function headers(endpoint: Endpoint): Record<string, string> {
  const { credentials, settings } = endpoint;
  const named: readonly (readonly [header: string, value: string | undefined])[] = [
    ['x-portkey-provider', optionalTextSetting(settings, 'upstreamProvider')],
    ['x-portkey-custom-host', optionalTextSetting(settings, 'customHost')],
    ['x-portkey-config', optionalTextSetting(settings, 'config')],
    ['x-portkey-api-key', credentials.portkeyApiKey?.reveal()],
  ];
  const own = named.flatMap(([header, value]) => (value === undefined ? [] : [[header, value]]));
  return { ...wire.headers(endpoint), ...(Object.fromEntries(own) as Record<string, string>) };
}

/** Portkey's gateway has no rerank of its own and hands the body on to the provider that a header names. */
export const portkey = defineProvider({
  ...wire,
  id: 'portkey',
  title: 'Portkey gateway',
  baseUrl: undefined,
  credentials: {
    apiKey: { required: false, describe: "the provider's API key, sent on by Portkey" },
    portkeyApiKey: { required: false, describe: "Portkey's own key, where it asks for one" },
  },
  settings: {
    ...wire.settings,
    upstreamProvider: { type: 'string', describe: 'provider to hand on to (x-portkey-provider)' },
    customHost: { type: 'string', describe: 'address of that provider (x-portkey-custom-host)' },
    config: { type: 'string', describe: 'id or JSON of a config (x-portkey-config)' },
  },
  headers,
  mistakes: (channel) => [
    ...(wire.mistakes?.(channel) ?? []),
    optionalTextSetting(channel.settings, 'upstreamProvider') === undefined &&
      optionalTextSetting(channel.settings, 'config') === undefined &&
      'settings.upstreamProvider or settings.config must say where Portkey hands requests on to',
  ],
  profile: { ...SELF_HOSTED, sorted: false, topN: 'ignored', echo: 'optional' },
  exampleModels: ['rerank-v3.5'],
  notes: ["The form of request and reply is that provider's: set its path and keys."],
});
