import { StoreUnavailableError } from '../store.js';
import {
  storedChannelOf,
  switchOf,
  type StoredChannel,
  type StoredChannels,
} from '../channel-records.js';
import type { Connection } from './connection.js';
import type { Keys } from './keys.js';

/** Records that are read with one command. */
const PIECE = 1_000;
/** Each round but the first is lost to another change. */
const MAX_ROUNDS = 100;

/** The channels as they are in Redis; only changed ones are read again. */
export function openLatestChannels({ client, answer }: Connection, keys: Keys) {
  let known: StoredChannels | undefined;
  let lastTurn: Promise<unknown> = Promise.resolve();

  async function versionNow(): Promise<number> {
    return Number((await answer(client.get(keys.channelsVersion))) ?? 0);
  }

  /** Records by id; `null` for channels that do not exist. */
  async function records(ids: readonly string[]): Promise<[number, string | null][]> {
    const found: [number, string | null][] = [];
    for (let at = 0; at < ids.length; at += PIECE) {
      const piece = ids.slice(at, at + PIECE);
      const texts = await answer(client.hmget(keys.channelRecords, ...piece));
      found.push(
        ...piece.map((id, index): [number, string | null] => [Number(id), texts[index] ?? null]),
      );
    }
    return found;
  }

  /** Everything. What changes meanwhile may be missing: it is in the log of changes since `version`. */
  async function whole(version: number): Promise<StoredChannels> {
    const [ids, switches] = await Promise.all([
      answer(client.hkeys(keys.channelRecords)),
      answer(client.hgetall(keys.channelSwitches)),
    ]);
    const channels = new Map<number, StoredChannel>();
    for (const [id, record] of await records(ids)) {
      if (record !== null) channels.set(id, storedChannelOf(record));
    }
    const tags = Object.entries(switches).map(([tag, record]) => [tag, switchOf(record)] as const);
    return { version, channels, switches: new Map(tags) };
  }

  /** The same with what has changed since, or `undefined` if the log does not tell. */
  async function caughtUp(before: StoredChannels): Promise<StoredChannels | undefined> {
    const log = await answer(client.lrange(keys.channelsLog, 0, -1));
    const since = changesSince(before.version, log);
    if (since === undefined) return undefined;
    const { version, ids, tags } = since;
    const channels = new Map(before.channels);
    for (const [id, record] of await records(ids)) {
      if (record === null) channels.delete(id);
      else channels.set(id, storedChannelOf(record));
    }
    const switches = new Map(before.switches);
    const texts =
      tags.length === 0 ? [] : await answer(client.hmget(keys.channelSwitches, ...tags));
    for (const [index, tag] of tags.entries()) {
      const record = texts[index] ?? null;
      if (record === null) switches.delete(tag);
      else switches.set(tag, switchOf(record));
    }
    return { version, channels, switches };
  }

  async function latest(): Promise<StoredChannels> {
    let state = known;
    for (let round = 0; round < MAX_ROUNDS; round += 1) {
      const version = await versionNow();
      // What was read between two looks at the same version is of this version.
      if (state?.version === version) return (known = state);
      state = (state && (await caughtUp(state))) ?? (await whole(version));
    }
    throw new StoreUnavailableError('The channels keep changing.');
  }

  return {
    /** Channels and switches of one version, which was current at some moment of this call. */
    read(): Promise<StoredChannels> {
      const turn = lastTurn.then(latest);
      lastTurn = turn.catch(() => undefined);
      return turn;
    },
    /** Takes the channels that this process has made of others by writing, unless something else was read or forgotten meanwhile. */
    advance(before: StoredChannels, after: StoredChannels): void {
      if (known === before) known = after;
    },
    /** Makes the next call read everything: Redis may have forgotten writes. */
    forget(): void {
      known = undefined;
    },
  };
}

/** The changes since a version, as far as the log of changes has them without a gap. */
export function changesSince(
  version: number,
  log: readonly string[],
):
  | { readonly version: number; readonly ids: readonly string[]; readonly tags: readonly string[] }
  | undefined {
  const ids = new Set<string>();
  const tags = new Set<string>();
  let at: string | undefined;
  for (const line of log) {
    const [, before, after = '', names = ''] = /^(\d+) (\d+) (.*)$/s.exec(line) ?? [];
    if (at === undefined && before !== String(version)) continue;
    if ((at !== undefined && before !== at) || names === '*') return undefined;
    at = after;
    if (names.startsWith('t')) tags.add(names.slice(1));
    else for (const name of names.split(' ')) ids.add(name.slice(1));
  }
  return at === undefined ? undefined : { version: Number(at), ids: [...ids], tags: [...tags] };
}
