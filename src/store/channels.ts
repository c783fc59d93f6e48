import type { Channel, ChannelStatus, TagSwitch } from '../core/channel.js';

export type NewChannel = Omit<Channel, 'id' | 'origin'>;
/** Members that are present replace. */
export type ChannelChange = { readonly [K in keyof NewChannel]?: NewChannel[K] };

/** A channel of the configuration: known by its name; its credentials stay in the configuration and are never stored. */
export type DeclaredChannel = Omit<
  Channel,
  'id' | 'origin' | 'status' | 'credentials' | 'outage'
> & {
  /** What it starts with, and follows as long as the status in the store is the one that was declared last. */
  readonly status: ChannelStatus;
};

export interface ChannelSnapshot {
  /** Made by `versionAfter`: another one after every change of a channel or a tag switch. */
  readonly version: number;
  readonly channels: readonly Channel[];
  /**
   * Ids of channels whose stored credentials cannot be read with this encryption key: they are in `channels` with empty
   * credentials, must not be tried, and become usable when the key is right again or new credentials are stored.
   */
  readonly locked: ReadonlySet<number>;
  readonly switches: readonly TagSwitch[];
}

export type ChannelUpdate =
  | { readonly kind: 'updated'; readonly channel: Channel; readonly version: number }
  | { readonly kind: 'not_found' }
  | { readonly kind: 'name_taken' }
  /** It does not have the status any more that the change depends on. */
  | { readonly kind: 'other_status' };

/** What a node reports about itself with each look at the channels. */
export interface NodeReport {
  readonly nodeId: string;
  /** What it has in force; -1 before it has anything. */
  readonly version: number;
  /** Grows with every report of the node, from 1. */
  readonly serial: number;
  /** The last report that the store is known to have; 0 where there is none. */
  readonly heardSerial: number;
  readonly nowMs: number;
  /** After so long without another report the node counts as gone. */
  readonly ttlMs: number;
}

export interface ChannelNews {
  /** Everything, where the node has another version in force than the store, or the store has lost something; else `undefined`. */
  readonly snapshot: ChannelSnapshot | undefined;
  /** The store's own clock when it answered, in unix ms. */
  readonly storeTimeMs: number;
  /**
   * Whether the store still is what it was at the node's last report: `lost` when it does not know that report, so that
   * other writes may be gone too; `emptied` when it lacks the mark that `begin` sets.
   */
  readonly memory: 'kept' | 'lost' | 'emptied';
}

export interface ChannelStore {
  /** Channels and switches of one and the same version. */
  loadChannels(): Promise<ChannelSnapshot>;
  /** The current version, cheaply. */
  channelsVersion(): Promise<number>;
  /** Names are unique; a taken one is refused. */
  createChannel(channel: NewChannel): Promise<ChannelUpdate>;
  /** With `when`, only a channel of that status is changed. */
  updateChannel(
    id: number,
    change: ChannelChange,
    when?: { readonly status: ChannelStatus },
  ): Promise<ChannelUpdate>;
  /** The version after it, or `undefined` when there is no such channel. */
  deleteChannel(id: number): Promise<number | undefined>;
  /** Many changes as one: all or, when an id is missing or a name taken, none. Resolves to the version, or `undefined`. */
  updateChannels(
    changes: readonly { readonly id: number; readonly change: ChannelChange }[],
  ): Promise<number | undefined>;
  /** One write that covers every channel with the tag, now and later. Resolves to the version. */
  setTagSwitch(tagSwitch: TagSwitch): Promise<number>;
  /** Forgets the switch of a tag that is no longer wanted (it reads as on). Resolves to the version. */
  deleteTagSwitch(tag: string): Promise<number>;
  /**
   * Makes the channels of origin `config` those that are declared, matched by name: new ones are added, gone ones removed,
   * changed ones replaced but for their id and a status set by hand. A channel of origin `store` with a declared name is
   * left alone and its name returned in `taken`. Does not grow the version when nothing differs.
   */
  declareChannels(
    channels: readonly DeclaredChannel[],
  ): Promise<{ readonly version: number; readonly taken: readonly string[] }>;
  /** Calls `onChange` soon after any version change by any process, this one included; may miss or repeat one. Returns the way to stop. */
  watchChannels(onChange: () => void): () => void;
  /** Marks the store as one that a gateway works with, so that an empty one can be told from it. */
  begin(): Promise<void>;
  /**
   * One step: notes what a node has in force, and tells it what is new. A version that the store never had, or does not
   * have any more, counts as no version at all.
   */
  syncNode(report: NodeReport): Promise<ChannelNews>;
  /** The oldest version that any live node reported, or `undefined` when none lives. */
  oldestNodeVersion(nowMs: number): Promise<number | undefined>;
  /** Takes a node that stops off the list. */
  forgetNode(nodeId: string): Promise<void>;
}
