import type { Operations } from '../api/operations.js';

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
  readonly priority: string;
  readonly weight: string;
  readonly timeout_ms: string;
  readonly max_concurrency: string;
  readonly requests_per_minute: string;
  readonly tokens_per_minute: string;
  readonly key_max_concurrency: string;
  readonly key_requests_per_minute: string;
  readonly key_tokens_per_minute: string;
  readonly pair_tokens: string;
  readonly window_size: string;
  readonly window_stride: string;
  readonly health_check_s: string;
  readonly scores: 'raw' | 'normalized';
  readonly long_documents: 'truncate' | 'chunk';
  readonly retry_unsafe: boolean;
}

/** Numbers of a channel, with the default for an empty field; null stands for the gateway’s default. */
const NUMBERS = {
  ...{ priority: 0, weight: 1, timeout_ms: null, max_concurrency: 0 },
  ...{ requests_per_minute: 0, tokens_per_minute: 0 },
  ...{ key_max_concurrency: 0, key_requests_per_minute: 0, key_tokens_per_minute: 0 },
  ...{ pair_tokens: null, window_size: null, window_stride: null, health_check_s: null },
} as const;

type NumberName = keyof typeof NUMBERS;
const NUMBER_NAMES = Object.keys(NUMBERS) as NumberName[];

type CreateBody = Operations['createChannel']['body'];
type UpdateBody = Operations['updateChannel']['body'];
type SettingValue = string | number | boolean;

/** What a form needs to know about a provider. */
interface ProviderShape {
  readonly id: string;
  readonly settings: readonly { readonly name: string; readonly type: string }[];
}

/** A channel as the API shows it. */
export interface KnownChannel {
  readonly id: number;
  readonly name: string;
  readonly provider: string;
  readonly base_url: string | null;
  readonly settings: Readonly<Record<string, SettingValue>>;
  readonly models: Readonly<Record<string, string>>;
  readonly tag: string | null;
  readonly priority: number;
  readonly weight: number;
  readonly timeout_ms: number | null;
  readonly max_concurrency: number;
  readonly requests_per_minute: number;
  readonly tokens_per_minute: number;
  readonly key_max_concurrency: number;
  readonly key_requests_per_minute: number;
  readonly key_tokens_per_minute: number;
  readonly pair_tokens: number | null;
  readonly window_size: number | null;
  readonly window_stride: number | null;
  readonly health_check_s: number | null;
  readonly scores: 'raw' | 'normalized';
  readonly long_documents: 'truncate' | 'chunk';
  readonly retry_unsafe: boolean;
}

export function emptyDraft(provider: string): ChannelDraft {
  return {
    ...{ name: provider, provider, base_url: '', credentials: {}, settings: {}, models: '' },
    ...{ tag: '', priority: '', weight: '', timeout_ms: '', max_concurrency: '' },
    ...{ requests_per_minute: '', tokens_per_minute: '' },
    ...{ key_max_concurrency: '', key_requests_per_minute: '', key_tokens_per_minute: '' },
    ...{ pair_tokens: '', window_size: '', window_stride: '', health_check_s: '' },
    scores: 'raw',
    long_documents: 'truncate',
    retry_unsafe: false,
  };
}

export function draftOf(channel: KnownChannel): ChannelDraft {
  const { name, provider, scores, long_documents, retry_unsafe } = channel;
  const numbers = NUMBER_NAMES.map((member) => [member, textOf(channel[member])] as const);
  const settings = Object.entries(channel.settings).map(([key, value]) => [key, String(value)]);
  return {
    ...{ name, provider, scores, long_documents, retry_unsafe },
    base_url: channel.base_url ?? '',
    credentials: {},
    settings: Object.fromEntries(settings) as Record<string, string>,
    models: modelsText(channel.models),
    tag: channel.tag ?? '',
    ...(Object.fromEntries(numbers) as Record<NumberName, string>),
  };
}

function textOf(number: number | null): string {
  return number === null ? '' : String(number);
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
    ...numbersOf(draft),
    ...(draft.scores === 'raw' ? {} : { scores: draft.scores }),
    ...(draft.long_documents === 'truncate' ? {} : { long_documents: draft.long_documents }),
    ...(draft.retry_unsafe ? { retry_unsafe: true } : {}),
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
    ...(Object.fromEntries(
      NUMBER_NAMES.map((name) => [name, numberOr(draft[name], NUMBERS[name])]),
    ) as Record<NumberName, number | null>),
    scores: draft.scores,
    long_documents: draft.long_documents,
    retry_unsafe: draft.retry_unsafe,
  };
  const changed = Object.entries(plain).filter(
    ([name, value]) => value !== channel[name as keyof typeof plain],
  );
  return {
    id: channel.id,
    ...Object.fromEntries(changed),
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

function numbersOf(draft: ChannelDraft): Partial<CreateBody> {
  const given = NUMBER_NAMES.filter((name) => draft[name].trim() !== '');
  return Object.fromEntries(given.map((name) => [name, Number(draft[name])]));
}

function numberOr<T>(text: string, otherwise: T): number | T {
  return text.trim() === '' ? otherwise : Number(text);
}

/** The command that adds the same channel; credentials are read from the environment. */
export function createCommand(draft: ChannelDraft): string {
  const quoted = (text: string): string => (/^[\w./:@=,-]+$/.test(text) ? text : `'${text}'`);
  const models = Object.entries(modelsOf(draft.models)).map(([name, upstream]) =>
    name === upstream ? name : `${name}=${upstream}`,
  );
  const flags: readonly (readonly [string, string])[] = [
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
    ['priority', draft.priority],
    ['weight', draft.weight],
    ['timeout', draft.timeout_ms],
    ['max-concurrency', draft.max_concurrency],
    ['requests-per-minute', draft.requests_per_minute],
    ['tokens-per-minute', draft.tokens_per_minute],
    ['key-max-concurrency', draft.key_max_concurrency],
    ['key-requests-per-minute', draft.key_requests_per_minute],
    ['key-tokens-per-minute', draft.key_tokens_per_minute],
    ['scores', draft.scores === 'raw' ? '' : draft.scores],
    ['retry-unsafe', draft.retry_unsafe ? 'true' : ''],
    ['pair-tokens', draft.pair_tokens],
    ['long-documents', draft.long_documents === 'truncate' ? '' : draft.long_documents],
    ['window-size', draft.window_size],
    ['window-stride', draft.window_stride],
    ['health-check', draft.health_check_s],
  ];
  const given = flags.filter(([, value]) => value !== '');
  return [
    'npm run cli -- channels create',
    ...given.map(([flag, value]) => `--${flag} ${quoted(value)}`),
  ].join(' ');
}
