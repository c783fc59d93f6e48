import { CHANNEL_DEFAULTS } from '../../core/channel-members.js';
import {
  CHANNEL_AUTO_DISABLED,
  statusOnceDeclared,
  type Channel,
  type ChannelStatus,
  type TagSwitch,
} from '../../core/channel.js';
import { canonicalJson } from '../../core/records.js';
import type {
  ChannelChange,
  ChannelNews,
  ChannelSnapshot,
  ChannelStore,
  EncryptionStore,
  KeyNote,
  ChannelUpdate,
  DeclaredChannel,
  NodeReport,
} from '../store.js';
import { openCredentials, type Vault } from '../vault.js';
import { knownVersion, versionAfter } from '../version.js';
import type { Database } from './database.js';

interface ChannelRow {
  readonly id: number;
  readonly name: string;
  readonly tag: string | null;
  readonly status: ChannelStatus;
  readonly declared_status: ChannelStatus | null;
  readonly origin: Channel['origin'];
  readonly credentials: string | null;
  readonly definition: string;
}

interface SwitchRow {
  readonly tag: string;
  readonly disabled: number;
  readonly reason: string | null;
  readonly changed_time: number;
  readonly changed_by: string | null;
}

/** A channel without the members that have their own columns. */
type Definition = Omit<Channel, 'id' | 'name' | 'tag' | 'status' | 'origin' | 'credentials'>;

/** A change with its credentials sealed: deriving the key is slow, so it is done before a transaction begins. */
interface SealedChange {
  readonly id: number;
  readonly change: ChannelChange;
  readonly sealed: string | undefined;
}

interface OpenedRow {
  readonly row: ChannelRow;
  readonly channel: Channel;
  readonly locked: boolean;
}

type Written =
  | { readonly kind: 'written'; readonly row: ChannelRow; readonly version: number }
  | Exclude<ChannelUpdate, { readonly kind: 'updated' }>;

export function openChannels(
  database: Database,
  vault: Vault,
  pollMs: number,
): { readonly store: ChannelStore & EncryptionStore; readonly stopWatching: () => void } {
  const readVersion = database.prepare<{ readonly version: number }>(
    'SELECT version FROM channels_version',
  );
  const putVersion = database.prepare<never>('UPDATE channels_version SET version = ?');
  const all = database.prepare<ChannelRow>('SELECT * FROM channels ORDER BY id');
  const byId = database.prepare<ChannelRow>('SELECT * FROM channels WHERE id = ?');
  const byName = database.prepare<ChannelRow>('SELECT * FROM channels WHERE name = ?');
  const declared = database.prepare<ChannelRow>("SELECT * FROM channels WHERE origin = 'config'");
  const insert = database.prepare<ChannelRow>(
    `INSERT INTO channels (name, tag, status, declared_status, origin, credentials, definition)
     VALUES (?, ?, ?, ?, ?, ?, ?) RETURNING *`,
  );
  const update = database.prepare<ChannelRow>(
    `UPDATE channels SET name = ?, tag = ?, status = ?, declared_status = ?, credentials = ?, definition = ?
     WHERE id = ? RETURNING *`,
  );
  const remove = database.prepare<never>('DELETE FROM channels WHERE id = ?');
  const switches = database.prepare<SwitchRow>('SELECT * FROM tag_switches ORDER BY tag');
  const putSwitch = database.prepare<never>(
    `INSERT OR REPLACE INTO tag_switches (tag, disabled, reason, changed_time, changed_by) VALUES (?, ?, ?, ?, ?)`,
  );
  const removeSwitch = database.prepare<never>('DELETE FROM tag_switches WHERE tag = ?');
  const putNode = database.prepare<never>(
    'INSERT OR REPLACE INTO nodes (id, version, expires_at_ms) VALUES (?, ?, ?)',
  );
  const node = database.prepare<{ readonly id: string }>('SELECT id FROM nodes WHERE id = ?');
  const removeNode = database.prepare<never>('DELETE FROM nodes WHERE id = ?');
  const removeAbout = database.prepare<never>('DELETE FROM nodes_about WHERE id = ?');
  const removeDeadNodes = database.prepare<never>('DELETE FROM nodes WHERE expires_at_ms <= ?');
  const oldestNode = database.prepare<{ readonly version: number | null }>(
    'SELECT min(version) AS version FROM nodes WHERE expires_at_ms > ?',
  );

  const readMark = database.prepare<{ readonly mark: string }>('SELECT mark FROM encryption_mark');
  const claimMark = database.prepare<never>(
    'INSERT OR IGNORE INTO encryption_mark (only_row, mark) VALUES (1, ?)',
  );
  const dropOldNotes = database.prepare<never>('DELETE FROM key_notes WHERE expires_at_ms <= ?');
  const keyNotes = database.prepare<{ readonly note: string }>(
    'SELECT note FROM key_notes WHERE id <> ?',
  );
  const putNote = database.prepare<never>(
    'INSERT OR REPLACE INTO key_notes (id, expires_at_ms, note) VALUES (?, ?, ?)',
  );
  const dropNote = database.prepare<never>('DELETE FROM key_notes WHERE id = ?');
  const putMark = database.prepare<never>(
    'INSERT OR REPLACE INTO encryption_mark (only_row, mark) VALUES (1, ?)',
  );

  const watch = openWatch(() => readVersion.get()?.version ?? 0, pollMs);

  /** A write that notifies the watchers of this process if the version has changed. */
  async function change<T>(work: () => T): Promise<T> {
    const result = await database.write(work);
    watch.look();
    return result;
  }

  const version = (): number => readVersion.get()?.version ?? 0;
  const nextVersion = (): number => {
    const next = versionAfter(version());
    putVersion.run(next);
    return next;
  };
  const state = (): { version: number; rows: ChannelRow[]; switches: SwitchRow[] } => ({
    version: version(),
    rows: all.all(),
    switches: switches.all(),
  });

  /** The rows of the last snapshot, and what was made of each: a row that is the same is not parsed and opened again. */
  let opened: ReadonlyMap<number, OpenedRow> = new Map();
  let latest: ChannelSnapshot | undefined;

  function snapshotOf(read: ReturnType<typeof state>): ChannelSnapshot {
    const rows = read.rows.map((row): [number, OpenedRow] => {
      const known = opened.get(row.id);
      if (known !== undefined && isSameRow(known.row, row)) return [row.id, known];
      return [row.id, { row, ...channelOf(row, vault) }];
    });
    opened = new Map(rows);
    const before = new Map(latest?.switches.map((each) => [each.tag, each]));
    latest = {
      version: read.version,
      channels: rows.map(([, { channel }]) => channel),
      locked: new Set(rows.filter(([, { locked }]) => locked).map(([id]) => id)),
      switches: read.switches.map((row) => {
        const now = switchOf(row);
        const known = before.get(row.tag);
        return known !== undefined && canonicalJson(known) === canonicalJson(now) ? known : now;
      }),
    };
    return latest;
  }

  /** Runs inside a transaction; credentials that it reads are opened afterwards. */
  function sync({ nodeId, version: reported, heardSerial, nowMs, ttlMs }: NodeReport): {
    readonly memory: ChannelNews['memory'];
    readonly read: ReturnType<typeof state> | undefined;
  } {
    const isKnown = node.get(nodeId) !== undefined;
    const memory = heardSerial > 0 && !isKnown ? 'lost' : 'kept';
    removeDeadNodes.run(nowMs);
    const current = version();
    const known = memory === 'kept' ? knownVersion(reported, current) : 0;
    putNode.run(nodeId, known, nowMs + ttlMs);
    return { memory, read: memory === 'kept' && reported === current ? undefined : state() };
  }

  function write(
    row: ChannelRow,
    wanted: ChannelChange,
    sealed: string | undefined,
    declaredStatus = row.declared_status,
  ): ChannelRow | undefined {
    // Members with their own columns are not part of the definition; `undefined` leaves them out of the JSON.
    const next = {
      ...definitionOf(row),
      ...wanted,
      name: undefined,
      tag: undefined,
      status: undefined,
      credentials: undefined,
    };
    return update.get(
      wanted.name ?? row.name,
      'tag' in wanted ? (wanted.tag ?? null) : row.tag,
      wanted.status ?? row.status,
      declaredStatus,
      wanted.credentials === undefined ? row.credentials : (sealed ?? null),
      JSON.stringify(next),
      row.id,
    );
  }

  function isTaken(name: string | undefined, id: number | undefined): boolean {
    if (name === undefined) return false;
    const holder = byName.get(name);
    return holder !== undefined && holder.id !== id;
  }

  /** Opens credentials after the transaction, so as not to prolong it. */
  async function changeOne(work: () => Written): Promise<ChannelUpdate> {
    const written = await change(work);
    if (written.kind !== 'written') return written;
    const { channel } = channelOf(written.row, vault);
    return { kind: 'updated', channel, version: written.version };
  }
  const written = (row: ChannelRow | undefined): Written =>
    row === undefined ? { kind: 'not_found' } : { kind: 'written', row, version: nextVersion() };

  const seal = (id: number, wanted: ChannelChange): SealedChange => ({
    id,
    change: wanted,
    sealed: wanted.credentials === undefined ? undefined : vault.seal(wanted.credentials),
  });

  function updateAll(changes: readonly SealedChange[]): number | undefined {
    // Checked before the first write: the transaction is shared with other writers and cannot be abandoned.
    const names = new Map(all.all().map(({ id, name }) => [id, name]));
    for (const { id, change: wanted } of changes) {
      const name = names.get(id);
      if (name === undefined) return undefined;
      names.set(id, wanted.name ?? name);
    }
    if (new Set(names.values()).size < names.size) return undefined;
    // Channels may swap names in a circle, so all of the names are released first.
    for (const { id, change: wanted } of changes) {
      const row = wanted.name === undefined ? undefined : byId.get(id);
      if (row !== undefined) write(row, { name: `\0${id}` }, undefined);
    }
    for (const { id, change: wanted, sealed } of changes) {
      const row = byId.get(id);
      if (row !== undefined) write(row, wanted, sealed);
    }
    return nextVersion();
  }

  function declare(channels: readonly DeclaredChannel[]): {
    readonly version: number;
    readonly taken: readonly string[];
  } {
    const taken: string[] = [];
    const gone = new Map(declared.all().map((row) => [row.name, row]));
    let changed = false;
    for (const channel of channels) {
      const { name, tag, status, ...definition } = channel;
      gone.delete(name);
      const row = byName.get(name);
      if (row === undefined) {
        insert.get(name, tag ?? null, status, status, 'config', null, JSON.stringify(definition));
        changed = true;
      } else if (row.origin === 'store') {
        taken.push(name);
      } else {
        const next = statusOnceDeclared(row.status, row.declared_status ?? undefined, status);
        const before = definitionOf(row);
        const outage = next === CHANNEL_AUTO_DISABLED ? before.outage : undefined;
        if (
          row.tag !== (tag ?? null) ||
          row.status !== next ||
          canonicalJson(before) !== canonicalJson({ ...definition, outage })
        ) {
          write(row, { ...definition, outage, tag, status: next }, undefined, status);
          changed = true;
        } else if (row.declared_status !== status) {
          write(row, {}, undefined, status);
        }
      }
    }
    for (const { id } of gone.values()) {
      remove.run(id);
      changed = true;
    }
    return { version: changed ? nextVersion() : version(), taken };
  }

  const store: ChannelStore & EncryptionStore = {
    loadChannels: async () => {
      const read = await database.read(() => (version() === latest?.version ? latest : state()));
      return 'rows' in read ? snapshotOf(read) : read;
    },

    channelsVersion: () => database.read(version),

    createChannel: async (channel) => {
      const sealed = vault.seal(channel.credentials) ?? null;
      const { name, tag, status, credentials: _, ...definition } = channel;
      return changeOne(() => {
        if (isTaken(name, undefined)) return { kind: 'name_taken' };
        const text = JSON.stringify(definition);
        return written(insert.get(name, tag ?? null, status, null, 'store', sealed, text));
      });
    },

    updateChannel: async (id, wanted, when) => {
      const { sealed } = seal(id, wanted);
      return changeOne(() => {
        const row = byId.get(id);
        if (row === undefined) return { kind: 'not_found' };
        if (isTaken(wanted.name, id)) return { kind: 'name_taken' };
        if (when?.(channelOf(row, vault).channel) === false) return { kind: 'changed' };
        return written(write(row, wanted, sealed));
      });
    },

    deleteChannel: (id) => change(() => (remove.run(id) > 0 ? nextVersion() : undefined)),

    updateChannels: async (changes) => {
      const sealed = changes.map(({ id, change: wanted }) => seal(id, wanted));
      return change(() => updateAll(sealed));
    },

    encryptionMark: (claim) =>
      claim === undefined
        ? database.read(() => readMark.get()?.mark)
        : database.write(() => {
            claimMark.run(claim);
            return readMark.get()?.mark;
          }),

    keyMarks: () => vault.marks(),

    noteKeys: (note, nowMs, keepMs) =>
      database.write(() => {
        dropOldNotes.run(nowMs);
        const earlier = keyNotes.all(note.nodeId);
        putNote.run(note.nodeId, nowMs + keepMs, JSON.stringify(note));
        return earlier.map(({ note: text }) => JSON.parse(text) as KeyNote);
      }),

    dropKeys: (nodeId) =>
      database.write(() => {
        dropNote.run(nodeId);
      }),

    resealCredentials: (mark) =>
      change(() => {
        const rows = all.all().filter(({ credentials }) => credentials !== null);
        const opened = rows.map((row) => channelOf(row, vault));
        const sealed = opened.filter(({ locked }) => !locked);
        for (const { channel } of sealed) {
          const row = byId.get(channel.id);
          const { credentials } = channel;
          if (row !== undefined) write(row, { credentials }, vault.seal(credentials));
        }
        putMark.run(mark);
        if (sealed.length > 0) nextVersion();
        return { sealed: sealed.length, locked: rows.length - sealed.length };
      }),

    setTagSwitch: ({ tag, disabled, reason, changedTime, changedBy }) =>
      change(() => {
        putSwitch.run(tag, Number(disabled), reason ?? null, changedTime, changedBy ?? null);
        return nextVersion();
      }),

    deleteTagSwitch: (tag) => change(() => (removeSwitch.run(tag) > 0 ? nextVersion() : version())),

    declareChannels: (channels) => change(() => declare(channels)),

    watchChannels: watch.start,

    // The schema is the mark: an emptied file has no tables.
    begin: () => Promise.resolve(),

    syncNode: async (report) => {
      const { memory, read } = await database.write(() => sync(report));
      return {
        snapshot: read === undefined ? undefined : snapshotOf(read),
        // All processes that share the file have the same clock.
        storeTimeMs: report.nowMs,
        memory,
      };
    },

    oldestNodeVersion: (nowMs) => database.read(() => oldestNode.get(nowMs)?.version ?? undefined),

    forgetNode: (nodeId) =>
      database.write(() => {
        removeNode.run(nodeId);
        removeAbout.run(nodeId);
      }),
  };
  return { store, stopWatching: watch.stop };
}

interface Watch {
  readonly start: (onChange: () => void) => () => void;
  /** Looks now instead of waiting for the next turn. */
  readonly look: () => void;
  readonly stop: () => void;
}

/** Polls the version, since other processes can change it, and calls all listeners when it has changed. */
function openWatch(readVersion: () => number, pollMs: number): Watch {
  const listeners = new Set<() => void>();
  let seen: number | undefined;
  let timer: NodeJS.Timeout | undefined;

  /** A watch may miss a change: those who need the version ask for it, and then learn what is wrong with the file. */
  const currentVersion = (): number | undefined => {
    try {
      return readVersion();
    } catch {
      return seen;
    }
  };
  const look = (): void => {
    const current = listeners.size === 0 ? seen : currentVersion();
    if (current === seen) return;
    seen = current;
    for (const listener of listeners) listener();
  };
  const stop = (): void => {
    clearInterval(timer);
    listeners.clear();
  };

  return {
    look,
    stop,
    start: (onChange) => {
      // The same function may watch twice, and each watch is stopped separately.
      const listener = (): void => onChange();
      if (listeners.size === 0) {
        seen = currentVersion();
        timer = setInterval(look, pollMs).unref();
      }
      listeners.add(listener);
      return () => {
        listeners.delete(listener);
        if (listeners.size === 0) stop();
      };
    },
  };
}

function channelOf(
  row: ChannelRow,
  vault: Vault,
): { readonly channel: Channel; readonly locked: boolean } {
  const { credentials, locked } = openCredentials(vault, row.credentials ?? undefined);
  const { id, name, status, origin } = row;
  const channel = {
    ...definitionOf(row),
    id,
    name,
    tag: row.tag ?? undefined,
    status,
    origin,
    credentials,
  };
  return { channel, locked };
}

/** Restores the undefined members that JSON drops, and those that the release that wrote it did not know yet. */
function definitionOf(row: ChannelRow): Definition {
  const stored = JSON.parse(row.definition) as Definition;
  return { ...CHANNEL_DEFAULTS, ...stored, baseUrl: stored.baseUrl };
}

function switchOf(row: SwitchRow): TagSwitch {
  return {
    tag: row.tag,
    disabled: row.disabled === 1,
    reason: row.reason ?? undefined,
    changedTime: row.changed_time,
    changedBy: row.changed_by ?? undefined,
  };
}

function isSameRow(one: ChannelRow, other: ChannelRow): boolean {
  return Object.entries(one).every(
    ([column, value]) => value === other[column as keyof ChannelRow],
  );
}
