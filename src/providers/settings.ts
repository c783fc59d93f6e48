import type { Provider, SettingValue } from './provider.js';

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
