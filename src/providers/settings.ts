import {
  textSetting,
  type Endpoint,
  type HttpProvider,
  type Provider,
  type SettingValue,
} from './provider.js';

/** The settings of a provider that have a default. */
export function defaultSettings(provider: Provider): Record<string, SettingValue> {
  const settings: Record<string, SettingValue> = {};
  for (const [name, spec] of Object.entries(provider.settings ?? {})) {
    if (spec.default !== undefined) settings[name] = spec.default;
  }
  return settings;
}

/** What is wrong with a channel's settings and credentials for its provider: one sentence each, none when all is well. */
export function settingMistakes(
  provider: Provider,
  settings: Readonly<Record<string, unknown>>,
  credentialNames: readonly string[],
): string[] {
  const mistakes: string[] = [];
  const specs = provider.settings ?? {};
  for (const [name, value] of Object.entries(settings)) {
    const spec = specs[name];
    if (spec === undefined) {
      mistakes.push(`settings.${name} is not known to ${provider.id}${knownNames(specs)}`);
    } else if (typeof value !== spec.type) {
      mistakes.push(`settings.${name} must be a ${spec.type}: ${spec.describe}`);
    }
  }
  for (const [name, spec] of Object.entries(specs)) {
    if (spec.required === true && settings[name] === undefined) {
      mistakes.push(`settings.${name} is missing: ${spec.describe}`);
    }
  }
  const credentials = provider.credentials ?? {};
  for (const name of credentialNames) {
    if (credentials[name] === undefined) {
      mistakes.push(`credentials.${name} is not known to ${provider.id}${knownNames(credentials)}`);
    }
  }
  for (const [name, spec] of Object.entries(credentials)) {
    if (spec.required && !credentialNames.includes(name)) {
      mistakes.push(`credentials.${name} is missing: ${spec.describe}`);
    }
  }
  return mistakes;
}

function knownNames(specs: Readonly<Record<string, unknown>>): string {
  const names = Object.keys(specs);
  return names.length === 0 ? ', which has none' : `; it knows ${names.join(', ')}`;
}

/** All that is wrong with a channel for its provider, also what only the values of its credentials show. */
export function channelMistakes(
  provider: Provider,
  channel: Pick<Endpoint, 'credentials' | 'settings'>,
): string[] {
  const mistakes = settingMistakes(provider, channel.settings, Object.keys(channel.credentials));
  if (mistakes.length > 0) return mistakes;
  const settings = { ...defaultSettings(provider), ...channel.settings };
  return (provider.mistakes?.({ credentials: channel.credentials, settings }) ?? []).filter(
    (mistake) => mistake !== false,
  );
}

/** A provider's own address for a channel's settings; `undefined` where it has none or a setting that it needs is not set. */
export function publicAddress(
  provider: Pick<HttpProvider, 'baseUrl'>,
  settings: Readonly<Record<string, SettingValue>>,
): string | undefined {
  const { baseUrl } = provider;
  if (baseUrl === undefined) return undefined;
  const names = [...baseUrl.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
  const values = names.map((name) => textSetting(settings, name));
  if (values.includes('')) return undefined;
  return names.reduce(
    (address, name, at) => address.replace(`{${name}}`, encodeURIComponent(values[at] ?? '')),
    baseUrl,
  );
}
