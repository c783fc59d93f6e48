import { GatewayError } from '../core/errors.js';
import { allProviders, findProvider } from '../providers/index.js';
import type { Provider } from '../providers/provider.js';
import type { Session } from './session.js';
import { counted, facts, names, table } from './text.js';

export function showProviders(show: Session['show'], id: string | undefined): void {
  if (id === undefined) {
    const providers = allProviders();
    const rows = providers.map((provider) => [
      provider.id,
      provider.title,
      addressOf(provider),
      names(Object.keys(provider.credentials ?? {}), ''),
      names(Object.keys(provider.settings ?? {}), ''),
    ]);
    show(
      { items: providers.map(providerJson), total: providers.length },
      `${table(['PROVIDER', 'NAME', 'ADDRESS', 'CREDENTIALS', 'SETTINGS'], rows)}\n${counted(providers.length, 'provider')}; "channels providers <provider>" shows more.`,
    );
    return;
  }
  const provider = findProvider(id);
  if (provider === undefined) {
    throw new GatewayError('not_found', `There is no provider "${id}"; see "channels providers".`);
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
