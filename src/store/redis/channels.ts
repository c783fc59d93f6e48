import { randomUUID } from 'node:crypto';
import { editsOf, withEdits, type ChannelEdit } from '../channel-records.js';
import type { ChannelBackend } from '../channel-store.js';
import { StoreUnavailableError, type ChannelNews, type ChannelStore } from '../store.js';
import { versionAfter } from '../version.js';
import { change, type Step } from './change.js';
import type { Connection } from './connection.js';
import type { Keys } from './keys.js';
import { openLatestChannels } from './latest-channels.js';
import { listOf, numberOf, run, SCRIPTS, textOf } from './scripts.js';

/** A round is lost only to another change, and changes of one process wait for each other. */
const MAX_ROUNDS = 100;
/** How many changes the log has, and how many names one of them: `c<id>` of channels, `t<tag>` of a switch; `*` for more. */
const LOG_ENTRIES = 64;
const MOST_NAMES = 250;

export interface OpenedChannels {
  readonly backend: ChannelBackend;
  readonly watched: Pick<ChannelStore, 'channelsVersion' | 'watchChannels' | 'begin'>;
}

export function openChannels(connection: Connection, keys: Keys): OpenedChannels {
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
  function write(version: number, edits: readonly ChannelEdit[]): Promise<number | undefined> {
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

  async function newIds(count: number): Promise<number[]> {
    const last = count === 0 ? 0 : await answer(client.incrby(keys.channelSequence, count));
    return Array.from({ length: count }, (_, index) => last - count + 1 + index);
  }

  const edit: ChannelBackend['edit'] = (work, piece = Infinity) => {
    const turn = lastTurn.then(async () => {
      for (let round = 0; round < MAX_ROUNDS; round += 1) {
        const stored = await latest.read();
        const { result, ...edits } = work(stored);
        const ids = await newIds(edits.added?.length ?? 0);
        const all = editsOf(edits, ids);
        let version: number | undefined = stored.version;
        for (let at = 0; at < all.length && version !== undefined; at += piece) {
          version = await write(version, all.slice(at, at + piece));
        }
        if (version === undefined) continue;
        if (all.length > 0) latest.advance(stored, withEdits(stored, all, version));
        return { version, ids, result };
      }
      throw new StoreUnavailableError('The channels keep changing.');
    });
    lastTurn = turn.catch(() => undefined);
    return turn;
  };

  const backend: ChannelBackend = {
    read: () => latest.read(),
    edit,

    setSwitch(tag, next) {
      const looks: Step[] = [
        ['GET', versionKey],
        ['HEXISTS', switchesKey, tag],
      ];
      return change(connection, looks, 0, ([current, isThere]) => {
        const version = Number(current);
        if (next === undefined && isThere === 0) return { result: version };
        const [result, writes] = nextVersion(version, [`t${tag}`]);
        const own: Step =
          next === undefined
            ? ['HDEL', switchesKey, tag]
            : ['HSET', switchesKey, tag, JSON.stringify(next)];
        return { result, writes: [own, ...writes] };
      });
    },

    async putMark(mark) {
      await answer(client.set(keys.encryptionMark, mark));
    },

    async noteNode({ nodeId, version, serial, heardSerial, nowMs, ttlMs }) {
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
      return { version: numberOf(current), storeTimeMs: numberOf(time), memory };
    },
  };

  return {
    backend,
    watched: {
      async channelsVersion() {
        return Number((await answer(client.get(versionKey))) ?? 0);
      },
      watchChannels: (onChange) => connection.subscribe(keys.channelsChanged, onChange),
      async begin() {
        await answer(client.set(markKey, randomUUID(), 'NX'));
      },
    },
  };
}
