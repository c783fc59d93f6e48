import { CHANNEL_SCHEMA, type FileChannel } from './channel-schema.js';
import type { SettingPath } from './files.js';
import { MERGE_KEY, type MistakeList } from './mistakes.js';
import { joinApiKeys } from '../core/api-keys.js';
import { CHANNEL_MEMBERS, windowMistake } from '../core/channel-members.js';
import { BLANK_CHANNEL, CHANNEL_DISABLED, CHANNEL_ENABLED } from '../core/channel.js';
import { unknownName } from '../core/closest.js';
import { camelKeys, isRecord, mapValues } from '../core/records.js';
import { Secret } from '../core/secret.js';
import { addressMistake, judgeUrl, otherAddressMistakes } from '../management/addresses.js';
import { credentialMistakes } from '../providers/credential-forms.js';
import { allProviders, findProvider } from '../providers/index.js';
import type { Endpoint, Provider, SettingValue } from '../providers/provider.js';
import { channelMistakes, sealSettings } from '../providers/settings.js';
import type { DeclaredChannel } from '../store/store.js';
import { readMembers } from '../shapes/members.js';

/** A channel of the configuration. Its credentials stay in this process: the store gets only `declared`. */
export interface ConfiguredChannel {
  readonly declared: DeclaredChannel;
  readonly credentials: Readonly<Record<string, Secret>>;
}

/**
 * The channels, and what is wrong with each for its provider, even if the schema has found something else wrong. `read` is
 * what the schema made of them if it found nothing wrong anywhere.
 */
export function readChannels(
  values: Readonly<Record<string, unknown>>,
  mistakes: MistakeList,
  read?: readonly FileChannel[],
): ConfiguredChannel[] | undefined {
  if (!Array.isArray(values.channels)) return undefined;
  const gateway = isRecord(values.gateway) ? values.gateway : {};
  const rules = {
    allowPrivateUpstreams: String(gateway.allow_private_upstreams) !== 'false',
    allowMetadataUpstreams: String(gateway.allow_metadata_upstreams) === 'true',
  };
  const channels: ConfiguredChannel[] = [];
  for (const [index, written] of (values.channels as unknown[]).entries()) {
    const at = ['channels', index];
    const wrong = mistakes.namesBelow(at);
    const channel = read?.[index] ?? readableChannel(written, wrong);
    if (channel === undefined) continue;
    const provider = findProvider(channel.provider);
    if (provider === undefined && isRecord(written) && written.provider !== undefined) {
      mistakes.add([...at, 'provider'], unknownProvider(channel.provider));
    }
    const { settings, credentials } = sealSettings(
      provider,
      providerSettings(channel, provider),
      providerCredentials(channel),
      (text) => (text === null ? undefined : new Secret(text)),
    );
    if (
      !['settings', 'credentials', 'api_key', 'api_keys', MERGE_KEY].some((name) => wrong.has(name))
    ) {
      for (const sentence of valueMistakes(provider, { credentials, settings })) {
        const { path, message } = placed(sentence, channel);
        mistakes.addMore([...at, ...path], message);
      }
    }
    if (
      channel.api_keys !== undefined &&
      (channel.api_key ?? channel.credentials.api_key) !== undefined
    ) {
      mistakes.add([...at, 'api_keys'], 'is set together with api_key; keep one');
    }
    if (channel.api_key !== undefined && channel.credentials.api_key !== undefined) {
      mistakes.add([...at, 'api_key'], 'is given twice: here and under credentials; keep one');
    }
    if (!wrong.has('base_url')) {
      const address =
        provider === undefined
          ? judgeUrl(channel.base_url ?? '', rules)
          : addressMistake(channel.base_url, provider, settings, rules);
      if (address !== undefined) mistakes.add([...at, 'base_url'], address);
    }
    const others = provider && otherAddressMistakes(provider, { credentials, settings }, rules);
    for (const sentence of others ?? []) {
      const { path, message } = placed(sentence, channel);
      mistakes.add([...at, ...path], message);
    }
    const declared = declaredChannel(channel, settings);
    const ofWindows = windowMistake(declared);
    if (ofWindows !== undefined && !wrong.has('window_size')) {
      mistakes.add([...at, 'window_stride'], ofWindows);
    }
    channels.push({ declared, credentials });
  }
  return channels;
}

/** A channel as the schema reads it, without the settings that are wrong; `undefined` if it cannot be read at all. */
function readableChannel(written: unknown, wrong: ReadonlySet<unknown>): FileChannel | undefined {
  if (!isRecord(written)) return undefined;
  if (written.provider === undefined && wrong.has(MERGE_KEY)) return undefined;
  const sound = Object.entries(written).filter(([name]) => !wrong.has(name));
  const needed = { name: '-', provider: '-', models: ['-'] };
  const result = CHANNEL_SCHEMA.validate({ ...needed, ...Object.fromEntries(sound) });
  return result.error === undefined ? result.value : undefined;
}

/** What is wrong with credentials and settings: of an unknown provider, what would be wrong for any. */
function valueMistakes(
  provider: Provider | undefined,
  kept: Pick<Endpoint, 'credentials' | 'settings'>,
): string[] {
  const fits = provider === undefined ? [] : channelMistakes(provider, kept);
  return fits.length > 0 ? fits : credentialMistakes(kept);
}

function declaredChannel(
  channel: FileChannel,
  settings: Readonly<Record<string, SettingValue>>,
): DeclaredChannel {
  const { models } = channel;
  const declared: DeclaredChannel = {
    ...BLANK_CHANNEL,
    ...readMembers(CHANNEL_MEMBERS, channel),
    name: channel.name,
    provider: channel.provider,
    baseUrl: channel.base_url,
    models: Array.isArray(models) ? Object.fromEntries(models.map((name) => [name, name])) : models,
    tag: channel.tag,
    status: channel.enabled ? CHANNEL_ENABLED : CHANNEL_DISABLED,
    settings,
  };
  // It is frozen later, and frozen objects share their form only if they were not spread.
  return Object.assign({}, declared);
}

function providerCredentials(channel: FileChannel): Record<string, Secret> {
  const given: Record<string, string> = { ...channel.credentials };
  if (channel.api_key !== undefined) given.api_key = channel.api_key;
  if (channel.api_keys !== undefined) given.api_key = joinApiKeys(channel.api_keys);
  return mapValues(camelKeys(given), (value) => new Secret(value));
}

/** A channel's settings under the provider's names; text that came through a variable gets the type of its setting. */
function providerSettings(channel: FileChannel, provider?: Provider): Record<string, SettingValue> {
  const settings = camelKeys(channel.settings);
  for (const [name, value] of Object.entries(settings)) {
    const type = provider?.settings?.[name]?.type;
    if (typeof value !== 'string') continue;
    if (type === 'number' && value.trim() !== '' && Number.isFinite(Number(value))) {
      settings[name] = Number(value);
    } else if (type === 'boolean' && (value === 'true' || value === 'false')) {
      settings[name] = value === 'true';
    }
  }
  return settings;
}

function unknownProvider(id: string): string {
  const known = allProviders().map((provider) => provider.id);
  return `"${id}" ${unknownName(id, known, 'a provider')}`;
}

/** The member that a sentence begins with, if the channel has it, and the rest of the sentence. */
function placed(
  sentence: string,
  { credentials, settings, api_key: key }: FileChannel,
): { readonly path: SettingPath; readonly message: string } {
  const [, group = '', name = '', rest = ''] =
    /^(settings|credentials)\.(\w+) (.*)$/s.exec(sentence) ?? [];
  if (group === 'credentials' && name === 'api_key' && key !== undefined) {
    return { path: ['api_key'], message: rest };
  }
  const members: Readonly<Record<string, unknown>> = group === 'settings' ? settings : credentials;
  return members[name] === undefined
    ? { path: [], message: sentence }
    : { path: [group, name], message: rest };
}
