import { mapValues } from '../../../core/records.js';
import { OWNED, type OwnedTable } from '../../owned.js';
import { credentialsIn, credentialsText, inParts, lockedChannel } from '../../moved-rows.js';
import { IMPORT_STATE, type MovedRow } from '../../moving.js';
import { openCredentials, type Vault } from '../../vault.js';
import { versionAfter } from '../../version.js';
import {
  columnsOf,
  storedChannelOf,
  storedFrom,
  switchOf,
  type ChannelColumns,
  type StoredChannel,
} from '../../channel-records.js';
import { fieldsFrom, memberOf, rowOf, type Moved, type Mover } from './rows.js';

type SettingTable = 'secrets' | 'channels' | 'tag_switches' | 'price_lists' | OwnedTable;

/** What people set up: channels, switches, prices, what belongs to accounts; and the secrets that gateways share. */
export function movedSettings({
  connection,
  keys,
  vault,
  hashAt,
  each,
}: Mover): Readonly<Record<SettingTable, Moved>> {
  const { client, answer } = connection;

  const channels: Moved = {
    async *rows() {
      const records = Object.entries(await answer(client.hgetall(keys.channelRecords)));
      yield* inParts(
        records
          .map(([id, record]) => channelRow(vault, Number(id), storedChannelOf(record)))
          .sort((one, other) => Number(one.id) - Number(other.id)),
      );
    },
    put: (rows) =>
      inNextVersion(
        each(rows, (row) => [
          client.hset(keys.channelRecords, Number(row.id), channelRecord(vault, row)),
        ]),
      ),
  };

  const switches: Moved = {
    async *rows() {
      const records = Object.values(await answer(client.hgetall(keys.channelSwitches)));
      const rows = records.map((record) => {
        const { disabled, ...rest } = switchOf(record);
        return rowOf({ ...rest, disabled: Number(disabled) });
      });
      yield rows.sort((one, other) => (String(one.tag) < String(other.tag) ? -1 : 1));
    },
    put: (rows) =>
      inNextVersion(
        each(rows, ({ disabled, ...row }) => {
          const record = JSON.stringify({ ...memberOf(row), disabled: disabled === 1 });
          return [client.hset(keys.channelSwitches, String(row.tag), record)];
        }),
      ),
  };

  /** Gives the channels a version after the import; no gateway runs that would need to hear of it. */
  async function inNextVersion(written: Promise<unknown>): Promise<void> {
    await written;
    const version = Number((await answer(client.get(keys.channelsVersion))) ?? 0);
    await answer(client.set(keys.channelsVersion, versionAfter(version)));
  }

  const prices: Moved = {
    async *rows() {
      const records = await answer(client.lrange(keys.prices, 0, -1));
      yield records.map((record, index) => {
        const blank = record.indexOf(' ');
        return {
          id: index + 1,
          at_ms: Number(record.slice(0, blank)),
          prices: record.slice(blank + 1),
        };
      });
    },
    async put(rows) {
      const there = new Set(await answer(client.lrange(keys.prices, 0, -1)));
      const records = rows.map((row) => `${row.at_ms} ${row.prices}`);
      const missing = records.filter((record) => !there.has(record));
      if (missing.length > 0) await answer(client.rpush(keys.prices, ...missing));
    },
  };

  const secrets: Moved = {
    async *rows() {
      const all = Object.entries(await answer(client.hgetall(keys.secrets)));
      yield all.filter(([name]) => name !== IMPORT_STATE).map(([name, value]) => ({ name, value }));
    },
    put: (rows) =>
      each(rows, ({ name, value }) => [client.hset(keys.secrets, String(name), String(value))]),
  };

  const owned = (spec: (typeof OWNED)[OwnedTable]): Moved => {
    const at = keys.owned(spec.table);
    return {
      async *rows() {
        const last = Number((await answer(client.get(`${at}:seq`))) ?? 0);
        for (const ids of inParts(Array.from({ length: last }, (_, index) => index + 1))) {
          const found = await Promise.all(
            ids.map(async (id) => {
              const row = await hashAt(`${at}:${id}`, spec);
              return row && { id, ...row };
            }),
          );
          yield found.filter((row) => row !== undefined);
        }
      },
      put: (rows) =>
        each(rows, (row) => [
          client.hset(`${at}:${row.id}`, ...fieldsFrom(spec, row)),
          client.sadd(`${at}:of:${row.user_id}`, `${row.id}`),
          ...(row.shared === 1 ? [client.sadd(`${at}:shared`, `${row.id}`)] : []),
        ]),
    };
  };

  return {
    ...{ secrets, channels, tag_switches: switches, price_lists: prices },
    // By the same names.
    ...(mapValues(OWNED, owned) as Readonly<Record<OwnedTable, Moved>>),
  };
}

function channelRow(vault: Vault, id: number, stored: StoredChannel): MovedRow {
  const { credentials, locked } = openCredentials(vault, stored.sealed);
  if (locked) throw lockedChannel(stored.name);
  return { id, ...columnsOf(stored), credentials: credentialsText(credentials) };
}

function channelRecord(vault: Vault, { id: _, ...row }: MovedRow): string {
  const sealed = vault.seal(credentialsIn(row.credentials));
  // The rows of channels are made of their columns.
  return JSON.stringify({ ...storedFrom(row as ChannelColumns), sealed });
}
