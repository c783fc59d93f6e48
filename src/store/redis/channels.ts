import { randomUUID } from 'node:crypto';
import {
  StoreUnavailableError,
  type ChannelNews,
  type ChannelSnapshot,
  type ChannelStore,
  type ChannelUpdate,
  type ChannelChange,
  type EncryptionStore,
  type KeyNote,
} from '../store.js';
import { openCredentials, type Vault } from '../vault.js';
import { versionAfter } from '../version.js';
import {
  changed,
  declared,
  isTaken,
  openedBy,
  type SealedChange,
  type StoredChannel,
  type StoredChannels,
} from './channel-records.js';
import { change, type Step } from './change.js';
import type { Connection } from './connection.js';
import type { Keys } from './keys.js';
import { openLatestChannels } from './latest-channels.js';
import { listOf, numberOf, pairsOf, run, SCRIPTS, textOf } from './scripts.js';
import { pairOf } from './token-records.js';

/** What to write: a record, or `undefined` to delete the channel. */
type Edits = ReadonlyMap<number, StoredChannel | undefined>;

interface Worked<T> {
  readonly edits: Edits;
  readonly result: T;
}

/** Why a channel is not changed. */
type Refused = Exclude<ChannelUpdate['kind'], 'updated'>;

/** A round is lost only to another change, and changes of one process wait for each other. */
const MAX_ROUNDS = 100;
/** Channels that are written in one step where they need not all change at once: Redis serves nobody else meanwhile. */
const PIECE = 250;
/** How many changes the log has, and how many names one of them: `c<id>` of channels, `t<tag>` of a switch; `*` for more. */
const LOG_ENTRIES = 64;
const MOST_NAMES = 250;

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
    channelsLog: logKey,
    channelNodes: nodesKey,
    channelsMark: markKey,
  } = keys;
  const latest = openLatestChannels(connection, keys);
  const { channelOf: present, snapshotOf } = openedBy(vault);
  const load = async (): Promise<ChannelSnapshot> => snapshotOf(await latest.read());

  /** The writes that make the next version, announce it, and note for readers what it has touched. */
  function nextVersion(version: number, names: readonly string[]): [number, Step[]] {
    const next = versionAfter(version);
    const touched = names.length > MOST_NAMES ? '*' : names.join(' ');
    const writes: Step[] = [
      ['SET', versionKey, next],
      ['RPUSH', logKey, `${version} ${next} ${touched}`],
      ['LTRIM', logKey, -LOG_ENTRIES, -1],
      ['PUBLISH', keys.channelsChanged, next],
    ];
    return [next, writes];
  }

  /** Resolves to the version after it, or `undefined` if the channels are no longer what the edits were worked out from. */
  function write(
    version: number,
    edits: readonly (readonly [number, StoredChannel | undefined])[],
  ): Promise<number | undefined> {
    const looks = [['GET', versionKey]] as const;
    return change<number | undefined>(connection, looks, 0, ([current]) => {
      if (Number(current) !== version) return { result: undefined };
      const records = edits.map(([id, channel]): Step =>
        channel === undefined
          ? ['HDEL', recordsKey, id]
          : ['HSET', recordsKey, id, JSON.stringify(channel)],
      );
      const names = edits.map(([id]) => `c${id}`);
      const [result, writes] = nextVersion(version, names);
      return { result, writes: [...records, ...writes] };
    });
  }

  /**
   * Works out edits from the stored channels and writes them if nothing has changed meanwhile, otherwise tries again. Resolves
   * to the version after the edits; without edits the version stays the same. `piece` is how many are written as one.
   */
  function edit<T>(
    work: (stored: StoredChannels) => Worked<T> | Promise<Worked<T>>,
    piece = Infinity,
  ): Promise<{ version: number; result: T }> {
    const turn = lastTurn.then(async () => {
      for (let round = 0; round < MAX_ROUNDS; round += 1) {
        const stored = await latest.read();
        const { edits, result } = await work(stored);
        const all = [...edits];
        let version: number | undefined = stored.version;
        for (let at = 0; at < all.length && version !== undefined; at += piece) {
          version = await write(version, all.slice(at, at + piece));
        }
        if (version !== undefined) return { version, result };
      }
      throw new StoreUnavailableError('The channels keep changing.');
    });
    lastTurn = turn.catch(() => undefined);
    return turn;
  }

  const nextId = (): Promise<number> => answer(client.incr(keys.channelSequence));

  const seal = (id: number, change: ChannelChange): SealedChange => ({
    id,
    change,
    sealed: change.credentials === undefined ? undefined : vault.seal(change.credentials),
  });

  /** Sets or, without a record, deletes the switch of a tag; resolves to the version after it. */
  function setSwitch(tag: string, record: string | undefined): Promise<number> {
    const looks: Step[] = [
      ['GET', versionKey],
      ['HEXISTS', switchesKey, tag],
    ];
    return change(connection, looks, 0, ([current, isThere]) => {
      const version = Number(current);
      if (record === undefined && isThere === 0) return { result: version };
      const [result, writes] = nextVersion(version, [`t${tag}`]);
      const own: Step =
        record === undefined ? ['HDEL', switchesKey, tag] : ['HSET', switchesKey, tag, record];
      return { result, writes: [own, ...writes] };
    });
  }

  return {
    loadChannels: load,

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

    noteKeys(note, nowMs, keepMs) {
      const key = keys.keyNotes;
      return change(connection, [['HGETALL', key]], nowMs, ([found], now) => {
        const notes = pairsOf(found).filter(([nodeId]) => nodeId !== note.nodeId);
        // A note is when it expires, and its record.
        const isLive = (text: string): boolean => Number.parseInt(text, 10) > now;
        const old = notes.filter(([, text]) => !isLive(text));
        const live = notes.filter(([, text]) => isLive(text));
        const writes: Step[] = [
          ...old.map(([nodeId]) => ['HDEL', key, nodeId] as const),
          ['HSET', key, note.nodeId, `${now + keepMs} ${JSON.stringify(note)}`],
        ];
        const read = (text: string) => JSON.parse(text.slice(text.indexOf(' ') + 1)) as KeyNote;
        return { result: live.map(([, text]) => read(text)), writes };
      });
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
      }, PIECE);
      return result;
    },

    setTagSwitch: (tagSwitch) => setSwitch(tagSwitch.tag, JSON.stringify(tagSwitch)),
    deleteTagSwitch: (tag) => setSwitch(tag, undefined),

    async declareChannels(channels) {
      const { version, result } = await edit(async (stored) => {
        const { added, replaced, gone, taken } = declared(stored, channels);
        const edits = new Map<number, StoredChannel | undefined>(replaced);
        const count = added.length;
        const last = count === 0 ? 0 : await answer(client.incrby(keys.channelSequence, count));
        for (const [index, channel] of added.entries())
          edits.set(last - count + 1 + index, channel);
        // Last, so that no model goes without a channel in between.
        for (const id of gone) edits.set(id, undefined);
        return { edits, result: taken };
      }, PIECE);
      return { version, taken: result };
    },

    watchChannels: (onChange) => connection.subscribe(keys.channelsChanged, onChange),

    async begin() {
      await answer(client.set(markKey, randomUUID(), 'NX'));
    },

    async syncNode({ nodeId, version, serial, heardSerial, nowMs, ttlMs }) {
      const [current, time, told] = listOf(
        await run(
          connection,
          SCRIPTS.syncNode,
          [versionKey, nodesKey, markKey],
          [...[nodeId, version, serial, heardSerial, connection.told(nowMs), ttlMs]],
        ),
      );
      // The script returns one of these.
      const memory = textOf(told) as ChannelNews['memory'];
      if (memory !== 'kept') latest.forget();
      const isNew = memory !== 'kept' || numberOf(current) !== version;
      return { snapshot: isNew ? await load() : undefined, storeTimeMs: numberOf(time), memory };
    },

    oldestNodeVersion(nowMs) {
      return change(connection, [['HVALS', nodesKey]], nowMs, ([reports], now) => {
        const live = listOf(reports)
          .map((report) => pairOf(textOf(report)))
          .filter(([, expiresAtMs]) => expiresAtMs > now);
        const versions = live.map(([version]) => version);
        return { result: versions.length === 0 ? undefined : Math.min(...versions) };
      });
    },

    async forgetNode(nodeId) {
      await answer(client.hdel(nodesKey, nodeId));
      await answer(client.hdel(keys.nodesAbout, nodeId));
    },
  };
}

function unchanged<T>(result: T): Worked<T> {
  return { edits: new Map(), result };
}
