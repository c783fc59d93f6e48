import { allProviders, findProvider } from '../providers/index.js';
import type { Provider } from '../providers/provider.js';
import type { Columns } from './listing.js';
import { unknownName } from './named.js';
import type { Session } from './session.js';
import { counted, facts, names } from './text.js';

export const PROVIDERS = {
  provider: ({ id }) => id,
  name: ({ title }) => title,
  address: (provider) => addressOf(provider),
  credentials: ({ credentials }) => Object.keys(credentials ?? {}).join(', '),
  settings: ({ settings }) => Object.keys(settings ?? {}).join(', '),
} satisfies Columns<Provider>;

export async function showProviders(
  { show, list }: Pick<Session, 'show' | 'list'>,
  id: string | undefined,
): Promise<void> {
  if (id === undefined) {
    const providers = allProviders();
    await list({
      columns: PROVIDERS,
      rows: providers,
      none: '',
      json: { items: providers.map(providerJson), total: providers.length },
      below: `${counted(providers.length, 'provider')}; "channels providers <provider>" shows more.`,
    });
    return;
  }
  const provider = findProvider(id);
  if (provider === undefined) {
    throw await unknownName('provider', id, () =>
      Promise.resolve(allProviders().map((one) => one.id)),
    );
  }
  show(providerJson(provider), describeProvider(provider));
}

function describeProvider(provider: Provider): string {
  const credentials = Object.entries(provider.credentials ?? {});
  const settings = Object.entries(provider.settings ?? {});
  return [
    facts([
      ['provider', provider.id],
      ['name', provider.title],
      ['address', addressOf(provider)],
      ['models such as', names(provider.exampleModels, 'any')],
    ]),
    ...credentials.map(
      ([name, { required, describe: text }]) =>
        `credential ${name}${required ? '' : ' (optional)'}: ${text}`,
    ),
    ...settings.map(([name, spec]) => {
      const fallback =
        spec.default === undefined ? '' : `, ${JSON.stringify(spec.default)} if not set`;
      const needed = spec.required === true ? '' : ' (optional)';
      const kept = spec.secret === true ? '; kept like a credential' : '';
      return `setting ${name}${needed}: ${spec.describe} [${spec.type}${fallback}${kept}]`;
    }),
    ...(provider.notes ?? []),
  ].join('\n');
}

function addressOf(provider: Provider): string {
  if (provider.transport === 'process') return 'inside the gateway';
  return provider.baseUrl ?? 'yours: --base-url';
}

function providerJson(provider: Provider): Record<string, unknown> {
  return {
    id: provider.id,
    title: provider.title,
    transport: provider.transport,
    base_url: provider.transport === 'http' ? (provider.baseUrl ?? null) : null,
    credentials: provider.credentials ?? {},
    settings: provider.settings ?? {},
    example_models: provider.exampleModels,
    notes: provider.notes ?? [],
  };
}
