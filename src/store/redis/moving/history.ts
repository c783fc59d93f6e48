import { mapValues } from '../../../core/records.js';
import { bucketsIn, ROLLUPS, stepOf, type RollupName } from '../../../core/rollups.js';
import { inParts } from '../../moved-rows.js';
import { OWNED } from '../../owned.js';
import type { MovedRow } from '../../moving.js';
import { auditOf, NUMBER_DIGITS, refusedOf, usageOf } from '../logs.js';
import { memberOf, rowOf, type Moved, type Mover } from './rows.js';

/** The logs, how their records are read, and the members that are JSON within a row. */
const LOGS = {
  usage_log: { log: 'usage', read: usageOf, json: ['detail'] },
  refused_log: { log: 'refused', read: refusedOf, json: [] },
  audit_log: { log: 'audit', read: auditOf, json: ['detail', 'changes'] },
} as const;

/** What was written first had happened before. */
const LATE_MS = 24 * 3_600_000;

type HistoryTable = 'stats_since' | 'stats' | 'sequences' | keyof typeof LOGS;

/** History: statistics and logs, and the numbers that were given so far. */
export function movedHistory({
  connection: { client, answer },
  keys,
  membersOf,
  each,
  all,
}: Mover): Readonly<Record<HistoryTable, Moved>> {
  const statsSince: Moved = {
    async *rows() {
      const since = await answer(client.get(`${keys.stats}:since`));
      if (since !== null) yield [{ since_ms: Number(since) }];
    },
    put: (rows) => each(rows, (row) => [client.set(`${keys.stats}:since`, Number(row.since_ms))]),
  };

  const stats: Moved = {
    async *rows(nowMs) {
      const since = await answer(client.get(`${keys.stats}:since`));
      if (since === null) return;
      for (const rollup of Object.keys(ROLLUPS) as RollupName[]) {
        const { keepMs, stepMs } = ROLLUPS[rollup];
        const firstMs = Number(since) - LATE_MS;
        const fromMs = stepOf(rollup, Math.max(firstMs, nowMs - keepMs - stepMs));
        for (const starts of inParts(bucketsIn(rollup, fromMs, nowMs))) {
          const places = await Promise.all(starts.map((atMs) => bucketsAt(rollup, atMs)));
          // A bucket has a part for each account: all of them at once would keep Redis busy for too long.
          for (const some of inParts(places.flat())) {
            yield* inParts((await Promise.all(some.map(bucketRows))).flat());
          }
        }
      }
    },
    put: (rows) =>
      each(rows, ({ rollup, at_ms: at, owner, row, tally, expires_at_ms: until }) => {
        const owners = `${keys.stats}:${rollup}:${at}`;
        const bucket = `${owners}:${owner}`;
        return [
          client.hset(bucket, String(row), String(tally)),
          client.pexpireat(bucket, Number(until)),
          ...(owner === 0
            ? []
            : [client.sadd(owners, `${owner}`), client.pexpireat(owners, Number(until))]),
        ];
      }),
  };

  interface Bucket {
    readonly rollup: RollupName;
    readonly atMs: number;
    readonly owner: string;
  }

  const placeOf = (rollup: RollupName, atMs: number): string => `${keys.stats}:${rollup}:${atMs}`;

  async function bucketsAt(rollup: RollupName, atMs: number): Promise<Bucket[]> {
    const isOwned = rollup.startsWith('spend');
    const owners = isOwned ? await answer(client.smembers(placeOf(rollup, atMs))) : ['0'];
    return owners.map((owner) => ({ rollup, atMs, owner }));
  }

  async function bucketRows({ rollup, atMs, owner }: Bucket): Promise<MovedRow[]> {
    const place = `${placeOf(rollup, atMs)}:${owner}`;
    const [rows, until] = await Promise.all([
      answer(client.hgetall(place)),
      answer(client.pexpiretime(place)),
    ]);
    return Object.entries(rows).map(([row, tally]) => ({
      ...{ rollup, at_ms: atMs, owner: Number(owner), row, tally, expires_at_ms: until },
    }));
  }

  function logTable({ log: name, read, json }: (typeof LOGS)[keyof typeof LOGS]): Moved {
    const log = keys.log(name);
    const jsonOf: readonly string[] = json;
    return {
      async *rows() {
        for await (const numbers of membersOf(`${log}:times`)) {
          const records = await answer(client.hmget(`${log}:entries`, ...numbers));
          yield records.flatMap((record, index) => {
            if (record === null) return [];
            const entry = read(record.slice(record.indexOf(' ') + 1));
            return [{ id: Number(numbers[index]), ...rowOf(entry, jsonOf) }];
          });
        }
      },
      async put(rows) {
        const entries = rows.map(({ id, ...row }) => {
          const number = String(id).padStart(NUMBER_DIGITS, '0');
          const owner = String(row.user_id ?? '');
          return {
            number,
            row,
            owner,
            record: `${owner} ${JSON.stringify(memberOf(row, jsonOf))}`,
          };
        });
        const timesOf = (some: typeof entries): (string | number)[] =>
          some.flatMap(({ number, row }) => [Number(row.at_ms), number]);
        const owners = new Set(entries.map(({ owner }) => owner).filter((owner) => owner !== ''));
        await all([
          client.hset(
            `${log}:entries`,
            ...entries.flatMap(({ number, record }) => [number, record]),
          ),
          client.zadd(`${log}:times`, ...timesOf(entries)),
          ...(name === 'audit'
            ? []
            : [
                client.hset(
                  `${log}:ids`,
                  ...entries.flatMap(({ number, row }) => [String(row.request_id), number]),
                ),
              ]),
          ...[...owners].map((owner) =>
            client.zadd(
              `${log}:of:${owner}`,
              ...timesOf(entries.filter((entry) => entry.owner === owner)),
            ),
          ),
        ]);
      },
    };
  }

  const sequenceKeys: Readonly<Record<string, string>> = {
    audit_log: `${keys.log('audit')}:seq`,
    channels: keys.channelSequence,
    codes: `${keys.codes}:seq`,
    ...mapValues(OWNED, ({ table }) => `${keys.owned(table)}:seq`),
    refused_log: `${keys.log('refused')}:seq`,
    tokens: keys.tokenSequence,
    usage_log: `${keys.log('usage')}:seq`,
    users: `${keys.users}:seq`,
  };
  const sequences: Moved = {
    async *rows() {
      const found = Object.entries(sequenceKeys).map(async ([name, key]) => ({
        name,
        seq: Number((await answer(client.get(key))) ?? 0),
      }));
      yield (await Promise.all(found)).filter(({ seq }) => seq > 0);
    },
    put: (rows) =>
      each(rows, ({ name, seq }) => {
        // Prices have no numbers here.
        const key = sequenceKeys[String(name)];
        return key === undefined ? [] : [client.set(key, Number(seq))];
      }),
  };

  return {
    ...{ stats_since: statsSince, stats, sequences },
    usage_log: logTable(LOGS.usage_log),
    refused_log: logTable(LOGS.refused_log),
    audit_log: logTable(LOGS.audit_log),
  };
}
