import {
  CHANNEL_DEFAULTS,
  CHANNEL_MEMBERS,
  windowMistake,
  type ChannelMembers,
} from '../core/channel-members.js';
import { CHANNEL_ENABLED, type Channel } from '../core/channel.js';
import { unknownValue } from '../core/closest.js';
import { GatewayError } from '../core/errors.js';
import { snakeCase } from '../core/records.js';
import { Secret } from '../core/secret.js';
import { credentialMistakes } from '../providers/credential-forms.js';
import { allProviders, findProvider } from '../providers/index.js';
import type { Provider, SettingValue } from '../providers/provider.js';
import { channelMistakes, sealSettings, secretSettings } from '../providers/settings.js';
import type { ChannelChange, NewChannel } from '../store/store.js';
import {
  addressMistake,
  otherAddressMistakes,
  urlMistake,
  type AddressRules,
} from './addresses.js';
import type { ManagementDeps } from './audit.js';
import { checkMembers, checkName, invalid } from './fields.js';

export interface ChannelDeps extends ManagementDeps, AddressRules {}

/** A channel to be created. Members left out are as in a configuration file: enabled, and `CHANNEL_DEFAULTS`. */
export interface ChannelDraft extends Partial<Omit<NewChannel, 'settings' | 'outage'>> {
  readonly name: string;
  readonly provider: string;
  readonly models: Readonly<Record<string, string>>;
  readonly settings?: Readonly<Record<string, SettingValue>>;
}

/**
 * Members that are present replace the old ones; settings and credentials are replaced name by name, and `null` removes one.
 */
export interface ChannelEdit extends Partial<
  Omit<NewChannel, 'settings' | 'credentials' | 'outage'>
> {
  readonly settings?: Readonly<Record<string, SettingValue | null>>;
  readonly credentials?: Readonly<Record<string, Secret | null>>;
}

/** What many channels may be given at once: nothing that identifies their servers. */
export type SharedEdit = Pick<ChannelEdit, 'models' | 'tag' | keyof ChannelMembers>;

export function draftedChannel(deps: ChannelDeps, draft: ChannelDraft): NewChannel {
  const given = spelled(draft, draft.provider);
  return checkChannel(deps, {
    baseUrl: undefined,
    tag: undefined,
    status: CHANNEL_ENABLED,
    settings: {},
    ...CHANNEL_DEFAULTS,
    ...given,
    credentials: merge({}, given.credentials),
  });
}

/** The change to store, validated on the channel as it will be. */
export function checkEdit(
  deps: ChannelDeps,
  current: Channel,
  edit: ChannelEdit,
  locked: boolean,
): ChannelChange {
  if (current.origin === 'config' && Object.keys(edit).some((member) => member !== 'status')) {
    throw declaredInFile(current);
  }
  const { settings, credentials, ...plain } = edit;
  const moves = edit.provider !== undefined && edit.provider !== current.provider;
  const aimed = moves || settings !== undefined || credentials !== undefined || 'baseUrl' in edit;
  if (!aimed) return checkPlain(plain);
  const redirects = moves || 'baseUrl' in edit || redirecting(settings).length > 0;
  const holds = locked || Object.keys(current.credentials).length > 0;
  if (redirects && holds && credentials === undefined && takesCredentials(edit, current)) {
    throw wantsCredentials(edit);
  }
  if (locked && credentials === undefined && !moves) throw lockedCredentials(current.name);
  const next = checkChannel(deps, {
    ...current,
    ...plain,
    settings: merge(moves ? {} : current.settings, settings),
    credentials: merge(redirects ? {} : current.credentials, credentials),
  });
  const { provider, baseUrl } = next;
  return {
    ...checkPlain(plain),
    provider,
    baseUrl,
    settings: next.settings,
    // Written when they change, since unchanged ones need no encryption key; and whenever the target changes, so that
    // credentials that somebody stores meanwhile for the old target never reach the new one.
    ...(redirects || credentials !== undefined || holdsSettings(current)
      ? { credentials: next.credentials }
      : {}),
  };
}

/**
 * Settings that may say where requests go or how they carry the credentials: paths, regions, token addresses, names of
 * headers. Numbers cannot; everything else is assumed to.
 */
function redirecting(settings: ChannelEdit['settings'] = {}): string[] {
  return Object.keys(settings).filter((name) => typeof settings[name] !== 'number');
}

/** Whether some of its settings count as credentials, perhaps only since it was read. */
function holdsSettings({ provider: id, credentials }: Channel): boolean {
  const provider: Provider | undefined = findProvider(id);
  return provider !== undefined && secretSettings(provider).some((name) => name in credentials);
}

function takesCredentials(edit: ChannelEdit, current: Channel): boolean {
  const provider: Provider | undefined = findProvider(edit.provider ?? current.provider);
  return Object.keys(provider?.credentials ?? {}).length > 0;
}

function wantsCredentials(edit: ChannelEdit): GatewayError {
  const what = [
    ...(edit.provider === undefined ? [] : ['provider']),
    ...('baseUrl' in edit ? ['base_url'] : []),
    ...redirecting(edit.settings).map((name) => `settings.${snakeCase(name)}`),
  ];
  return invalid(
    'credentials',
    `A change of ${what.join(', ')} may send the credentials elsewhere: give them again in the same change, or null to remove one.`,
  );
}

/** What an edit really changes: clients send whole channels back with one member changed. */
export function withoutSame(current: Channel, edit: ChannelEdit): ChannelEdit {
  const moves = edit.provider !== undefined && edit.provider !== current.provider;
  // A new provider starts without them, so the same ones count as a change there.
  const settings = moves ? edit.settings : changedSettings(edit.settings, current.settings);
  const news = settings === undefined ? edit : { ...edit, settings };
  const entries = Object.entries(news).filter(([member, value]) => {
    const before = current[member as keyof ChannelEdit];
    switch (member) {
      case 'credentials':
        return Object.keys(edit.credentials ?? {}).length > 0;
      case 'settings':
        return Object.keys(settings ?? {}).length > 0;
      case 'baseUrl':
        return edit.baseUrl?.replace(/\/+$/, '') !== current.baseUrl;
      case 'models':
        return !isSameMap(edit.models ?? {}, current.models);
      default:
        return value !== before;
    }
  });
  return Object.fromEntries(entries);
}

function changedSettings(
  edit: ChannelEdit['settings'],
  current: Channel['settings'],
): ChannelEdit['settings'] {
  if (edit === undefined) return undefined;
  const changed = Object.entries(edit).filter(
    ([name, setting]) => (setting ?? undefined) !== current[name],
  );
  return Object.fromEntries(changed);
}

function isSameMap(
  one: Readonly<Record<string, string>>,
  other: Readonly<Record<string, string>>,
): boolean {
  const names = Object.keys(one);
  return (
    names.length === Object.keys(other).length && names.every((name) => one[name] === other[name])
  );
}

/**
 * Settings and credentials under the provider's own names; a client may also write them as in a configuration file:
 * `api_key` for `apiKey`. Unknown names stay, to be refused by name.
 */
export function spelled<T extends Pick<ChannelEdit, 'settings' | 'credentials'>>(
  edit: T,
  providerId: string,
): T {
  const provider: Provider | undefined = findProvider(providerId);
  const { settings, credentials } = sealSettings(
    provider,
    renamed(edit.settings ?? {}, provider?.settings ?? {}),
    renamed(edit.credentials ?? {}, { ...provider?.settings, ...provider?.credentials }),
    (text) => (text === null ? null : new Secret(text)),
  );
  return {
    ...edit,
    ...(edit.settings === undefined ? {} : { settings }),
    ...(edit.credentials === undefined && Object.keys(credentials).length === 0
      ? {}
      : { credentials }),
  };
}

function renamed<T>(
  given: Readonly<Record<string, T>>,
  specs: Readonly<Record<string, unknown>>,
): Record<string, T> {
  const plain = (name: string): string => name.replaceAll('_', '').toLowerCase();
  const known = new Map(Object.keys(specs).map((name) => [plain(name), name]));
  return Object.fromEntries(
    Object.entries(given).map(([name, value]) => [known.get(plain(name)) ?? name, value]),
  );
}

function merge<T>(
  current: Readonly<Record<string, T>>,
  edit: Readonly<Record<string, T | null>> = {},
): Record<string, T> {
  const members = Object.entries({ ...current, ...edit });
  return Object.fromEntries(members.filter((member): member is [string, T] => member[1] !== null));
}

export function checkChannel(
  rules: ChannelDeps,
  channel: NewChannel & { readonly settings: Readonly<Record<string, unknown>> },
): NewChannel {
  const provider = findProvider(channel.provider);
  if (provider === undefined) throw unknownProvider(channel.provider);
  const baseUrl = checkBaseUrl(channel.baseUrl);
  // `channelMistakes` checks the values: one that is not a setting value is one of the mistakes.
  const settings = channel.settings as Readonly<Record<string, SettingValue>>;
  const given = { settings, credentials: channel.credentials };
  const fits = channelMistakes(provider, given);
  const mistakes = fits.length > 0 ? fits : credentialMistakes(given);
  if (mistakes.length > 0) {
    throw invalid(
      mistakes.some((mistake) => mistake.startsWith('settings.')) ? 'settings' : 'credentials',
      `The channel does not fit its provider: ${mistakes.join('; ')}.`,
    );
  }
  const wrong = addressMistake(baseUrl, provider, settings, rules);
  if (wrong !== undefined) throw invalid('base_url', `base_url ${wrong}.`);
  const [other] = otherAddressMistakes(provider, given, rules);
  if (other !== undefined) throw invalid(other.replace(/\..*$/s, ''), `${other}.`);
  const checked = { ...channel, ...checkPlain(channel), baseUrl };
  const ofWindows = windowMistake(checked);
  if (ofWindows !== undefined) throw invalid('window_stride', `window_stride ${ofWindows}.`);
  return checked;
}

/** The members that can be checked one by one. */
export function checkPlain<T extends ChannelChange>(channel: T): T {
  checkMembers(CHANNEL_MEMBERS, channel);
  const { name, models, tag } = channel;
  return {
    ...channel,
    ...(name === undefined ? {} : { name: checkName(name, 'name') }),
    ...(models === undefined ? {} : { models: checkModels(models) }),
    ...(tag === undefined ? {} : { tag: checkName(tag, 'tag') }),
  };
}

function checkModels(models: Readonly<Record<string, string>>): Record<string, string> {
  const entries = Object.entries(models);
  if (entries.length === 0) throw invalid('models', 'models must name at least one model.');
  return Object.fromEntries(
    entries.map(([name, upstream]) => [checkName(name, 'models'), checkName(upstream, 'models')]),
  );
}

function checkBaseUrl(baseUrl: string | undefined): string | undefined {
  if (baseUrl === undefined) return undefined;
  const wrong = urlMistake(baseUrl);
  if (wrong !== undefined) throw invalid('base_url', `base_url ${wrong}.`);
  return baseUrl.replace(/\/+$/, '');
}

export function declaredInFile({ name }: Channel): GatewayError {
  return new GatewayError(
    'conflict',
    `Channel "${name}" is declared in the configuration: change it there. Only its status can be changed here.`,
  );
}

export function lockedCredentials(name: string): GatewayError {
  return new GatewayError(
    'conflict',
    `The credentials of channel "${name}" cannot be read with this encryption key; give them again.`,
    { param: 'credentials' },
  );
}

function unknownProvider(id: string): GatewayError {
  const known = allProviders().map((provider) => provider.id);
  return invalid('provider', unknownValue(id, known, 'a provider'));
}
