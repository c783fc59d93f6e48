import type { Channel, ChannelStatus, TagSwitch } from '../core/channel.js';

export type NewChannel = Omit<Channel, 'id' | 'origin'>;
/** Replaces the members that are present. */
export type ChannelChange = { readonly [K in keyof NewChannel]?: NewChannel[K] };

/** A channel from the configuration: identified by its name; its credentials stay in the configuration and are never stored. */
export type DeclaredChannel = Omit<
  Channel,
  'id' | 'origin' | 'status' | 'credentials' | 'outage'
> & {
  /** Its initial status; it follows later declarations as long as its status in the store is the last declared one. */
  readonly status: ChannelStatus;
};

export interface ChannelSnapshot {
  /** Made by `versionAfter`: a new one after every change of a channel or a tag switch. */
  readonly version: number;
  readonly channels: readonly Channel[];
  /**
   * Ids of channels whose stored credentials cannot be read with this encryption key: they are in `channels` with empty
   * credentials, must not be tried, and become usable once the key is right again or new credentials are stored.
   */
  readonly locked: ReadonlySet<number>;
  readonly switches: readonly TagSwitch[];
}

export type ChannelUpdate =
  | { readonly kind: 'updated'; readonly channel: Channel; readonly version: number }
  | { readonly kind: 'not_found' }
  | { readonly kind: 'name_taken' }
  /** It is no longer what the change depends on. */
  | { readonly kind: 'changed' };

/** What a node reports about itself each time it checks the channels. */
export interface NodeReport {
  readonly nodeId: string;
  /** The version that it has in force; -1 before it has any. */
  readonly version: number;
  /** Grows with every report of the node, starting at 1. */
  readonly serial: number;
  /** The last report that the store is known to have; 0 if there is none. */
  readonly heardSerial: number;
  readonly nowMs: number;
  /** The node counts as gone after this long without another report. */
  readonly ttlMs: number;
}

export interface ChannelNews {
  /** Everything, if the node's version differs from the store's or the store has lost something; otherwise `undefined`. */
  readonly snapshot: ChannelSnapshot | undefined;
  /** The store's own clock when it answered, in unix ms. */
  readonly storeTimeMs: number;
  /**
   * Whether the store is still what it was at the node's last report: `lost` if it does not know that report, so other
   * writes may be gone too; `emptied` if it lacks the mark that `begin` sets.
   */
  readonly memory: 'kept' | 'lost' | 'emptied';
}

export interface ChannelStore {
  /** Channels and switches of the same version. */
  loadChannels(): Promise<ChannelSnapshot>;
  /** The current version, cheaply. */
  channelsVersion(): Promise<number>;
  /** Names are unique; a taken one is refused. */
  createChannel(channel: NewChannel): Promise<ChannelUpdate>;
  /** With `when`, changes the channel only if that holds for it, in the same step. */
  updateChannel(
    id: number,
    change: ChannelChange,
    when?: (channel: Channel) => boolean,
  ): Promise<ChannelUpdate>;
  /** Resolves to the version after it, or `undefined` if there is no such channel. */
  deleteChannel(id: number): Promise<number | undefined>;
  /** Many changes as one: all, or none if an id is missing or a name is taken. Resolves to the version, or `undefined`. */
  updateChannels(
    changes: readonly { readonly id: number; readonly change: ChannelChange }[],
  ): Promise<number | undefined>;
  /** One write that covers every channel with the tag, now and later. Resolves to the version. */
  setTagSwitch(tagSwitch: TagSwitch): Promise<number>;
  /** Forgets the switch of a tag that is no longer wanted (it reads as on). Resolves to the version. */
  deleteTagSwitch(tag: string): Promise<number>;
  /**
   * Makes the channels of origin `config` match the declared ones, by name: adds new ones, removes those that are gone and
   * replaces changed ones except for their id and a status set by hand. A channel of origin `store` with a declared name is
   * left alone and its name returned in `taken`. Does not increase the version if nothing differs.
   */
  declareChannels(
    channels: readonly DeclaredChannel[],
  ): Promise<{ readonly version: number; readonly taken: readonly string[] }>;
  /**
   * Calls `onChange` soon after any version change by any process, this one included; may miss or repeat one. Returns a
   * function that stops it.
   */
  watchChannels(onChange: () => void): () => void;
  /** Marks the store as in use by a gateway, which distinguishes it from an empty one. */
  begin(): Promise<void>;
  /**
   * In one step, records what a node has in force and answers what is new to it. A version that the store never had, or no
   * longer has, counts as no version at all.
   */
  syncNode(report: NodeReport): Promise<ChannelNews>;
}
