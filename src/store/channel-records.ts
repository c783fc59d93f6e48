import {
  BLANK_CHANNEL,
  CHANNEL_AUTO_DISABLED,
  statusOnceDeclared,
  type Channel,
  type ChannelStatus,
  type TagSwitch,
} from '../core/channel.js';
import { isSameJson } from '../core/records.js';
import type { ChannelSnapshot, DeclaredChannel } from './channels.js';
import type { MovedRow } from './moving.js';
import { flag, maybe, number, recordOf, text } from './records.js';
import { openCredentials, type Vault } from './vault.js';

/** A channel as it is stored: without its id, and with sealed credentials. */
export type StoredChannel = Omit<Channel, 'id' | 'credentials'> & {
  readonly sealed: string | undefined;
  /** The last status that the configuration declared; only for channels from there. */
  readonly declaredStatus: ChannelStatus | undefined;
};

const BLANK = {
  ...BLANK_CHANNEL,
  sealed: undefined,
  declaredStatus: undefined,
} satisfies Readonly<Record<keyof StoredChannel, unknown>>;

/** Channels and switches of one version, each as it was parsed when it last changed. */
export interface StoredChannels {
  readonly version: number;
  readonly channels: ReadonlyMap<number, StoredChannel>;
  readonly switches: ReadonlyMap<string, TagSwitch>;
}

/** Restores the undefined members that JSON drops, and those that the release that wrote it did not know yet. */
export function storedChannelOf(record: string): StoredChannel {
  return { ...BLANK, ...(JSON.parse(record) as StoredChannel) };
}

/** A stored channel by the columns of the embedded store; members without a column are in `definition`, as JSON. */
export interface ChannelColumns extends MovedRow {
  readonly name: string;
  readonly tag: string | null;
  readonly status: ChannelStatus;
  readonly declared_status: ChannelStatus | null;
  readonly origin: Channel['origin'];
  readonly credentials: string | null;
  readonly definition: string;
}

export function columnsOf(stored: StoredChannel): ChannelColumns {
  const { name, tag, status, declaredStatus, origin, sealed, ...definition } = stored;
  return {
    ...{ name, tag: tag ?? null, status, declared_status: declaredStatus ?? null, origin },
    ...{ credentials: sealed ?? null, definition: JSON.stringify(definition) },
  };
}

export function storedFrom(columns: ChannelColumns): StoredChannel {
  const { name, status, origin } = columns;
  const definition = JSON.parse(columns.definition) as StoredChannel;
  return {
    ...{ ...BLANK, ...definition, name, status, origin },
    tag: columns.tag ?? undefined,
    sealed: columns.credentials ?? undefined,
    declaredStatus: columns.declared_status ?? undefined,
  };
}

export const SWITCHES = recordOf<TagSwitch>('tag_switches', {
  tag: text(),
  disabled: flag(),
  reason: maybe(text()),
  changedTime: number(),
  changedBy: maybe(text()),
});

export function switchOf(record: string): TagSwitch {
  const stored = JSON.parse(record) as TagSwitch;
  return { ...stored, reason: stored.reason, changedBy: stored.changedBy };
}

/** An opened channel stays the same object as long as its record and its version are the same. */
export function openedBy(vault: Vault) {
  const known = new WeakMap<
    StoredChannel,
    { readonly channel: Channel; readonly locked: boolean }
  >();
  const snapshots = new WeakMap<StoredChannels, ChannelSnapshot>();

  const open = (id: number, stored: StoredChannel) => {
    const before = known.get(stored);
    if (before?.channel.id === id) return before;
    const { credentials, locked } = openCredentials(vault, stored.sealed);
    const own = { id, credentials, sealed: undefined, declaredStatus: undefined };
    const opened = { channel: { ...stored, ...own }, locked };
    known.set(stored, opened);
    return opened;
  };

  return {
    channelOf: (id: number, stored: StoredChannel): Channel => open(id, stored).channel,
    snapshotOf: (stored: StoredChannels): ChannelSnapshot => {
      const before = snapshots.get(stored);
      if (before !== undefined) return before;
      const opened = [...stored.channels]
        .sort(([a], [b]) => a - b)
        .map(([...each]) => open(...each));
      const snapshot = {
        version: stored.version,
        channels: opened.map(({ channel }) => channel),
        locked: new Set(opened.filter(({ locked }) => locked).map(({ channel }) => channel.id)),
        switches: [...stored.switches.values()].sort((a, b) => (a.tag < b.tag ? -1 : 1)),
      };
      snapshots.set(stored, snapshot);
      return snapshot;
    },
  };
}

/** Changes to write: new channels, records in place of others, and ids of channels to delete. */
export interface ChannelEdits {
  readonly added?: readonly StoredChannel[];
  readonly replaced?: ReadonlyMap<number, StoredChannel>;
  readonly gone?: readonly number[];
}

/** One of them: a record, or `undefined` to delete the channel. */
export type ChannelEdit = readonly [id: number, channel: StoredChannel | undefined];

/** Edits one by one, with the ids of the added channels. Deletions come last, so that no model goes without a channel in between. */
export function editsOf(
  { added = [], replaced = new Map(), gone = [] }: ChannelEdits,
  ids: readonly number[],
): ChannelEdit[] {
  return [
    ...replaced,
    ...added.map((channel, index): ChannelEdit => [ids[index] ?? 0, channel]),
    ...gone.map((id): ChannelEdit => [id, undefined]),
  ];
}

/** What edits have made of the channels: whoever writes them need not read them back. */
export function withEdits(
  { channels: before, switches }: StoredChannels,
  edits: readonly ChannelEdit[],
  version: number,
): StoredChannels {
  const channels = new Map(before);
  for (const [id, channel] of edits) {
    if (channel === undefined) channels.delete(id);
    else channels.set(id, channel);
  }
  return { version, channels, switches };
}

/** The same for a switch of a tag; `undefined` deletes it. */
export function withSwitch(
  { channels, switches: before }: StoredChannels,
  tag: string,
  next: TagSwitch | undefined,
  version: number,
): StoredChannels {
  const switches = new Map(before);
  if (next === undefined) switches.delete(tag);
  else switches.set(tag, next);
  return { version, channels, switches };
}

/**
 * What must change so that the channels of the configuration are the declared ones, and the names of those that channels of
 * origin `store` have.
 */
export function declared(
  { channels: stored }: StoredChannels,
  channels: readonly DeclaredChannel[],
): Required<ChannelEdits> & { readonly taken: readonly string[] } {
  const byName = new Map([...stored].map(([id, channel]) => [channel.name, { id, channel }]));
  const wanted = new Set(channels.map(({ name }) => name));
  const added: StoredChannel[] = [];
  const replaced = new Map<number, StoredChannel>();
  const taken: string[] = [];
  for (const channel of channels) {
    const before = byName.get(channel.name);
    if (before?.channel.origin === 'store') {
      taken.push(channel.name);
      continue;
    }
    const next = declaredRecord(channel, before?.channel);
    if (before === undefined) added.push(next);
    else if (!isSameJson(before.channel, next)) replaced.set(before.id, next);
  }
  const gone = [...stored]
    .filter(([, { name, origin }]) => origin === 'config' && !wanted.has(name))
    .map(([id]) => id);
  return { added, replaced, gone, taken };
}

function declaredRecord(
  channel: DeclaredChannel,
  before: StoredChannel | undefined,
): StoredChannel {
  const status =
    before === undefined
      ? channel.status
      : statusOnceDeclared(before.status, before.declaredStatus, channel.status);
  return {
    ...BLANK,
    ...channel,
    status,
    outage: status === CHANNEL_AUTO_DISABLED ? before?.outage : undefined,
    origin: 'config',
    sealed: undefined,
    declaredStatus: channel.status,
  };
}
