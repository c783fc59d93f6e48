import { isSameJson } from '../../core/records.js';
import {
  columnsOf,
  editsOf,
  storedFrom,
  SWITCHES,
  withEdits,
  withSwitch,
  type ChannelColumns,
  type StoredChannel,
  type StoredChannels,
} from '../channel-records.js';
import type { ChannelBackend } from '../channel-store.js';
import type { ChannelStore } from '../store.js';
import { knownVersion, versionAfter } from '../version.js';
import type { Database } from './database.js';
import { insertInto, updateOf } from './rows.js';
import { openWatch } from './watch.js';

type ChannelRow = ChannelColumns & { readonly id: number };

export interface OpenedChannels {
  readonly backend: ChannelBackend;
  readonly watched: Pick<ChannelStore, 'channelsVersion' | 'watchChannels' | 'begin'>;
  readonly stopWatching: () => void;
}

/** `isGone`: whether the file was removed or replaced. */
export function openChannels(
  database: Database,
  pollMs: number,
  isGone: () => boolean,
): OpenedChannels {
  const { version, stored, advance } = openLatest(database);
  const release = database.prepare<never>('UPDATE channels SET name = ? WHERE id = ?');
  const remove = database.prepare<never>('DELETE FROM channels WHERE id = ?');
  const removeSwitch = database.prepare<never>('DELETE FROM tag_switches WHERE tag = ?');
  const putNode = database.prepare<never>(
    'INSERT OR REPLACE INTO nodes (id, version, expires_at_ms) VALUES (?, ?, ?)',
  );
  const node = database.prepare<{ readonly id: string }>('SELECT id FROM nodes WHERE id = ?');
  const removeDeadNodes = database.prepare<never>('DELETE FROM nodes WHERE expires_at_ms <= ?');
  const putMark = database.prepare<never>(
    'INSERT OR REPLACE INTO encryption_mark (only_row, mark) VALUES (1, ?)',
  );

  const watch = openWatch(version, pollMs);
  /** A write that notifies the watchers of this process if the version has changed. */
  async function change<T>(work: () => T): Promise<T> {
    const result = await database.write(work);
    watch.look();
    return result;
  }

  function replaceAll(
    before: StoredChannels['channels'],
    replaced: ReadonlyMap<number, StoredChannel>,
  ): void {
    // Channels may swap names in a circle, so all of the names are released first.
    for (const [id, { name }] of replaced) {
      if (before.get(id)?.name !== name) release.run(`\0${id}`, id);
    }
    for (const [id, channel] of replaced) updateOf(database, 'channels', columnsOf(channel), id);
  }

  const backend: ChannelBackend = {
    read: () => database.read(stored),

    edit: (work) =>
      change(() => {
        const before = stored();
        const { added = [], replaced = new Map(), gone = [], result } = work(before);
        for (const id of gone) remove.run(id);
        replaceAll(before.channels, replaced);
        const ids = added.map((channel) => insertInto(database, 'channels', columnsOf(channel)));
        const edits = editsOf({ added, replaced, gone }, ids);
        const version =
          edits.length === 0
            ? before.version
            : advance((latest, next) => withEdits(latest, edits, next));
        return { version, ids, result };
      }),

    setSwitch: (tag, next) =>
      change(() => {
        const removed = removeSwitch.run(tag);
        if (next !== undefined) insertInto(database, 'tag_switches', SWITCHES.toRow(next), 'tag');
        else if (removed === 0) return version();
        return advance((latest, version) => withSwitch(latest, tag, next, version));
      }),

    putMark: (mark) =>
      database.write(() => {
        putMark.run(mark);
      }),

    noteNode: ({ nodeId, version: reported, heardSerial, nowMs, ttlMs }) =>
      database.write(() => {
        const memory = heardSerial > 0 && node.get(nodeId) === undefined ? 'lost' : 'kept';
        removeDeadNodes.run(nowMs);
        const current = version();
        if (isGone()) return { version: current, memory: 'emptied', storeTimeMs: nowMs };
        const known = memory === 'kept' ? knownVersion(reported, current) : 0;
        putNode.run(nodeId, known, nowMs + ttlMs);
        // All processes that share the file have the same clock.
        return { version: current, memory, storeTimeMs: nowMs };
      }),
  };

  return {
    backend,
    watched: {
      channelsVersion: () => database.read(version),
      watchChannels: watch.start,
      // The schema is the mark: an emptied file has no tables.
      begin: () => Promise.resolve(),
    },
    stopWatching: watch.stop,
  };
}

/** The channels as they are in the file, read again only if another process has changed them. Everything runs inside transactions. */
function openLatest(database: Database) {
  const readVersion = database.prepare<{ readonly version: number }>(
    'SELECT version FROM channels_version',
  );
  const putVersion = database.prepare<never>('UPDATE channels_version SET version = ?');
  const allChannels = database.prepare<ChannelRow>('SELECT * FROM channels ORDER BY id');
  const allSwitches = database.prepare<object>('SELECT * FROM tag_switches ORDER BY tag');
  let latest: StoredChannels | undefined;
  const version = (): number => readVersion.get()?.version ?? 0;

  return {
    version,

    stored: (): StoredChannels => {
      const current = version();
      if (latest?.version === current) return latest;
      const { channels, switches } = latest ?? {};
      latest = {
        version: current,
        channels: new Map(
          allChannels.all().map((row) => [row.id, sameAs(channels?.get(row.id), storedFrom(row))]),
        ),
        switches: new Map(
          allSwitches
            .all()
            .map(SWITCHES.fromRow)
            .map((found) => [found.tag, sameAs(switches?.get(found.tag), found)]),
        ),
      };
      return latest;
    },

    /**
     * Sets the next version. What this process has just written is not read back: `after` says what the channels are then. No
     * other version is the same, even if the transaction fails.
     */
    advance: (after: (before: StoredChannels, next: number) => StoredChannels): number => {
      const current = version();
      const next = versionAfter(current);
      putVersion.run(next);
      if (latest?.version === current) latest = after(latest, next);
      return next;
    },
  };
}

/** What was there before, if it is the same: identities stay. */
function sameAs<T>(before: T | undefined, now: T): T {
  return before !== undefined && isSameJson(before, now) ? before : now;
}
