import { bucketsIn } from '../../core/rollups.js';
import { readTally, writeTally } from '../../core/tally.js';
import type { StatsAddition, StatsQuery, StatsRow, StatsStore } from '../store.js';
import type { Connection } from './connection.js';
import type { Keys } from './keys.js';
import { run, SCRIPTS } from './scripts.js';

/** How many buckets are requested at once. */
const CHUNK = 16;
/** How many rows are visited before others get their turn: some milliseconds. */
const AT_ONCE = 250;

const nextTurn = (): Promise<void> => new Promise((turn) => void setImmediate(turn));

export function openStats(connection: Connection, keys: Keys): StatsStore {
  const { client, answer } = connection;
  const { stats } = keys;
  const bucketsOf = (rollup: string, atMs: number): string => `${stats}:${rollup}:${atMs}`;
  const bucketOf = (rollup: string, atMs: number, owner: number): string =>
    `${bucketsOf(rollup, atMs)}:${owner}`;

  async function visitBucket(
    { rollup }: StatsQuery,
    atMs: number,
    owner: number,
    visit: (row: StatsRow) => void,
  ): Promise<void> {
    const rows = await answer(client.hgetall(bucketOf(rollup, atMs, owner)));
    for (const [key, text] of Object.entries(rows)) {
      visit({ atMs, owner, key, tally: readTally(text) });
    }
  }

  /** The owners of the rows in a bucket. */
  async function ownersOf({ rollup, owner }: StatsQuery, atMs: number): Promise<number[]> {
    if (owner !== undefined) return [owner];
    return (await answer(client.smembers(bucketsOf(rollup, atMs)))).map(Number);
  }

  return {
    async addStats({ writer, serial, nowMs, maxRows, additions }) {
      const places = new Map<string, number>();
      const names = [`${stats}:writer:${writer}`, `${stats}:since`];
      const placeOf = (key: string): number => {
        const known = places.get(key);
        if (known !== undefined) return known;
        const place = names.push(key);
        places.set(key, place);
        return place;
      };
      const argsOf = (addition: StatsAddition): (string | number)[] => {
        const { rollup, atMs, owner, expiresMs, key, otherKey, tally } = addition;
        return [
          placeOf(bucketOf(rollup, atMs, owner)),
          owner === 0 ? 0 : placeOf(bucketsOf(rollup, atMs)),
          ...[owner, expiresMs, key, otherKey, writeTally(tally)],
        ];
      };
      const args = additions.flatMap(argsOf);
      await run(connection, SCRIPTS.addStats, names, [serial, nowMs, maxRows, ...args]);
    },

    async readStats(query, visit) {
      const { rollup, fromMs, toMs } = query;
      const isOwned = rollup.startsWith('spend');
      const starts = bucketsIn(rollup, fromMs, toMs);
      let visited = 0;
      for (let at = 0; at < starts.length; at += CHUNK) {
        const found: StatsRow[][] = await Promise.all(
          starts.slice(at, at + CHUNK).map(async (atMs) => {
            const rows: StatsRow[] = [];
            const owners = isOwned ? await ownersOf(query, atMs) : [0];
            for (const owner of owners) {
              await visitBucket(query, atMs, owner, (row) => rows.push(row));
            }
            return rows;
          }),
        );
        for (const row of found.flat()) {
          visit(row);
          visited += 1;
          if (visited % AT_ONCE === 0) await nextTurn();
        }
      }
    },

    async statsSince() {
      const since = await answer(client.get(`${stats}:since`));
      return since === null ? undefined : Number(since);
    },
  };
}
