import { Option, type Command } from 'commander';
import { CHANNEL_MEMBERS } from '../core/channel-members.js';
import { snakeCase } from '../core/records.js';
import { secretSettings } from '../providers/settings.js';
import type { Provider, SettingValue } from '../providers/provider.js';
import { withMembers } from './members.js';
import { readSecret, type Session } from './session.js';
import { models, nameIn, pair } from './values.js';

export interface ChannelOptions {
  readonly name?: string;
  readonly provider?: string;
  readonly models?: Readonly<Record<string, string>>;
  readonly baseUrl?: string;
  readonly apiKey?: string;
  readonly credential?: Readonly<Record<string, string>>;
  readonly setting?: Readonly<Record<string, string>>;
  readonly tag?: string;
}

export interface CreateOptions extends ChannelOptions {
  readonly name: string;
  readonly provider: string;
  readonly models: Readonly<Record<string, string>>;
  readonly disabled?: true;
}

export function withFields(command: Command, creating: boolean): Command {
  const required = (flags: string, text: string): Option =>
    new Option(flags, text).makeOptionMandatory(creating);
  const none = creating ? '' : '; none removes it';
  const described = command
    .addOption(required('--name <name>', 'its name, which must be unique'))
    .addOption(required('--provider <provider>', 'whose API it speaks; see "channels providers"'))
    .addOption(
      required(
        '--models <names>',
        "a,b=c: callers' names, and the upstream's where it differs",
      ).argParser(models),
    )
    .option('--base-url <url>', `its address, if not the provider's own${none}`)
    .option(
      '--api-key <secret>',
      'env:NAME for a variable, or - for standard input; several keys, one a line, take turns',
    )
    .option(
      '--credential <name=secret>',
      'another credential, as name=env:NAME or name=-; may be repeated',
      pair,
    )
    .option(
      '--setting <name=value>',
      `a setting of the provider; may be repeated${creating ? '' : '; an empty value removes it'}; one that may hold a secret as name=env:NAME or name=-`,
      pair,
    )
    .option('--tag <tag>', `its tag${none}`);
  return withMembers(described, CHANNEL_MEMBERS, creating);
}

export async function credentialsOf(
  { io }: Session,
  provider: Provider | undefined,
  { apiKey, credential = {} }: ChannelOptions,
): Promise<Record<string, string>> {
  const given = apiKey === undefined ? credential : { ...credential, apiKey };
  const secrets: Record<string, string> = {};
  for (const [name, text] of Object.entries(given)) {
    secrets[snakeCase(nameIn(provider?.credentials, name))] = await readSecret(io, text);
  }
  return secrets;
}

/**
 * Settings as the provider reads them. Those that may hold secrets come from where secrets come from; what does not fit is
 * refused later, by name.
 */
export async function settingsOf(
  { io }: Session,
  provider: Provider | undefined,
  given: Readonly<Record<string, string>>,
): Promise<Record<string, SettingValue>> {
  const sealed = provider === undefined ? [] : secretSettings(provider);
  const settings: Record<string, SettingValue> = {};
  for (const [written, text] of Object.entries(given)) {
    const name = nameIn(provider?.settings, written);
    const isSecret = sealed.includes(name) && text !== '';
    settings[snakeCase(name)] = settingValue(
      provider,
      name,
      isSecret ? await readSecret(io, text) : text,
    );
  }
  return settings;
}

export function emptyAsNull(
  settings: Readonly<Record<string, SettingValue>>,
): Record<string, SettingValue | null> {
  return Object.fromEntries(
    Object.entries(settings).map(([name, value]) => [name, value === '' ? null : value]),
  );
}

function settingValue(provider: Provider | undefined, name: string, text: string): SettingValue {
  const type = provider?.settings?.[name]?.type;
  if (type === 'number' && text.trim() !== '' && Number.isFinite(Number(text))) return Number(text);
  if (type === 'boolean' && (text === 'true' || text === 'false')) return text === 'true';
  return text;
}
