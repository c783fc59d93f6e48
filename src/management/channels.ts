import { apiKeysOf } from '../core/api-keys.js';
import {
  CHANNEL_DEFAULTS,
  CHANNEL_MEMBERS,
  windowMistake,
  type SharedMember,
} from '../core/channel-members.js';
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
import type { Discover, Discovery, ListUpstreamModels, UnknownServer } from '../core/discovery.js';
import { GatewayError } from '../core/errors.js';
import { returnDuty } from '../core/outage.js';
import type { Probe, ProbeReport } from '../core/probe.js';
import { snakeCase, snakeKeys } from '../core/records.js';
import { Secret } from '../core/secret.js';
import { allProviders, findProvider } from '../providers/index.js';
import type { Provider, SettingValue } from '../providers/provider.js';
import { credentialMistakes } from '../providers/credential-forms.js';
import {
  channelMistakes,
  sealSettings,
  secretSettings,
  settingMistakes,
} from '../providers/settings.js';
import {
  CredentialsLockedError,
  type ChannelChange,
  type ChannelSnapshot,
  type ChannelUpdate,
  type NewChannel,
} from '../store/store.js';
import {
  addressMistake,
  judgeUrl,
  otherAddressMistakes,
  urlMistake,
  type AddressRules,
} from './addresses.js';
import { recordAudit, type Actor, type ManagementDeps } from './audit.js';
import { changedSince, channelRevision, still } from './revision.js';
import { sightingsOf, UNSEEN, type Sighting } from './channel-sightings.js';
import { checkMembers, checkName, invalid } from './fields.js';
import { latestChannels } from './latest-channels.js';

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
export type SharedEdit = Pick<ChannelEdit, 'models' | 'tag' | SharedMember>;

export type ChannelState =
  | EffectiveStatus
  /** Its stored credentials cannot be read with this encryption key. */
  | { readonly live: false; readonly because: 'credentials_locked' }
  /** It does not fit what this release knows about its provider. */
  | { readonly live: false; readonly because: 'unusable'; readonly reason: string };

/** Why a channel takes no traffic. */
export type Because = Extract<ChannelState, { live: false }>['because'];

/** A channel as people see it: only the names of its credentials, and whether it takes traffic. */
export interface ChannelView extends Omit<Channel, 'credentials'> {
  /** Empty for a configured channel, whose credentials stay in the configuration. */
  readonly credentialNames: readonly string[];
  /** How many API keys it has; `undefined` for a configured channel. */
  readonly keyCount: number | undefined;
  readonly state: ChannelState;
  /** What the gateways have found out about it; empty right after a write. */
  readonly sighted: Sighting;
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
  /** Part of the name, the address or a model, in any case, or an id. */
  readonly keyword?: string;
  /** Whether it takes traffic. */
  readonly live?: boolean;
  /** Why it takes none. */
  readonly because?: Because;
  /** By id unless given; `tried`: in the order in which the gateway tries the channels of one model. */
  readonly sort?: ChannelSort;
}

export type ChannelSort = 'id' | 'name' | 'tried';

/** A model as callers name it, and its channels in the order in which they are tried. */
export interface ServedModel {
  readonly model: string;
  readonly channels: readonly ChannelView[];
}

/** The result of writing several channels. */
export interface ChannelsWrite {
  /** Ids of the channels that it covered. */
  readonly ids: readonly number[];
  readonly version: number;
}

type ReadDeps = Pick<ManagementDeps, 'store' | 'now'>;

export async function listChannels(
  deps: ReadDeps,
  filter: ChannelFilter = {},
): Promise<ChannelView[]> {
  const snapshot = await latestChannels(deps.store);
  const sightings = await sightingsOf(deps, snapshot);
  const found = snapshot.channels
    .map((channel) => viewOf(channel, snapshot, sightings.get(channel.id)))
    .filter(
      (channel) =>
        (filter.tag === undefined || channel.tag === filter.tag) &&
        (filter.provider === undefined || channel.provider === filter.provider) &&
        (filter.model === undefined || Object.hasOwn(channel.models, filter.model)) &&
        (filter.live === undefined || channel.state.live === filter.live) &&
        (filter.because === undefined || becauseOf(channel) === filter.because) &&
        (filter.keyword === undefined || mentions(channel, filter.keyword)),
    );
  return found.sort(ORDERS[filter.sort ?? 'id']);
}

/** Weight is a share and not a rank; people read the heavier one first. */
const asTried = (one: ChannelView, other: ChannelView): number =>
  other.priority - one.priority || other.weight - one.weight || one.id - other.id;

const ORDERS: Readonly<Record<ChannelSort, (one: ChannelView, other: ChannelView) => number>> = {
  id: (one, other) => one.id - other.id,
  name: (one, other) => (one.name < other.name ? -1 : 1),
  tried: asTried,
};

function becauseOf({ state }: ChannelView): Because | undefined {
  return state.live ? undefined : state.because;
}

function mentions({ id, name, baseUrl = '', models }: ChannelView, keyword: string): boolean {
  if (String(id) === keyword) return true;
  const wanted = keyword.toLowerCase();
  const texts = [name, baseUrl, ...Object.entries(models).flat()];
  return texts.some((text) => text.toLowerCase().includes(wanted));
}

/** What a channel of a provider may have, for whoever fills in a form. */
export interface ProviderView {
  readonly id: string;
  readonly title: string;
  /** Its public address; `undefined` if a channel must name its server, or if it ranks inside the gateway. */
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
export async function listModels(deps: ReadDeps): Promise<ServedModel[]> {
  const byModel = new Map<string, ChannelView[]>();
  for (const channel of await listChannels(deps, { sort: 'tried' })) {
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

export async function getChannel(deps: ReadDeps, id: number): Promise<ChannelView> {
  const snapshot = await deps.store.loadChannels();
  const channel = find(snapshot, id);
  const sightings = await sightingsOf(deps, { channels: [channel] });
  return viewOf(channel, snapshot, sightings.get(id));
}

export async function createChannel(
  deps: ChannelDeps,
  draft: ChannelDraft,
  actor: Actor,
): Promise<ChannelWrite> {
  const channel = draftedChannel(deps, draft);
  const created = await unlocked(() => deps.store.createChannel(channel));
  return written(deps, created, 'channel.create', channel, actor);
}

function draftedChannel(deps: ChannelDeps, draft: ChannelDraft): NewChannel {
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

/**
 * Changes what is given and leaves the rest. A new provider starts without settings and credentials; a change of where
 * requests go, or of how they carry the credentials, requires all credentials again.
 */
export async function updateChannel(
  deps: ChannelDeps,
  id: number,
  edit: ChannelEdit,
  actor: Actor,
  ifRevision?: string,
): Promise<ChannelWrite> {
  const snapshot = await deps.store.loadChannels();
  const current = find(snapshot, id);
  const when = still(ifRevision, (channel: Channel) => channelRevision(shown(kept(channel))));
  if (when?.(current) === false) throw changedSince('The channel');
  const changed = withoutSame(current, spelled(edit, edit.provider ?? current.provider));
  if (changed.status === CHANNEL_AUTO_DISABLED) {
    throw invalid(
      'status',
      'status can be set to 1 (enabled) or 2 (disabled); 3 is for the gateway to set.',
    );
  }
  const change = checkEdit(deps, current, changed, snapshot.locked.has(id));
  const updated = await unlocked(() =>
    // A status set by hand has the last word, whatever the gateway found.
    deps.store.updateChannel(
      id,
      'status' in change ? { ...change, outage: undefined } : change,
      when,
    ),
  );
  // The change may have fixed the problem: the next probe of a channel that the gateway disabled is due now.
  if (current.outage !== undefined) await deps.store.dropDuty(returnDuty(id, current.outage));
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

/** Which channels a bulk switch has changed, and from which version on. */
export interface SwitchWrite extends ChannelsWrite {
  /** Those of `ids` that the gateway itself had disabled: they were neither on nor off by hand. */
  readonly autoDisabled: readonly number[];
}

/**
 * Switches many channels on or off in one write, configured ones included. `ids` in the reply lists those whose status
 * changed: switching them back is the exact undo, except for those that the gateway had disabled.
 */
export async function switchChannels(
  { store, now }: ManagementDeps,
  ids: readonly number[],
  enabled: boolean,
  actor: Actor,
): Promise<SwitchWrite> {
  const { channels, version: before } = await store.loadChannels();
  const byId = new Map(channels.map((channel) => [channel.id, channel]));
  const status: ChannelStatus = enabled ? CHANNEL_ENABLED : CHANNEL_DISABLED;
  const found = [...new Set(ids)].map((id) => {
    const channel = byId.get(id);
    if (channel === undefined) throw noChannel(id);
    return channel;
  });
  const others = found.filter((channel) => channel.status !== status);
  if (others.length === 0) return { ids: [], autoDisabled: [], version: before };
  const change = { status, outage: undefined };
  const version = await store.updateChannels(others.map(({ id }) => ({ id, change })));
  if (version === undefined) throw changedMeanwhile();
  for (const { id, outage } of others) {
    if (outage !== undefined) await store.dropDuty(returnDuty(id, outage));
    await recordAudit({ store, now }, actor, 'channel.update', target(id), { status });
  }
  const autoDisabled = others.filter((channel) => channel.status === CHANNEL_AUTO_DISABLED);
  return {
    ids: others.map(({ id }) => id),
    autoDisabled: autoDisabled.map(({ id }) => id),
    version,
  };
}

function changedMeanwhile(): GatewayError {
  return new GatewayError(
    'conflict',
    'The channels have changed in the meantime; nothing was done.',
  );
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

/** Deletes those that exist, in turn. A configured one among them refuses the whole request. */
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
 * Edits many channels in one write: all of them or, if one may not be changed that way, none. `before` runs ahead of the
 * write, once nothing rules it out.
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
  if (version === undefined) throw changedMeanwhile();
  for (const id of wanted)
    await recordAudit(deps, actor, 'channel.update', target(id), { ...change });
  return { ids: wanted, version };
}

/** Sends one channel a real request of two documents, even if it is switched off. */
export async function testChannel(
  deps: ManagementDeps & { readonly probe: Probe },
  id: number,
  given: string | undefined,
  actor: Actor,
): Promise<ProbeReport> {
  const snapshot = await deps.store.loadChannels();
  const channel = find(snapshot, id);
  if (snapshot.locked.has(id)) throw lockedCredentials(channel.name);
  const model = servedModel(channel, given);
  const tested = await deps.probe(channel, model);
  const outcome = tested.problem?.code ?? 'ok';
  await recordAudit(deps, actor, 'channel.test', target(id), { model, outcome });
  return tested;
}

/** The models that a channel's server lists, by its own names. */
export async function listUpstreamModels(
  deps: Pick<ManagementDeps, 'store'> & { readonly listUpstreamModels: ListUpstreamModels },
  id: number,
): Promise<readonly string[]> {
  const snapshot = await deps.store.loadChannels();
  const channel = find(snapshot, id);
  if (snapshot.locked.has(id)) throw lockedCredentials(channel.name);
  return deps.listUpstreamModels(channel);
}

/** Sends a real request of two documents to a channel that is not yet saved; only the entry in the audit log is stored. */
export async function testDraft(
  deps: ChannelDeps & { readonly probe: Probe },
  draft: ChannelDraft,
  given: string | undefined,
  actor: Actor,
): Promise<ProbeReport> {
  const channel: Channel = { ...draftedChannel(deps, draft), id: 0, origin: 'store' };
  const model = servedModel(channel, given);
  const tested = await deps.probe(channel, model);
  const outcome = tested.problem?.code ?? 'ok';
  const { provider, baseUrl } = channel;
  const detail = { name: channel.name, provider, baseUrl, model, outcome };
  await recordAudit(deps, actor, 'channel.test_draft', 'channel:draft', detail);
  return tested;
}

/** Finds out what an unknown server speaks, with requests that change nothing there. */
export async function probeAddress(
  deps: ChannelDeps & { readonly discover: Discover },
  server: UnknownServer,
  actor: Actor,
): Promise<Discovery> {
  const { baseUrl } = server;
  const mistake = urlMistake(baseUrl) ?? judgeUrl(baseUrl, deps);
  if (mistake !== undefined) throw invalid('base_url', `base_url ${mistake}.`);
  const found = await deps.discover(server);
  const providers = found.candidates.map(({ provider }) => provider);
  const outcome = found.problem?.code ?? 'ok';
  await recordAudit(deps, actor, 'channel.probe', 'channel:draft', { baseUrl, providers, outcome });
  return found;
}

/** The caller's name of the model to test: the first one if none is given. */
function servedModel({ name, models }: Channel, given: string | undefined): string {
  const names = Object.keys(models);
  const model = given ?? names[0] ?? '';
  if (Object.hasOwn(models, model)) return model;
  throw invalid(
    'model',
    `Channel "${name}" does not serve "${model}"; it serves ${names.join(', ')}.`,
  );
}

/** What a copy does not take over. */
export interface CopyDraft {
  readonly name?: string;
  readonly status?: ChannelStatus;
  /** Credentials are never copied: the copy takes no traffic until it is given those that it needs. */
  readonly credentials?: Readonly<Record<string, Secret>>;
}

/** A second channel like the first, without its credentials, under its own name. */
export async function copyChannel(
  deps: ChannelDeps,
  id: number,
  given: CopyDraft,
  actor: Actor,
): Promise<ChannelWrite> {
  const snapshot = await deps.store.loadChannels();
  const { id: _, origin: _origin, outage: _outage, ...original } = find(snapshot, id);
  const names = new Set(snapshot.channels.map(({ name }) => name));
  const { credentials } = spelled({ credentials: given.credentials ?? {} }, original.provider);
  const copy = {
    ...original,
    name: given.name ?? freeName(original.name, names),
    status:
      given.status ??
      // Its credentials differ from those for which the gateway disabled it.
      (original.status === CHANNEL_AUTO_DISABLED ? CHANNEL_ENABLED : original.status),
    credentials,
  };
  const isComplete = Object.keys(credentials).length > 0;
  const channel = isComplete ? checkChannel(deps, copy) : checkPlain(copy);
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
  // Configured channels are checked where the configuration is read, and their credentials are not here.
  if (channel.origin === 'config') return effective;
  const mistakes = settingMistakes(provider, channel.settings, Object.keys(channel.credentials));
  return mistakes.length === 0
    ? effective
    : { live: false, because: 'unusable', reason: mistakes.join('; ') };
}

export function switchesOf({ switches }: ChannelSnapshot): ReadonlyMap<string, TagSwitch> {
  return new Map(switches.map((entry) => [entry.tag, entry]));
}

function viewOf(
  channel: Channel,
  snapshot: ChannelSnapshot,
  sighted: Sighting = UNSEEN,
): ChannelView {
  const { credentials } = kept(channel);
  return {
    ...shown(kept(channel)),
    sighted,
    keyCount: channel.origin === 'config' ? undefined : apiKeysOf(credentials.apiKey).length,
    state: channelState(channel, switchesOf(snapshot), snapshot.locked),
  };
}

/** A channel without what nobody is shown. */
function shown({
  credentials,
  ...others
}: Channel): Omit<Channel, 'credentials'> & Pick<ChannelView, 'credentialNames'> {
  return { ...others, credentialNames: Object.keys(credentials) };
}

async function written(
  deps: ManagementDeps,
  update: ChannelUpdate,
  action: string,
  { credentials, ...detail }: ChannelChange & { readonly from?: number },
  actor: Actor,
): Promise<ChannelWrite> {
  switch (update.kind) {
    case 'changed':
      throw changedSince('The channel');
    case 'not_found':
      throw new GatewayError('not_found', 'The channel no longer exists.');
    case 'name_taken':
      throw new GatewayError('conflict', `A channel named "${detail.name ?? ''}" already exists.`, {
        param: 'name',
      });
    case 'updated': {
      const { channel, version } = update;
      await recordAudit(deps, actor, action, target(channel.id), {
        ...detail,
        ...(detail.settings === undefined ? {} : { settings: snakeKeys(detail.settings) }),
        ...(credentials === undefined
          ? {}
          : { credentials: Object.keys(credentials).map(snakeCase) }),
      });
      return { channel: viewOf(channel, await deps.store.loadChannels()), version };
    }
  }
}

/** The change to store, validated on the channel as it will be. */
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
    `A change of ${what.join(', ')} may send the credentials elsewhere: give them again in the same change, or null for each that is to be removed.`,
  );
}

/** What an edit really changes: clients send whole channels back with one member changed. */
function withoutSame(current: Channel, edit: ChannelEdit): ChannelEdit {
  const moves = edit.provider !== undefined && edit.provider !== current.provider;
  const settings = moves ? edit.settings : changedSettings(edit.settings, current.settings);
  const news = settings === undefined ? edit : { ...edit, settings };
  const entries = Object.entries(news).filter(([member, value]) => {
    const before = current[member as keyof ChannelEdit];
    switch (member) {
      case 'credentials':
        return Object.keys(edit.credentials ?? {}).length > 0;
      case 'settings':
        // A new provider starts without them, so the same ones count as a change there.
        return moves || Object.keys(settings ?? {}).length > 0;
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
function spelled<T extends Pick<ChannelEdit, 'settings' | 'credentials'>>(
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

function checkChannel(
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
function checkPlain<T extends ChannelChange>(channel: T): T {
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

/** Runs a write of credentials; if they cannot be sealed, that is for the operator to fix. */
async function unlocked<T>(write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    if (!(error instanceof CredentialsLockedError)) throw error;
    throw new GatewayError('conflict', error.message, { param: 'credentials', cause: error });
  }
}

function freeName(name: string, taken: ReadonlySet<string>): string {
  let copy = `${name}-copy`;
  for (let count = 2; taken.has(copy); count += 1) copy = `${name}-copy-${count}`;
  return copy;
}

function find({ channels }: ChannelSnapshot, id: number): Channel {
  const channel = channels.find((candidate) => candidate.id === id);
  if (channel === undefined) throw noChannel(id);
  return kept(channel);
}

/** A channel whose possible secrets count among its credentials; older releases stored them elsewhere. */
function kept(channel: Channel): Channel {
  const provider: Provider | undefined = findProvider(channel.provider);
  const { settings, credentials } = channel;
  return {
    ...channel,
    ...sealSettings(provider, settings, credentials, (text) =>
      text === null ? undefined : new Secret(text),
    ),
  };
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
