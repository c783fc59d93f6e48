import type {
  Delivery,
  DeliveryOutcome,
  DeliveryRecord,
  DeliveryState,
  DeliveryStore,
} from '../store.js';
import { DELIVERIES } from '../deliveries.js';
import { change, fieldsOf, type Step } from './change.js';
import type { Connection } from './connection.js';
import type { Keys } from './keys.js';
import { listOf, numberOf, pairsOf } from './scripts.js';

type Added = Awaited<ReturnType<DeliveryStore['addDeliveries']>>;

/** All of them are in one slot: a hash for each, and zsets of their ids by time, by state and by when they are due. */
export function openDeliveries(connection: Connection, keys: Keys): DeliveryStore {
  const { client, answer } = connection;
  const at = (name: string): string => `${keys.deliveries}:${name}`;
  const [all, due, conditions] = [at('all'), at('due'), at('conditions')];

  /** The writes that make a delivery what it is now, whatever it was. */
  function outcomeWrites(
    { id, atMs }: Pick<Delivery, 'id' | 'atMs'>,
    { state, tries, error, dueAtMs }: DeliveryOutcome,
    nowMs: number,
  ): Step[] {
    const outcome = { state, tries, error, dueAtMs, changedMs: nowMs };
    return [
      ['HSET', at(id), ...DELIVERIES.toFields(outcome)],
      ...STATES.filter((one) => one !== state).map((one) => ['ZREM', at(one), id] as const),
      ['ZADD', at(state), atMs, id],
      state === 'waiting' ? ['ZADD', due, dueAtMs, id] : ['ZREM', due, id],
    ];
  }

  function removal(id: string): Step[] {
    return [
      ['DEL', at(id)],
      ...[all, due, ...STATES.map(at)].map((key) => ['ZREM', key, id] as const),
    ];
  }

  async function read(ids: readonly string[]): Promise<DeliveryRecord[]> {
    const found = await Promise.all(ids.map((id) => answer(client.hgetall(at(id)))));
    return found
      .filter(({ id }) => id !== undefined)
      .map((fields) => DELIVERIES.fromFields(fields));
  }

  return {
    addDeliveries(deliveries, nowMs, most, condition) {
      const looks: Step[] = [
        ['ZCARD', at('waiting')],
        ['HGET', conditions, condition?.key ?? ''],
        ...deliveries.map(({ id }) => ['EXISTS', at(id)] as const),
      ];
      return change<Added>(connection, looks, nowMs, ([waiting, last, ...known], now) => {
        if ((last ?? '') === condition?.value) return { result: 'known' };
        const fresh = deliveries.filter((_, index) => known[index] === 0);
        if (condition === undefined && fresh.length === 0) return { result: 'known' };
        if (fresh.length > 0 && numberOf(waiting) >= most) return { result: 'full' };
        const outcome = { state: 'waiting', tries: 0, error: '', dueAtMs: now } as const;
        const writes = fresh.flatMap((one): Step[] => [
          ['HSET', at(one.id), ...DELIVERIES.toFields(one)],
          ['ZADD', all, one.atMs, one.id],
          ...outcomeWrites(one, outcome, now),
        ]);
        return { result: 'added', writes: [...conditionWrites(conditions, condition), ...writes] };
      });
    },

    async alertConditions() {
      return new Map(Object.entries(await answer(client.hgetall(conditions))));
    },

    async takeDeliveries(nowMs, forMs, most) {
      const looks = [['ZRANGE', due, 0, most - 1, 'WITHSCORES']] as const;
      const taken = await change<readonly string[]>(connection, looks, nowMs, ([found], now) => {
        const result = pairsOf(found)
          .filter(([, dueAtMs]) => Number(dueAtMs) <= now)
          .map(([id]) => id);
        const writes = result.flatMap((id): Step[] => [
          ['ZADD', due, now + forMs, id],
          ['HSET', at(id), 'dueAtMs', now + forMs],
        ]);
        return { result, writes };
      });
      return read(taken);
    },

    async endDelivery(id, outcome, nowMs, keep) {
      const { state } = outcome;
      const looks = [
        ['HGET', at(id), 'atMs'],
        ['ZRANGE', at(state), 0, 0],
        ['ZCARD', at(state)],
        ['ZSCORE', at(state), id],
      ] as const;
      await change(connection, looks, nowMs, ([atMs, first, count, place], now) => {
        if (atMs === null) return { result: undefined };
        const kept = numberOf(count) + (place === null ? 1 : 0);
        const [oldest] = state === 'waiting' || kept <= keep ? [] : listOf(first);
        const ended = outcomeWrites({ id, atMs: numberOf(atMs) }, outcome, now);
        return {
          result: undefined,
          writes: [...ended, ...(typeof oldest === 'string' ? removal(oldest) : [])],
        };
      });
    },

    redeliver(id, nowMs) {
      return change<DeliveryRecord | undefined>(
        connection,
        [['HGETALL', at(id)]],
        nowMs,
        ([fields], now) => {
          const found = fieldsOf(fields);
          if (found.id === undefined) return { result: undefined };
          const outcome = { state: 'waiting', tries: 0, error: '', dueAtMs: now } as const;
          const record = { ...DELIVERIES.fromFields(found), ...outcome, changedMs: now };
          return { result: record, writes: outcomeWrites(record, outcome, now) };
        },
      );
    },

    async listDeliveries({ state, offset, limit }) {
      const key = state === undefined ? all : at(state);
      const [ids, total] = await Promise.all([
        answer(client.zrevrange(key, offset, offset + limit - 1)),
        answer(client.zcard(key)),
      ]);
      return { items: await read(ids), total };
    },
  };
}

const STATES: readonly DeliveryState[] = ['waiting', 'sent', 'dead'];

function conditionWrites(
  key: string,
  condition: { readonly key: string; readonly value: string } | undefined,
): Step[] {
  if (condition === undefined) return [];
  if (condition.value === '') return [['HDEL', key, condition.key]];
  return [['HSET', key, condition.key, condition.value]];
}
