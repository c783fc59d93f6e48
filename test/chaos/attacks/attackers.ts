import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Order } from './attacker.js';
import type { Tally } from './line.js';

const PROGRAM = fileURLToPath(new URL('attacker.ts', import.meta.url));
/** What an attacker may take to end its last rounds. */
const LATE_MS = 20_000;

/** A process that attacks as it is told to. */
export class Attackers {
  readonly #child = fork(PROGRAM, ['attack'], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });

  /** Resolves to what was done when the attack is over. */
  async carryOut(order: Order): Promise<Tally> {
    this.#child.send(order);
    const signal = AbortSignal.timeout(order.seconds * 1_000 + LATE_MS);
    const [tally] = (await once(this.#child, 'message', { signal })) as [Tally];
    return tally;
  }

  async close(): Promise<void> {
    if (this.#child.exitCode !== null) return;
    this.#child.kill('SIGKILL');
    await once(this.#child, 'exit');
  }
}
