import { apiKeysOf } from '../core/api-keys.js';
import {
  effectiveStatus,
  type Channel,
  type EffectiveStatus,
  type TagSwitch,
} from '../core/channel.js';
import { GatewayError } from '../core/errors.js';
import { allProviders, findProvider } from '../providers/index.js';
import type { Provider } from '../providers/provider.js';
import { settingMistakes } from '../providers/settings.js';
import type { ChannelSnapshot, Order } from '../store/store.js';
import type { ManagementDeps } from './audit.js';
import { kept } from './channel-secrets.js';
import { sightingsOf, UNSEEN, type Sighting } from './channel-sightings.js';
import { latestChannels } from './latest-channels.js';

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
  /** Where it is written. */
  readonly origin?: Channel['origin'];
  /** By id unless given. */
  readonly order?: Order<ChannelOrder>;
}

/** `tried`: in the order in which the gateway tries the channels of one model. */
export type ChannelOrder = keyof typeof ORDERS;

/** A model as callers name it, and its channels in the order in which they are tried. */
export interface ServedModel {
  readonly model: string;
  readonly channels: readonly ChannelView[];
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
        (filter.origin === undefined || channel.origin === filter.origin) &&
        (filter.because === undefined || becauseOf(channel) === filter.because) &&
        (filter.keyword === undefined || mentions(channel, filter.keyword)),
    );
  const { by, descending } = filter.order ?? { by: 'id', descending: false };
  const compare = ORDERS[by];
  return found.sort(descending ? (one, other) => compare(other, one) : compare);
}

/** Weight is a share and not a rank; people read the heavier one first. */
const asTried = (one: ChannelView, other: ChannelView): number =>
  other.priority - one.priority || other.weight - one.weight || one.id - other.id;

type Compare = (one: ChannelView, other: ChannelView) => number;

/** Compares by a value; of equal ones, the older channel comes first. */
const byValue =
  (valueOf: (channel: ChannelView) => number | string): Compare =>
  (one, other) => {
    const [a, b] = [valueOf(one), valueOf(other)];
    return a === b ? one.id - other.id : a < b ? -1 : 1;
  };

const ORDERS = {
  id: byValue(({ id }) => id),
  name: byValue(({ name }) => name.toLowerCase()),
  provider: byValue(({ provider }) => provider),
  tag: byValue(({ tag = '' }) => tag.toLowerCase()),
  priority: byValue(({ priority }) => priority),
  weight: byValue(({ weight }) => weight),
  status: byValue(({ state }) => (state.live ? '' : state.because)),
  tried: asTried,
} satisfies Readonly<Record<string, Compare>>;

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
  for (const channel of await listChannels(deps, { order: { by: 'tried', descending: false } })) {
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
  const channel = channelWithId(snapshot, id);
  const sightings = await sightingsOf(deps, { channels: [channel] });
  return viewOf(channel, snapshot, sightings.get(id));
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

export function viewOf(
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

/** A channel without its hidden members. */
export function shown({
  credentials,
  ...others
}: Channel): Omit<Channel, 'credentials'> & Pick<ChannelView, 'credentialNames'> {
  return { ...others, credentialNames: Object.keys(credentials) };
}

export function channelWithId({ channels }: ChannelSnapshot, id: number): Channel {
  const channel = channels.find((candidate) => candidate.id === id);
  if (channel === undefined) throw noChannel(id);
  return kept(channel);
}

export function noChannel(id: number): GatewayError {
  return new GatewayError('not_found', `There is no channel with id ${id}.`);
}
