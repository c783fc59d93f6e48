import type { TagSwitch } from '../core/channel.js';
import {
  declared,
  openedBy,
  type ChannelEdits,
  type StoredChannel,
  type StoredChannels,
} from './channel-records.js';
import type {
  ChannelChange,
  ChannelNews,
  ChannelStore,
  ChannelUpdate,
  NodeReport,
} from './channels.js';
import type { EncryptionStore } from './encryption.js';
import { openCredentials, type Vault } from './vault.js';

/** Edits, and what they come to for the caller. */
export interface Worked<T> extends ChannelEdits {
  readonly result: T;
}

/** What a backend does: it reads and writes. What a change makes of the channels is decided here, once for all backends. */
export interface ChannelBackend {
  /** The same object as long as the version is the same. */
  readonly read: () => Promise<StoredChannels>;
  /**
   * Works out edits from the stored channels and writes them if those are still the same, otherwise works them out again.
   * Resolves to the version after them, which stays the same without edits, and to the ids of the added ones. What need not
   * all change at once is written `piece` by `piece`, deletions last.
   */
  readonly edit: <T>(
    work: (stored: StoredChannels) => Worked<T>,
    piece?: number,
  ) => Promise<{ readonly version: number; readonly ids: readonly number[]; readonly result: T }>;
  /** Sets or, without one, deletes the switch of a tag; resolves to the version after it. */
  readonly setSwitch: (tag: string, tagSwitch: TagSwitch | undefined) => Promise<number>;
  readonly putMark: (mark: string) => Promise<void>;
  /** Notes the report; resolves to the version that is current. Forgets what was read if the store has lost something. */
  readonly noteNode: (
    report: NodeReport,
  ) => Promise<Omit<ChannelNews, 'snapshot'> & { readonly version: number }>;
}

type Methods =
  | 'loadChannels'
  | 'createChannel'
  | 'updateChannel'
  | 'deleteChannel'
  | 'updateChannels'
  | 'setTagSwitch'
  | 'deleteTagSwitch'
  | 'declareChannels'
  | 'syncNode';

/** Why a channel is not changed. */
type Refused = Exclude<ChannelUpdate['kind'], 'updated'>;

/** Channels that are written in one step where they need not all change at once. */
const PIECE = 250;

export function channelStore(
  { read, edit, setSwitch, putMark, noteNode }: ChannelBackend,
  vault: Vault,
): Pick<ChannelStore, Methods> & Pick<EncryptionStore, 'keyMarks' | 'resealCredentials'> {
  const { channelOf: present, snapshotOf } = openedBy(vault);
  const load = async () => snapshotOf(await read());

  return {
    loadChannels: load,

    async createChannel({ credentials, ...definition }) {
      const own = {
        sealed: vault.seal(credentials),
        origin: 'store',
        declaredStatus: undefined,
      } as const;
      const stored: StoredChannel = { ...definition, ...own };
      const { version, ids, result } = await edit(({ channels }) => {
        const free = !isTaken(channels, stored.name);
        return { added: free ? [stored] : [], result: free };
      });
      const [id] = ids;
      if (!result || id === undefined) return { kind: 'name_taken' };
      return { kind: 'updated', channel: present(id, stored), version };
    },

    async updateChannel(id, change, when) {
      const changed = changing(vault, change);
      const { version, result } = await edit<StoredChannel | Refused>(({ channels }) => {
        const before = channels.get(id);
        if (before === undefined) return { result: 'not_found' };
        if (when?.(present(id, before)) === false) return { result: 'changed' };
        const next = changed(before);
        if (isTaken(channels, next.name, id)) return { result: 'name_taken' };
        return { replaced: new Map([[id, next]]), result: next };
      });
      if (typeof result === 'string') return { kind: result };
      return { kind: 'updated', channel: present(id, result), version };
    },

    async deleteChannel(id) {
      const { version, result } = await edit(({ channels }) => {
        const found = channels.has(id);
        return { gone: found ? [id] : [], result: found };
      });
      return result ? version : undefined;
    },

    async updateChannels(changes) {
      const ready = changes.map(({ id, change }) => ({ id, changed: changing(vault, change) }));
      const { version, result } = await edit(({ channels }) => {
        const replaced = new Map<number, StoredChannel>();
        for (const { id, changed } of ready) {
          const before = replaced.get(id) ?? channels.get(id);
          if (before === undefined) return { result: false };
          replaced.set(id, changed(before));
        }
        const names = [...new Map([...channels, ...replaced]).values()].map(({ name }) => name);
        if (new Set(names).size < names.length) return { result: false };
        return { replaced, result: true };
      });
      return result ? version : undefined;
    },

    keyMarks: () => vault.marks(),

    async resealCredentials(mark) {
      // The mark goes first: a gateway that lacks the new key must not start on half-converted records.
      await putMark(mark);
      const { result } = await edit(({ channels }) => {
        const holding = [...channels].filter(([, { sealed }]) => sealed !== undefined);
        const opened = holding.map(([id, stored]) => ({
          ...{ id, stored, ...openCredentials(vault, stored.sealed) },
        }));
        const readable = opened.filter(({ locked }) => !locked);
        const resealed = readable.map(({ id, stored, credentials }) => {
          return [id, { ...stored, sealed: vault.seal(credentials) }] as const;
        });
        const counts = { sealed: readable.length, locked: opened.length - readable.length };
        return { replaced: new Map(resealed), result: counts };
      }, PIECE);
      return result;
    },

    setTagSwitch: (tagSwitch) => setSwitch(tagSwitch.tag, tagSwitch),
    deleteTagSwitch: (tag) => setSwitch(tag, undefined),

    async declareChannels(channels) {
      const { version, result } = await edit((stored) => {
        const { taken, ...edits } = declared(stored, channels);
        return { ...edits, result: taken };
      }, PIECE);
      return { version, taken: result };
    },

    async syncNode(report) {
      const { version, ...news } = await noteNode(report);
      const isNew = news.memory !== 'kept' || version !== report.version;
      return { ...news, snapshot: isNew ? await load() : undefined };
    },
  };
}

/** What a change makes of a channel. Its credentials are sealed here, once: deriving the key is slow. */
function changing(
  vault: Vault,
  { credentials, ...members }: ChannelChange,
): (before: StoredChannel) => StoredChannel {
  const sealed = credentials && vault.seal(credentials);
  return (before) => ({
    ...before,
    ...members,
    sealed: credentials === undefined ? before.sealed : sealed,
  });
}

function isTaken(channels: StoredChannels['channels'], name: string, id?: number): boolean {
  return [...channels].some(([otherId, channel]) => channel.name === name && otherId !== id);
}
