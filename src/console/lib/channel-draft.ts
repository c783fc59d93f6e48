import { MEMBERS } from '../api/members.js';
import type { Operations } from '../api/operations.js';
import { changedMembers, memberFlags, textsOf, type MemberTexts } from './members.js';
import { commandOf } from './shell.js';

/** What somebody types to add or change a channel; this file makes the API's request bodies from it. Pure. */
export interface ChannelDraft {
  readonly name: string;
  readonly provider: string;
  readonly base_url: string;
  readonly credentials: Readonly<Record<string, string>>;
  readonly settings: Readonly<Record<string, string>>;
  /** One per line: the callers’ name, and after `=` the upstream’s name if it differs. */
  readonly models: string;
  readonly tag: string;
  readonly members: MemberTexts;
}

type CreateBody = Operations['createChannel']['body'];
type UpdateBody = Operations['updateChannel']['body'];
type SettingValue = string | number | boolean;

/** What a form needs to know about a provider. */
interface ProviderShape {
  readonly id: string;
  readonly settings: readonly { readonly name: string; readonly type: string }[];
}

/** A channel as the API shows it, its members besides these included. */
export interface KnownChannel extends Readonly<Record<string, unknown>> {
  readonly id: number;
  readonly name: string;
  readonly provider: string;
  readonly base_url: string | null;
  readonly settings: Readonly<Record<string, SettingValue>>;
  readonly models: Readonly<Record<string, string>>;
  readonly tag: string | null;
}

export function emptyDraft(provider: string): ChannelDraft {
  return {
    ...{ name: provider, provider, base_url: '', credentials: {}, settings: {}, models: '' },
    ...{ tag: '', members: {} },
  };
}

export function draftOf(channel: KnownChannel): ChannelDraft {
  const { name, provider } = channel;
  const settings = Object.entries(channel.settings).map(([key, value]) => [key, String(value)]);
  return {
    ...{ name, provider },
    base_url: channel.base_url ?? '',
    credentials: {},
    settings: Object.fromEntries(settings) as Record<string, string>,
    models: modelsText(channel.models),
    tag: channel.tag ?? '',
    members: textsOf(MEMBERS.channel, channel),
  };
}

function modelsText(models: Readonly<Record<string, string>>): string {
  return Object.entries(models)
    .map(([name, upstream]) => (name === upstream ? name : `${name} = ${upstream}`))
    .join('\n');
}

export function modelsOf(text: string): Record<string, string> {
  const pairs = text
    .split(/[\n,]/)
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .map((line) => {
      const at = line.indexOf('=');
      const name = at < 0 ? line : line.slice(0, at).trim();
      const upstream = at < 0 ? line : line.slice(at + 1).trim();
      return [name, upstream === '' ? name : upstream] as const;
    });
  return Object.fromEntries(pairs);
}

/** The body that adds the channel; the gateway fills in what is left empty. */
export function createBody(
  draft: ChannelDraft,
  provider: ProviderShape | undefined,
): Omit<CreateBody, 'status' | 'reason'> {
  const credentials = typed(draft.credentials);
  const settings = settingsOf(draft, provider);
  return {
    name: draft.name.trim(),
    provider: draft.provider,
    models: modelsOf(draft.models),
    ...(draft.base_url.trim() === '' ? {} : { base_url: draft.base_url.trim() }),
    ...(Object.keys(credentials).length === 0 ? {} : { credentials }),
    ...(Object.keys(settings).length === 0 ? {} : { settings }),
    ...(draft.tag.trim() === '' ? {} : { tag: draft.tag.trim() }),
    ...changedMembers(MEMBERS.channel, draft.members),
  };
}

/** The body that changes the channel to what was typed: it omits what is unchanged, so as not to undo others’ changes. */
export function updateBody(
  channel: KnownChannel,
  draft: ChannelDraft,
  provider: ProviderShape | undefined,
): UpdateBody {
  const credentials = typed(draft.credentials);
  const settings = changedSettings(channel, settingsOf(draft, provider));
  const models = modelsOf(draft.models);
  const plain = {
    name: draft.name.trim(),
    base_url: draft.base_url.trim() === '' ? null : draft.base_url.trim(),
    tag: draft.tag.trim() === '' ? null : draft.tag.trim(),
  };
  const changed = Object.entries(plain).filter(
    ([name, value]) => value !== channel[name as keyof typeof plain],
  );
  return {
    id: channel.id,
    ...Object.fromEntries(changed),
    ...changedMembers(MEMBERS.channel, draft.members, channel),
    ...(modelsText(models) === modelsText(channel.models) ? {} : { models }),
    ...(Object.keys(settings).length === 0 ? {} : { settings }),
    ...(Object.keys(credentials).length === 0 ? {} : { credentials }),
  };
}

function typed(texts: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(texts).filter(([, text]) => text !== ''));
}

function settingsOf(
  { settings }: ChannelDraft,
  provider: ProviderShape | undefined,
): Record<string, SettingValue> {
  const types = new Map(provider?.settings.map(({ name, type }) => [name, type]));
  const read = (name: string, text: string): SettingValue => {
    const type = types.get(name);
    // Anything that is not a number stays text: the gateway refuses it and names the setting.
    if (type === 'number' && Number.isFinite(Number(text))) return Number(text);
    return type === 'boolean' ? text === 'true' : text;
  };
  return Object.fromEntries(
    Object.entries(typed(settings)).map(([name, text]) => [name, read(name, text)]),
  );
}

/** Null removes a setting. */
function changedSettings(
  channel: KnownChannel,
  settings: Readonly<Record<string, SettingValue>>,
): Record<string, SettingValue | null> {
  const gone = Object.keys(channel.settings).filter((name) => !Object.hasOwn(settings, name));
  return Object.fromEntries([
    ...Object.entries(settings).filter(([name, value]) => channel.settings[name] !== value),
    ...gone.map((name) => [name, null] as const),
  ]);
}

/** The command that adds the same channel; credentials are read from the environment. */
export function createCommand(draft: ChannelDraft): string {
  const models = Object.entries(modelsOf(draft.models)).map(([name, upstream]) =>
    name === upstream ? name : `${name}=${upstream}`,
  );
  return commandOf('channels create', [
    ['name', draft.name.trim()],
    ['provider', draft.provider],
    ['models', models.join(',')],
    ['base-url', draft.base_url.trim()],
    ...Object.entries(typed(draft.credentials)).map(
      ([name]) => ['credential', `${name}=env:${name.toUpperCase()}`] as const,
    ),
    ...Object.entries(typed(draft.settings)).map(
      ([name, value]) => ['setting', `${name}=${value}`] as const,
    ),
    ['tag', draft.tag.trim()],
    ...memberFlags(MEMBERS.channel, draft.members),
  ]);
}
