import { randomUUID } from 'node:crypto';
import { CHANNEL_DEFAULTS } from '../../core/channel-members.js';
import {
  CHANNEL_AUTO_DISABLED,
  statusOnceDeclared,
  type Channel,
  type ChannelStatus,
  type TagSwitch,
} from '../../core/channel.js';
import { canonicalJson } from '../../core/records.js';
import {
  StoreUnavailableError,
  type ChannelChange,
  type ChannelNews,
  type ChannelSnapshot,
  type ChannelStore,
  type ChannelUpdate,
  type DeclaredChannel,
  type EncryptionStore,
  type KeyNote,
} from '../store.js';
import { openCredentials, type Vault } from '../vault.js';
import { versionMark } from '../version.js';
import type { Connection } from './connection.js';
import type { Keys } from './keys.js';
import { listOf, numberOf, pairsOf, run, SCRIPTS, textOf, type Reply } from './scripts.js';
import { pairOf } from './token-records.js';

/** A channel as it is stored: without its id, and with sealed credentials. */
type StoredChannel = Omit<Channel, 'id' | 'credentials'> & {
  readonly sealed: string | undefined;
  /** The last status that the configuration declared; only for channels from there. */
  readonly declaredStatus: ChannelStatus | undefined;
};

interface StoredChannels {
  readonly version: number;
  readonly channels: ReadonlyMap<number, StoredChannel>;
  readonly switches: readonly TagSwitch[];
}

/** What to write: a record, or `undefined` to delete the channel. */
type Edits = ReadonlyMap<number, StoredChannel | undefined>;

interface Worked<T> {
  readonly edits: Edits;
  readonly result: T;
}

/** A change with its credentials sealed, which is slow and need not be repeated if another change was faster. */
interface SealedChange {
  readonly id: number;
  readonly change: ChannelChange;
  readonly sealed: string | undefined;
}

/** Why a channel is not changed. */
type Refused = Exclude<ChannelUpdate['kind'], 'updated'>;

/** A round is lost only to another change, and changes of one process wait for each other. */
const MAX_ROUNDS = 100;

export function openChannels(
  connection: Connection,
  keys: Keys,
  vault: Vault,
): ChannelStore & EncryptionStore {
  const { client, answer } = connection;
  let lastTurn: Promise<unknown> = Promise.resolve();

  const {
    channelsVersion: versionKey,
    channelRecords: recordsKey,
    channelSwitches: switchesKey,
    channelNodes: nodesKey,
    channelsMark: markKey,
  } = keys;

  async function load(): Promise<StoredChannels> {
    const [version, records, switches] = listOf(
      await run(connection, SCRIPTS.findChannels, [versionKey, recordsKey, switchesKey]),
    );
    return storedOf(version, records, switches);
  }

  /** Whether the last read found both channels and switches. */
  let isWhole = false;

  function snapshotOf({ version, channels, switches }: StoredChannels): ChannelSnapshot {
    isWhole = channels.size > 0 && switches.length > 0;
    const opened = [...channels].map(([id, stored]) => channelOf(id, stored, vault));
    return {
      version,
      channels: opened.map(({ channel }) => channel),
      locked: new Set(opened.filter(({ locked }) => locked).map(({ channel }) => channel.id)),
      switches,
    };
  }

  /**
   * Works out edits from the stored channels and writes them if nothing has changed meanwhile, otherwise tries again. Resolves
   * to the version after the edits; without edits the version stays the same.
   */
  function edit<T>(
    work: (stored: StoredChannels) => Worked<T> | Promise<Worked<T>>,
  ): Promise<{ version: number; result: T }> {
    const turn = lastTurn.then(async () => {
      for (let round = 0; round < MAX_ROUNDS; round += 1) {
        const stored = await load();
        const { edits, result } = await work(stored);
        if (edits.size === 0) return { version: stored.version, result };
        const version = await run(
          connection,
          SCRIPTS.writeChannels,
          [versionKey, recordsKey],
          [
            ...[stored.version, versionMark(), keys.channelsChanged],
            ...[...edits].flatMap(([id, channel]) => [
              id,
              channel === undefined ? '' : JSON.stringify(channel),
            ]),
          ],
        );
        if (version !== null) return { version: numberOf(version), result };
      }
      throw new StoreUnavailableError('The channels keep changing.');
    });
    lastTurn = turn.catch(() => undefined);
    return turn;
  }

  const nextId = (): Promise<number> => answer(client.incr(keys.channelSequence));

  const present = (id: number, stored: StoredChannel): Channel =>
    channelOf(id, stored, vault).channel;

  const seal = (id: number, change: ChannelChange): SealedChange => ({
    id,
    change,
    sealed: change.credentials === undefined ? undefined : vault.seal(change.credentials),
  });

  async function setSwitch(tag: string, record: string): Promise<number> {
    return numberOf(
      await run(
        connection,
        SCRIPTS.switchTag,
        [versionKey, switchesKey],
        [...[versionMark(), keys.channelsChanged, tag, record]],
      ),
    );
  }

  async function declared(
    { channels: stored }: StoredChannels,
    channels: readonly DeclaredChannel[],
  ): Promise<{ edits: Edits; result: readonly string[] }> {
    const byName = new Map([...stored].map(([id, channel]) => [channel.name, { id, channel }]));
    const wanted = new Set(channels.map(({ name }) => name));
    const edits = new Map<number, StoredChannel | undefined>();
    const taken: string[] = [];
    for (const channel of channels) {
      const before = byName.get(channel.name);
      if (before?.channel.origin === 'store') {
        taken.push(channel.name);
        continue;
      }
      const status =
        before === undefined
          ? channel.status
          : statusOnceDeclared(
              before.channel.status,
              before.channel.declaredStatus,
              channel.status,
            );
      const next: StoredChannel = {
        ...channel,
        status,
        outage: status === CHANNEL_AUTO_DISABLED ? before?.channel.outage : undefined,
        origin: 'config',
        sealed: undefined,
        declaredStatus: channel.status,
      };
      if (before === undefined) edits.set(await nextId(), next);
      else if (canonicalJson(before.channel) !== canonicalJson(next)) edits.set(before.id, next);
    }
    for (const [id, { name, origin }] of stored) {
      if (origin === 'config' && !wanted.has(name)) edits.set(id, undefined);
    }
    return { edits, result: taken };
  }

  return {
    async loadChannels() {
      return snapshotOf(await load());
    },

    async channelsVersion() {
      return Number((await answer(client.get(versionKey))) ?? 0);
    },

    async createChannel({ credentials, ...definition }) {
      const sealed = vault.seal(credentials);
      const id = await nextId();
      const stored: StoredChannel = {
        ...definition,
        sealed,
        origin: 'store',
        declaredStatus: undefined,
      };
      const { version, result } = await edit(({ channels }) => {
        const free = !isTaken(channels, stored.name, id);
        return { edits: new Map(free ? [[id, stored]] : []), result: free };
      });
      if (!result) return { kind: 'name_taken' };
      return { kind: 'updated', channel: present(id, stored), version };
    },

    async updateChannel(id, change, when) {
      const sealedChange = seal(id, change);
      const { version, result } = await edit<StoredChannel | Refused>(({ channels }) => {
        const before = channels.get(id);
        const next = before === undefined ? undefined : changed(before, sealedChange);
        if (next === undefined) return unchanged('not_found');
        if (before !== undefined && when?.(present(id, before)) === false) {
          return unchanged('changed');
        }
        if (isTaken(channels, next.name, id)) return unchanged('name_taken');
        return { edits: new Map([[id, next]]), result: next };
      });
      if (typeof result === 'string') return { kind: result };
      return { kind: 'updated', channel: present(id, result), version };
    },

    async deleteChannel(id) {
      const { version, result } = await edit(({ channels }) => {
        const found = channels.has(id);
        return { edits: new Map(found ? [[id, undefined]] : []), result: found };
      });
      return result ? version : undefined;
    },

    async updateChannels(changes) {
      const sealedChanges = changes.map(({ id, change }) => seal(id, change));
      const { version, result } = await edit(({ channels }) => {
        const edits = new Map<number, StoredChannel>();
        for (const sealedChange of sealedChanges) {
          const { id } = sealedChange;
          const before = edits.get(id) ?? channels.get(id);
          if (before === undefined) return unchanged(false);
          edits.set(id, changed(before, sealedChange));
        }
        const names = [...new Map([...channels, ...edits]).values()].map(({ name }) => name);
        if (new Set(names).size < names.length) return unchanged(false);
        return { edits, result: true };
      });
      return result ? version : undefined;
    },

    async encryptionMark(claim) {
      if (claim !== undefined) await answer(client.set(keys.encryptionMark, claim, 'NX'));
      return (await answer(client.get(keys.encryptionMark))) ?? undefined;
    },

    keyMarks: () => vault.marks(),

    async noteKeys(note, nowMs, keepMs) {
      const earlier = await run(connection, SCRIPTS.noteKeys, keys.keyNotes, [
        ...[note.nodeId, JSON.stringify(note), connection.told(nowMs), keepMs],
      ]);
      return listOf(earlier).map((text) => JSON.parse(textOf(text)) as KeyNote);
    },

    async dropKeys(nodeId) {
      await answer(client.hdel(keys.keyNotes, nodeId));
    },

    async resealCredentials(mark) {
      // The mark goes first: a gateway that lacks the new key must not start on half-converted records.
      await answer(client.set(keys.encryptionMark, mark));
      const { result } = await edit(({ channels }) => {
        const holding = [...channels].filter(([, { sealed }]) => sealed !== undefined);
        const opened = holding.map(([id, stored]) => ({
          id,
          stored,
          ...openCredentials(vault, stored.sealed),
        }));
        const readable = opened.filter(({ locked }) => !locked);
        const edits = readable.map(({ id, stored, credentials }): [number, StoredChannel] => [
          id,
          { ...stored, sealed: vault.seal(credentials) },
        ]);
        const counts = { sealed: readable.length, locked: opened.length - readable.length };
        return { edits: new Map(edits), result: counts };
      });
      return result;
    },

    setTagSwitch: (tagSwitch) => setSwitch(tagSwitch.tag, JSON.stringify(tagSwitch)),
    deleteTagSwitch: (tag) => setSwitch(tag, ''),

    async declareChannels(channels) {
      const { version, result } = await edit((stored) => declared(stored, channels));
      return { version, taken: result };
    },

    watchChannels: (onChange) => connection.subscribe(keys.channelsChanged, onChange),

    async begin() {
      await answer(client.set(markKey, randomUUID(), 'NX'));
    },

    async syncNode({ nodeId, version, serial, heardSerial, nowMs, ttlMs }) {
      const places = [versionKey, nodesKey, markKey];
      // A Cluster that is moving the slot does not answer for missing keys, so name only keys that exist.
      if (isWhole) places.push(recordsKey, switchesKey);
      const [current, time, told, records, switches] = listOf(
        await run(connection, SCRIPTS.syncNode, places, [
          ...[nodeId, version, serial, heardSerial, connection.told(nowMs), ttlMs],
        ]),
      );
      // The script returns one of these.
      const memory = textOf(told) as ChannelNews['memory'];
      let snapshot: ChannelSnapshot | undefined;
      if (records !== undefined) snapshot = snapshotOf(storedOf(current, records, switches));
      else if (memory !== 'kept' || numberOf(current) !== version)
        snapshot = snapshotOf(await load());
      return { snapshot, storeTimeMs: numberOf(time), memory };
    },

    async oldestNodeVersion(nowMs) {
      const [time, ...reports] = listOf(
        await run(connection, SCRIPTS.findNodes, nodesKey, [connection.told(nowMs)]),
      );
      const live = reports
        .map((report) => pairOf(textOf(report)))
        .filter(([, expiresAtMs]) => expiresAtMs > numberOf(time));
      return live.length === 0 ? undefined : Math.min(...live.map(([version]) => version));
    },

    async forgetNode(nodeId) {
      await answer(client.hdel(nodesKey, nodeId));
      await answer(client.hdel(keys.nodesAbout, nodeId));
    },
  };
}

function storedOf(
  version: Reply | undefined,
  records: Reply | undefined,
  switches: Reply | undefined,
): StoredChannels {
  return {
    version: numberOf(version),
    channels: new Map(
      pairsOf(records)
        .map(([id, record]): [number, StoredChannel] => [Number(id), storedChannelOf(record)])
        .sort(([a], [b]) => a - b),
    ),
    switches: pairsOf(switches)
      .map(([, record]) => switchOf(record))
      .sort((a, b) => (a.tag < b.tag ? -1 : 1)),
  };
}

function unchanged<T>(result: T): Worked<T> {
  return { edits: new Map(), result };
}

function changed(before: StoredChannel, { change, sealed }: SealedChange): StoredChannel {
  const { credentials, ...rest } = change;
  return { ...before, ...rest, sealed: credentials === undefined ? before.sealed : sealed };
}

function isTaken(channels: StoredChannels['channels'], name: string, id: number): boolean {
  return [...channels].some(([otherId, channel]) => channel.name === name && otherId !== id);
}

function channelOf(
  id: number,
  { sealed, declaredStatus: _, ...definition }: StoredChannel,
  vault: Vault,
): { readonly channel: Channel; readonly locked: boolean } {
  const { credentials, locked } = openCredentials(vault, sealed);
  return { channel: { ...definition, id, credentials }, locked };
}

/** Restores the undefined members that JSON drops, and those that the release that wrote it did not know yet. */
function storedChannelOf(record: string): StoredChannel {
  const stored = JSON.parse(record) as StoredChannel;
  const { baseUrl, tag, sealed, declaredStatus } = stored;
  return { ...CHANNEL_DEFAULTS, ...stored, baseUrl, tag, sealed, declaredStatus };
}

function switchOf(record: string): TagSwitch {
  const stored = JSON.parse(record) as TagSwitch;
  return { ...stored, reason: stored.reason, changedBy: stored.changedBy };
}
