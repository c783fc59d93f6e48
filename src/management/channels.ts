import {
  CHANNEL_AUTO_DISABLED,
  CHANNEL_DISABLED,
  CHANNEL_ENABLED,
  effectiveStatus,
  type Channel,
  type ChannelStatus,
  type EffectiveStatus,
  type TagSwitch,
} from '../core/channel.js';
import { GatewayError } from '../core/errors.js';
import type { Probe, ProbeReport } from '../core/probe.js';
import type { Secret } from '../core/secret.js';
import { allProviders, findProvider } from '../providers/index.js';
import type { Provider, SettingValue } from '../providers/provider.js';
import { channelMistakes, settingMistakes } from '../providers/settings.js';
import {
  CredentialsLockedError,
  type ChannelChange,
  type ChannelSnapshot,
  type ChannelUpdate,
  type NewChannel,
} from '../store/store.js';
import { addressMistake, urlMistake } from './addresses.js';
import { recordAudit, type Actor, type ManagementDeps } from './audit.js';
import { checkInteger, checkName, invalid } from './fields.js';

export interface ChannelDeps extends ManagementDeps {
  /** Whether a channel may lie inside: on this machine or in a private network. */
  readonly allowPrivateUpstreams: boolean;
}

/** A channel to be. What is left out is as in a configuration file: priority 0, weight 1, enabled, no bounds. */
export interface ChannelDraft extends Partial<Omit<NewChannel, 'settings'>> {
  readonly name: string;
  readonly provider: string;
  readonly models: Readonly<Record<string, string>>;
  readonly settings?: Readonly<Record<string, SettingValue>>;
}

/** Members that are present replace; of settings and credentials each name does, and `null` takes one away. */
export interface ChannelEdit extends Partial<Omit<NewChannel, 'settings' | 'credentials'>> {
  readonly settings?: Readonly<Record<string, SettingValue | null>>;
  readonly credentials?: Readonly<Record<string, Secret | null>>;
}

/** What many channels may be given at once: nothing that says which server each of them is. */
export type SharedEdit = Pick<
  ChannelEdit,
  'models' | 'tag' | 'priority' | 'weight' | 'timeoutMs' | 'maxConcurrency' | 'scores'
>;

export type ChannelState =
  | EffectiveStatus
  /** Its credentials are in the store and cannot be read with this encryption key. */
  | { readonly live: false; readonly because: 'credentials_locked' }
  /** It does not fit what this release knows of its provider. */
  | { readonly live: false; readonly because: 'unusable'; readonly reason: string };

/** A channel as people see it: the names of its credentials alone, and whether it takes traffic. */
export interface ChannelView extends Omit<Channel, 'credentials'> {
  /** Empty for a channel of the configuration, which keeps them to itself. */
  readonly credentialNames: readonly string[];
  readonly state: ChannelState;
}

export interface ChannelWrite {
  readonly channel: ChannelView;
  readonly version: number;
}

export interface ChannelFilter {
  readonly tag?: string;
  readonly provider?: string;
  /** The caller's name of a model. */
  readonly model?: string;
  /** Part of the name, the address or a model in any case, or an id. */
  readonly keyword?: string;
  /** Whether it takes traffic. */
  readonly live?: boolean;
}

/** A model as callers name it, and who serves it. */
export interface ServedModel {
  readonly model: string;
  readonly channels: readonly Pick<ChannelView, 'id' | 'name' | 'tag' | 'state'>[];
}

/** What came of a write of several channels. */
export interface ChannelsWrite {
  /** Ids of the channels that it covered. */
  readonly ids: readonly number[];
  readonly version: number;
}

const MAX_WEIGHT = 1_000_000;
const MAX_TIMEOUT_MS = 3_600_000;

export async function listChannels(
  { store }: Pick<ManagementDeps, 'store'>,
  filter: ChannelFilter = {},
): Promise<ChannelView[]> {
  const snapshot = await store.loadChannels();
  return snapshot.channels
    .map((channel) => viewOf(channel, snapshot))
    .filter(
      (channel) =>
        (filter.tag === undefined || channel.tag === filter.tag) &&
        (filter.provider === undefined || channel.provider === filter.provider) &&
        (filter.model === undefined || Object.hasOwn(channel.models, filter.model)) &&
        (filter.live === undefined || channel.state.live === filter.live) &&
        (filter.keyword === undefined || mentions(channel, filter.keyword)),
    );
}

function mentions({ id, name, baseUrl = '', models }: ChannelView, keyword: string): boolean {
  if (String(id) === keyword) return true;
  const wanted = keyword.toLowerCase();
  const texts = [name, baseUrl, ...Object.entries(models).flat()];
  return texts.some((text) => text.toLowerCase().includes(wanted));
}

/** What a channel of a provider may carry, for who fills in a form. */
export interface ProviderView {
  readonly id: string;
  readonly title: string;
  /** Its public address; `undefined` where a channel must name its server, or where it ranks inside the gateway. */
  readonly baseUrl: string | undefined;
  readonly inside: boolean;
  readonly credentials: Provider['credentials'];
  readonly settings: Provider['settings'];
  readonly exampleModels: readonly string[];
  readonly notes: readonly string[];
}

export function listProviders(): ProviderView[] {
  return allProviders().map((provider) => ({
    id: provider.id,
    title: provider.title,
    baseUrl: provider.transport === 'http' ? provider.baseUrl : undefined,
    inside: provider.transport === 'process',
    credentials: provider.credentials,
    settings: provider.settings,
    exampleModels: provider.exampleModels,
    notes: provider.notes ?? [],
  }));
}

/** Every model that a channel serves, live or not, by name. */
export async function listModels(deps: Pick<ManagementDeps, 'store'>): Promise<ServedModel[]> {
  const byModel = new Map<string, ChannelView[]>();
  for (const channel of await listChannels(deps)) {
    for (const model of Object.keys(channel.models)) {
      const serving = byModel.get(model);
      if (serving === undefined) byModel.set(model, [channel]);
      else serving.push(channel);
    }
  }
  return [...byModel]
    .map(([model, channels]) => ({ model, channels }))
    .sort((a, b) => (a.model < b.model ? -1 : 1));
}

export async function getChannel(
  { store }: Pick<ManagementDeps, 'store'>,
  id: number,
): Promise<ChannelView> {
  const snapshot = await store.loadChannels();
  return viewOf(find(snapshot, id), snapshot);
}

export async function createChannel(
  deps: ChannelDeps,
  draft: ChannelDraft,
  actor: Actor,
): Promise<ChannelWrite> {
  const channel = checkChannel(deps, {
    baseUrl: undefined,
    credentials: {},
    tag: undefined,
    priority: 0,
    weight: 1,
    timeoutMs: undefined,
    maxConcurrency: 0,
    status: CHANNEL_ENABLED,
    scores: 'raw',
    settings: {},
    ...spelled(draft, draft.provider),
  });
  const created = await unlocked(() => deps.store.createChannel(channel));
  return written(deps, created, 'channel.create', channel, actor);
}

/** Changes what is given and leaves the rest. Another provider starts without settings and credentials. */
export async function updateChannel(
  deps: ChannelDeps,
  id: number,
  edit: ChannelEdit,
  actor: Actor,
): Promise<ChannelWrite> {
  const snapshot = await deps.store.loadChannels();
  const current = find(snapshot, id);
  const changed = withoutSame(current, spelled(edit, edit.provider ?? current.provider));
  if (changed.status === CHANNEL_AUTO_DISABLED) {
    throw invalid(
      'status',
      'status can be set to 1 (enabled) or 2 (disabled); 3 is for the gateway to set.',
    );
  }
  const change = checkEdit(deps, current, changed, snapshot.locked.has(id));
  const updated = await unlocked(() => deps.store.updateChannel(id, change));
  return written(deps, updated, 'channel.update', change, actor);
}

export function setChannelEnabled(
  deps: ChannelDeps,
  id: number,
  enabled: boolean,
  actor: Actor,
): Promise<ChannelWrite> {
  return updateChannel(deps, id, { status: enabled ? CHANNEL_ENABLED : CHANNEL_DISABLED }, actor);
}

/** Resolves to the version from which on no gateway uses the channel. */
export async function deleteChannel(
  deps: ManagementDeps,
  id: number,
  actor: Actor,
): Promise<number> {
  const channel = find(await deps.store.loadChannels(), id);
  if (channel.origin === 'config') throw declared(channel);
  const version = await deps.store.deleteChannel(id);
  if (version === undefined) throw noChannel(id);
  await recordAudit(deps, actor, 'channel.delete', target(id), { name: channel.name });
  return version;
}

/** Deletes those that are there, in turn. One of the configuration among them refuses the whole. */
export async function deleteChannels(
  deps: ManagementDeps,
  ids: readonly number[],
  actor: Actor,
): Promise<ChannelsWrite> {
  const { channels, version: before } = await deps.store.loadChannels();
  const wanted = new Set(ids);
  const found = channels.filter(({ id }) => wanted.has(id));
  const fixed = found.find(({ origin }) => origin === 'config');
  if (fixed !== undefined) throw declared(fixed);
  const gone: number[] = [];
  let version = before;
  for (const { id, name } of found) {
    const after = await deps.store.deleteChannel(id);
    // Somebody else was faster.
    if (after === undefined) continue;
    version = after;
    gone.push(id);
    await recordAudit(deps, actor, 'channel.delete', target(id), { name });
  }
  return { ids: gone, version };
}

/**
 * One edit of many channels as one write: all of them or, when one may not be changed so, none. `before` runs ahead of the
 * write, once nothing speaks against it.
 */
export async function editChannels(
  deps: ManagementDeps,
  ids: readonly number[],
  edit: SharedEdit,
  actor: Actor,
  before: () => Promise<void> = () => Promise.resolve(),
): Promise<ChannelsWrite> {
  const { channels } = await deps.store.loadChannels();
  const byId = new Map(channels.map((channel) => [channel.id, channel]));
  const wanted = [...new Set(ids)];
  for (const id of wanted) {
    const channel = byId.get(id);
    if (channel === undefined) throw noChannel(id);
    if (channel.origin === 'config') throw declared(channel);
  }
  const change = checkPlain(edit);
  await before();
  const version = await deps.store.updateChannels(wanted.map((id) => ({ id, change })));
  if (version === undefined) {
    throw new GatewayError('conflict', 'The channels have changed meanwhile; nothing was done.');
  }
  for (const id of wanted)
    await recordAudit(deps, actor, 'channel.update', target(id), { ...change });
  return { ids: wanted, version };
}

/** Sends one channel a real request of two documents, also when it is switched off. */
export async function testChannel(
  deps: ManagementDeps & { readonly probe: Probe },
  id: number,
  given: string | undefined,
  actor: Actor,
): Promise<ProbeReport> {
  const snapshot = await deps.store.loadChannels();
  const channel = find(snapshot, id);
  if (snapshot.locked.has(id)) throw lockedCredentials(channel.name);
  const [first = ''] = Object.keys(channel.models);
  const model = given ?? first;
  if (!Object.hasOwn(channel.models, model)) {
    throw invalid(
      'model',
      `Channel "${channel.name}" does not serve "${model}"; it serves ${Object.keys(channel.models).join(', ')}.`,
    );
  }
  const tested = await deps.probe(channel, model);
  const outcome = tested.problem?.code ?? 'ok';
  await recordAudit(deps, actor, 'channel.test', target(id), { model, outcome });
  return tested;
}

/** A second channel like the first, with its credentials, under a name of its own. */
export async function copyChannel(
  deps: ChannelDeps,
  id: number,
  given: { readonly name?: string; readonly status?: ChannelStatus },
  actor: Actor,
): Promise<ChannelWrite> {
  const snapshot = await deps.store.loadChannels();
  const { id: _, origin, ...original } = find(snapshot, id);
  if (snapshot.locked.has(id)) throw lockedCredentials(original.name);
  if (origin === 'config' && needsCredentials(original.provider)) {
    throw new GatewayError(
      'conflict',
      `The credentials of channel "${original.name}" are in the configuration alone; create a channel with credentials of its own instead.`,
    );
  }
  const names = new Set(snapshot.channels.map(({ name }) => name));
  const channel = checkChannel(deps, {
    ...original,
    name: given.name ?? freeName(original.name, names),
    status: given.status ?? original.status,
  });
  const created = await unlocked(() => deps.store.createChannel(channel));
  return written(deps, created, 'channel.copy', { name: channel.name, from: id }, actor);
}

/** Whether a channel takes traffic on a gateway of this release, and if not, why. */
export function channelState(
  channel: Channel,
  switches: ReadonlyMap<string, TagSwitch>,
  locked: ReadonlySet<number>,
): ChannelState {
  const effective = effectiveStatus(channel, switches);
  if (!effective.live) return effective;
  if (locked.has(channel.id)) return { live: false, because: 'credentials_locked' };
  const provider = findProvider(channel.provider);
  if (provider === undefined) {
    return { live: false, because: 'unusable', reason: `unknown provider "${channel.provider}"` };
  }
  // What the configuration declares is checked where it is read, and its credentials are not here.
  if (channel.origin === 'config') return effective;
  const mistakes = settingMistakes(provider, channel.settings, Object.keys(channel.credentials));
  return mistakes.length === 0
    ? effective
    : { live: false, because: 'unusable', reason: mistakes.join('; ') };
}

export function switchesOf({ switches }: ChannelSnapshot): ReadonlyMap<string, TagSwitch> {
  return new Map(switches.map((entry) => [entry.tag, entry]));
}

function viewOf(channel: Channel, snapshot: ChannelSnapshot): ChannelView {
  const { credentials, ...shown } = channel;
  return {
    ...shown,
    credentialNames: Object.keys(credentials),
    state: channelState(channel, switchesOf(snapshot), snapshot.locked),
  };
}

async function written(
  deps: ManagementDeps,
  update: ChannelUpdate,
  action: string,
  { credentials, ...detail }: ChannelChange & { readonly from?: number },
  actor: Actor,
): Promise<ChannelWrite> {
  switch (update.kind) {
    case 'not_found':
      throw new GatewayError('not_found', 'There is no such channel any more.');
    case 'name_taken':
      throw new GatewayError('conflict', `There is a channel "${detail.name ?? ''}" already.`, {
        param: 'name',
      });
    case 'updated': {
      const { channel, version } = update;
      const names = credentials === undefined ? {} : { credentials: Object.keys(credentials) };
      await recordAudit(deps, actor, action, target(channel.id), { ...detail, ...names });
      return { channel: viewOf(channel, await deps.store.loadChannels()), version };
    }
  }
}

/** The change to store, judged on the channel as it will be. */
function checkEdit(
  deps: ChannelDeps,
  current: Channel,
  edit: ChannelEdit,
  locked: boolean,
): ChannelChange {
  if (current.origin === 'config' && Object.keys(edit).some((member) => member !== 'status')) {
    throw declared(current);
  }
  const { settings, credentials, ...plain } = edit;
  const moves = edit.provider !== undefined && edit.provider !== current.provider;
  const aimed = moves || settings !== undefined || credentials !== undefined || 'baseUrl' in edit;
  if (!aimed) return checkPlain(plain);
  if (locked && credentials === undefined && !moves) throw lockedCredentials(current.name);
  const next = checkChannel(deps, {
    ...current,
    ...plain,
    settings: merge(moves ? {} : current.settings, settings),
    credentials: merge(moves ? {} : current.credentials, credentials),
  });
  const { provider, baseUrl } = next;
  return {
    ...checkPlain(plain),
    provider,
    baseUrl,
    settings: next.settings,
    // Written only when they change: untouched ones need no encryption key.
    ...(moves || credentials !== undefined ? { credentials: next.credentials } : {}),
  };
}

/** What an edit really changes: clients send whole channels back with one member changed. */
function withoutSame(current: Channel, edit: ChannelEdit): ChannelEdit {
  const moves = edit.provider !== undefined && edit.provider !== current.provider;
  const entries = Object.entries(edit).filter(([member, value]) => {
    const before = current[member as keyof ChannelEdit];
    switch (member) {
      case 'credentials':
        return Object.keys(edit.credentials ?? {}).length > 0;
      case 'settings':
        // Another provider starts without them, so that the same ones are news there.
        return (
          moves ||
          Object.entries(edit.settings ?? {}).some(
            ([name, setting]) => (setting ?? undefined) !== current.settings[name],
          )
        );
      case 'models':
        return !isSameMap(edit.models ?? {}, current.models);
      default:
        return value !== before;
    }
  });
  return Object.fromEntries(entries);
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
 * Settings and credentials under the names that their provider gives them, which a client may also write as in a
 * configuration file: `api_key` for `apiKey`. Other names stay, to be refused by name.
 */
function spelled<T extends Pick<ChannelEdit, 'settings' | 'credentials'>>(
  edit: T,
  providerId: string,
): T {
  const provider: Provider | undefined = findProvider(providerId);
  return {
    ...edit,
    ...(edit.settings === undefined
      ? {}
      : { settings: renamed(edit.settings, provider?.settings ?? {}) }),
    ...(edit.credentials === undefined
      ? {}
      : { credentials: renamed(edit.credentials, provider?.credentials ?? {}) }),
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

function checkChannel(
  { allowPrivateUpstreams }: ChannelDeps,
  channel: NewChannel & { readonly settings: Readonly<Record<string, unknown>> },
): NewChannel {
  const provider = findProvider(channel.provider);
  if (provider === undefined) throw unknownProvider(channel.provider);
  const baseUrl = checkBaseUrl(channel.baseUrl);
  // `channelMistakes` judges the values: what is no setting value is one of the mistakes.
  const settings = channel.settings as Readonly<Record<string, SettingValue>>;
  const mistakes = channelMistakes(provider, { settings, credentials: channel.credentials });
  if (mistakes.length > 0) {
    throw invalid(
      mistakes.some((mistake) => mistake.startsWith('settings.')) ? 'settings' : 'credentials',
      `The channel does not fit its provider: ${mistakes.join('; ')}.`,
    );
  }
  const wrong = addressMistake(baseUrl, provider, settings, allowPrivateUpstreams);
  if (wrong !== undefined) throw invalid('base_url', `base_url ${wrong}.`);
  return { ...channel, ...checkPlain(channel), baseUrl };
}

/** The members that can be judged each by itself. */
function checkPlain<T extends ChannelChange>(channel: T): T {
  const { name, models, tag, priority, weight, timeoutMs, maxConcurrency } = channel;
  if (priority !== undefined) {
    checkInteger(priority, Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER, 'priority');
  }
  if (weight !== undefined && !(weight >= 0 && weight <= MAX_WEIGHT)) {
    throw invalid('weight', `weight must be a number from 0 to ${MAX_WEIGHT}.`);
  }
  if (timeoutMs !== undefined) checkInteger(timeoutMs, 1, MAX_TIMEOUT_MS, 'timeout_ms');
  if (maxConcurrency !== undefined) checkInteger(maxConcurrency, 0, 1_000_000, 'max_concurrency');
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

/** Runs a write of credentials; that they cannot be sealed is the operator's to mend. */
async function unlocked<T>(write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    if (!(error instanceof CredentialsLockedError)) throw error;
    throw new GatewayError('conflict', error.message, { param: 'credentials', cause: error });
  }
}

function needsCredentials(id: string): boolean {
  const provider: Provider | undefined = findProvider(id);
  return Object.keys(provider?.credentials ?? {}).length > 0;
}

function freeName(name: string, taken: ReadonlySet<string>): string {
  let copy = `${name}-copy`;
  for (let count = 2; taken.has(copy); count += 1) copy = `${name}-copy-${count}`;
  return copy;
}

function find({ channels }: ChannelSnapshot, id: number): Channel {
  const channel = channels.find((candidate) => candidate.id === id);
  if (channel === undefined) throw noChannel(id);
  return channel;
}

function noChannel(id: number): GatewayError {
  return new GatewayError('not_found', `There is no channel with id ${id}.`);
}

function declared({ name }: Channel): GatewayError {
  return new GatewayError(
    'conflict',
    `Channel "${name}" is declared in the configuration: change it there. Only its status can be changed here.`,
  );
}

function lockedCredentials(name: string): GatewayError {
  return new GatewayError(
    'conflict',
    `The credentials of channel "${name}" cannot be read with this encryption key; give them again.`,
    { param: 'credentials' },
  );
}

function unknownProvider(id: string): GatewayError {
  const known = allProviders().map((provider) => provider.id);
  return invalid('provider', `"${id}" is not a provider; known are ${known.join(', ')}.`);
}

function target(id: number): string {
  return `channel:${id}`;
}
