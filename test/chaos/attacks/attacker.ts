import { setTimeout as sleep } from 'node:timers/promises';
import { chanceOf } from '../random.js';
import { HTTP1_ATTACKS } from './http1.js';
import { HTTP2_ATTACKS } from './http2.js';
import type { Field, Tally } from './line.js';
import { SLOW_ATTACKS } from './slow.js';

/** What an attacker is told to do; it answers with its tally. */
export interface Order {
  /** One of `ATTACKS`, or each lane another one with each round. */
  readonly attack: string;
  readonly port: number;
  readonly keys: readonly string[];
  readonly assets: readonly string[];
  readonly seed: string;
  readonly seconds: number;
  readonly lanes: number;
}

const ATTACKS: Readonly<Record<string, (field: Field) => Promise<void>>> = {
  ...HTTP1_ATTACKS,
  ...SLOW_ATTACKS,
  ...HTTP2_ATTACKS,
};
export const ALL_TOGETHER = 'all together';
export const ATTACK_NAMES: readonly string[] = [...Object.keys(ATTACKS), ALL_TOGETHER];

async function attack({
  attack: name,
  seconds,
  lanes,
  seed,
  port,
  keys,
  assets,
}: Order): Promise<Tally> {
  const tally: Tally = { connections: 0, rankings: 0, statuses: {} };
  const endsMs = Date.now() + seconds * 1_000;
  const lane = async (at: number): Promise<void> => {
    const chance = chanceOf(`${seed}/${name}/${at}`);
    while (Date.now() < endsMs) {
      const act = ATTACKS[name] ?? chance.pick(Object.values(ATTACKS));
      await act({ port, assets, chance, tally, endsMs, key: chance.pick(keys) });
      await sleep(1);
    }
  };
  await Promise.all(Array.from({ length: lanes }, (_, at) => lane(at)));
  return tally;
}

// In a process of its own it is as fast as a stranger is: `fork`ed, it takes orders.
if (process.send !== undefined && process.argv[2] === 'attack') {
  process.on('message', (order: Order) => {
    void attack(order).then((tally) => process.send?.(tally));
  });
}
