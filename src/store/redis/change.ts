import { StoreUnavailableError } from '../store.js';
import type { Connection } from './connection.js';
import { listOf, numberOf, pairsOf, run, SCRIPTS, textOf, type Reply } from './scripts.js';

/** A command of Redis on one key; or PUBLISH, on a channel. */
export type Step = readonly [name: string, key: string, ...words: (string | number)[]];

/** What a rule makes of what it was shown. */
export interface Decision<T> {
  readonly result: T;
  /** Made in one step, and only if what the rule was shown still holds. */
  readonly writes?: readonly Step[];
}

/** A round is lost only to another change of what was looked at. */
const MAX_ROUNDS = 100;

/**
 * Changes records that are seldom written: `looks` read what the change depends on, `rule` decides from their answers and the
 * time, and its writes are made if the looks still answer the same; otherwise the rule decides again. Everything lies in one
 * slot. Values that every request changes must not be looked at, or the change might never get its turn.
 */
export async function change<T>(
  connection: Connection,
  looks: readonly Step[],
  nowMs: number,
  rule: (answers: readonly Reply[], nowMs: number) => Decision<T>,
): Promise<T> {
  const send = (script: 'look' | 'change', digest: string, writes: readonly Step[]) => {
    const steps = [...looks, ...writes];
    const onKeys = steps.filter(([name]) => name !== 'PUBLISH');
    const keys = [...new Set(onKeys.map(([, key]) => key))];
    const places = new Map(keys.map((key, index) => [key, index + 1]));
    return run(connection, SCRIPTS[script], keys, [
      ...[connection.told(nowMs), digest, looks.length],
      ...steps.flatMap(([name, key, ...words]) => [
        ...[words.length + 2, name, places.get(key) ?? key, ...words],
      ]),
    ]);
  };
  let shown = await send('look', '', []);
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const [digest, timeMs, answers] = listOf(shown);
    const { result, writes = [] } = rule(listOf(answers), numberOf(timeMs));
    if (writes.length === 0) return result;
    shown = await send('change', textOf(digest), writes);
    if (shown === null) return result;
  }
  throw new StoreUnavailableError('The record keeps changing.', { didNothing: true });
}

/** The fields of a hash, as HGETALL answers; none if it does not exist. */
export function fieldsOf(answer: Reply | undefined): Readonly<Record<string, string>> {
  return Object.fromEntries(pairsOf(answer));
}
