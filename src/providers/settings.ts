import { apiKeysOf } from '../core/api-keys.js';
import { own, snakeCase } from '../core/records.js';
import {
  textSetting,
  type Endpoint,
  type HttpProvider,
  type Provider,
  type SettingValue,
} from './provider.js';

/** The provider's settings that have a default. */
export function defaultSettings(provider: Provider): Record<string, SettingValue> {
  const settings: Record<string, SettingValue> = {};
  for (const [name, spec] of Object.entries(provider.settings ?? {})) {
    if (spec.default !== undefined) settings[name] = spec.default;
  }
  return settings;
}

/**
 * The mistakes in a channel's settings and credentials for its provider: one sentence each, none if all is well. Names are
 * spelled as people write them, in files and through the API.
 */
export function settingMistakes(
  provider: Provider,
  settings: Readonly<Record<string, unknown>>,
  credentialNames: readonly string[],
): string[] {
  return [
    ...mistakesInSettings(provider, settings),
    ...mistakesInCredentials(provider, credentialNames),
  ];
}

function mistakesInSettings(
  provider: Provider,
  settings: Readonly<Record<string, unknown>>,
): string[] {
  const mistakes: string[] = [];
  const specs = provider.settings ?? {};
  for (const [name, value] of Object.entries(settings)) {
    const spec = own(specs, name);
    if (spec === undefined) {
      mistakes.push(
        `settings.${snakeCase(name)} is not known to ${provider.id}${knownNames(specs)}`,
      );
    } else if (typeof value !== spec.type) {
      mistakes.push(`settings.${snakeCase(name)} must be a ${spec.type}: ${spec.describe}`);
    } else if (typeof value === 'number' && !isWhole(value, spec.least)) {
      const least = spec.least === undefined ? '' : ` from ${spec.least}`;
      mistakes.push(`settings.${snakeCase(name)} must be a whole number${least}`);
    }
  }
  for (const [name, spec] of Object.entries(specs)) {
    if (spec.required === true && settings[name] === undefined) {
      mistakes.push(`settings.${snakeCase(name)} is missing: ${spec.describe}`);
    }
  }
  return mistakes;
}

function isWhole(value: number, least = -Infinity): boolean {
  return Number.isInteger(value) && value >= least;
}

function mistakesInCredentials(provider: Provider, credentialNames: readonly string[]): string[] {
  const mistakes: string[] = [];
  const { settings: specs = {}, credentials = {} } = provider;
  for (const name of credentialNames) {
    if (own(credentials, name) === undefined && own(specs, name)?.secret !== true) {
      mistakes.push(
        `credentials.${snakeCase(name)} is not known to ${provider.id}${knownNames(credentials)}`,
      );
    }
  }
  for (const [name, spec] of Object.entries(credentials)) {
    if (spec.required && !credentialNames.includes(name)) {
      mistakes.push(`credentials.${snakeCase(name)} is missing: ${spec.describe}`);
    }
  }
  return mistakes;
}

function knownNames(specs: Readonly<Record<string, unknown>>): string {
  const names = Object.keys(specs).map(snakeCase);
  return names.length === 0 ? ', which has none' : `; it knows ${names.join(', ')}`;
}

type Kept = Pick<Endpoint, 'credentials' | 'settings'>;

/** A channel as its provider reads it: settings that may hold secrets are moved back from the credentials. */
export function openSettings(provider: Provider, { credentials, settings }: Kept): Kept {
  const names = secretSettings(provider).filter((name) => credentials[name] !== undefined);
  if (names.length === 0) return { credentials, settings };
  return {
    credentials: Object.fromEntries(
      Object.entries(credentials).filter(([name]) => !names.includes(name)),
    ),
    settings: {
      ...settings,
      ...Object.fromEntries(names.map((name) => [name, credentials[name]?.reveal() ?? ''])),
    },
  };
}

/**
 * Moves settings that may hold secrets to the credentials, where they are encrypted and masked; null and the empty text mean
 * that there is none. A value that is not text stays, to be refused.
 */
export function sealSettings<S, C>(
  provider: Provider | undefined,
  settings: Readonly<Record<string, S>>,
  credentials: Readonly<Record<string, C>>,
  sealed: (text: string | null) => C | undefined,
): { readonly settings: Record<string, S>; readonly credentials: Record<string, C> } {
  const kept = { settings: { ...settings }, credentials: { ...credentials } };
  for (const name of provider === undefined ? [] : secretSettings(provider)) {
    const value: unknown = settings[name];
    if (value !== null && typeof value !== 'string') continue;
    kept.settings = Object.fromEntries(
      Object.entries(kept.settings).filter(([other]) => other !== name),
    );
    const secret = sealed(value === '' ? null : value);
    if (secret !== undefined) kept.credentials[name] ??= secret;
  }
  return kept;
}

export function secretSettings({ settings = {} }: Provider): string[] {
  return Object.keys(settings).filter((name) => settings[name]?.secret === true);
}

/** Fewer characters are words that mean something in a body or a message, rather than a secret. */
const LEAST_SECRET = 6;

/**
 * Texts that must not be seen of a channel as its provider reads it, the longest first: credentials, settings that may hold
 * secrets, and the strings inside those settings, also as JSON writes them.
 */
export function secretTexts(provider: Provider, { credentials, settings }: Kept): string[] {
  const sealed = secretSettings(provider).map((name) => String(settings[name] ?? ''));
  const inside = sealed.flatMap(stringsInside).filter(({ length }) => length >= LEAST_SECRET);
  const held = Object.values(credentials).map((secret) => secret.reveal());
  const texts = [...held, ...sealed, ...inside]
    .filter((text) => text !== '')
    .flatMap((text) => [text, JSON.stringify(text).slice(1, -1)]);
  return [...new Set(texts)].sort((one, other) => other.length - one.length);
}

function stringsInside(text: string): string[] {
  if (!/^\s*[[{]/.test(text)) return [];
  const found: string[] = [];
  try {
    JSON.parse(text, (_, value: unknown) => {
      if (typeof value === 'string') found.push(value);
      return value;
    });
  } catch {
    return [];
  }
  return found;
}

/** All mistakes in a channel for its provider, including those that only the values of its credentials show. */
export function channelMistakes(
  provider: Provider,
  channel: Pick<Endpoint, 'credentials' | 'settings'>,
): string[] {
  const mistakes = settingMistakes(provider, channel.settings, Object.keys(channel.credentials));
  if (mistakes.length > 0) return mistakes;
  const hasSeveral = apiKeysOf(channel.credentials.apiKey).length > 1;
  if (hasSeveral && !takesSeveralKeys(provider)) {
    return [`credentials.api_key is one key for ${provider.id}; make a channel for each`];
  }
  const opened = openSettings(provider, channel);
  const settings = { ...defaultSettings(provider), ...opened.settings };
  return (provider.mistakes?.({ credentials: opened.credentials, settings }) ?? [])
    .filter((mistake) => mistake !== false)
    .map(asWritten);
}

/** Keys that are sent unchanged can take turns; a key that fetches a token or signs requests must be the only one. */
function takesSeveralKeys(provider: Provider): boolean {
  return (
    provider.transport === 'http' && provider.token === undefined && provider.sign === undefined
  );
}

/** Providers name their settings in the code's spelling. */
function asWritten(sentence: string): string {
  return sentence.replace(
    /\b(settings|credentials)\.(\w+)/g,
    (_, group: string, name: string) => `${group}.${snakeCase(name)}`,
  );
}

/** A provider's own address for a channel's settings; `undefined` if it has none or needs a setting that is not set. */
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
