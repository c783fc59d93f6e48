import cluster, { type Worker } from 'node:cluster';
import { messageOf } from '../core/errors.js';
import type { ConfigSources } from '../config/load-groups.js';
import type { ConfigChanges } from '../config/reload.js';
import type { NodeReload } from '../store/nodes.js';
import type { Logger } from '../telemetry/log.js';
import { tellUnchanged, unchanged } from './reload.js';
import { has, RELOAD, type Given, type Outcome, type Prepare, type Prepared } from './worker.js';

/** If a worker has not answered by then, every worker keeps its settings. */
const PREPARE_MS = 30_000;

export interface SharedSettingsPlan {
  readonly logger: Logger;
  /** The settings in force, which every worker gets: one that is replaced has those of the others, whatever the files hold. */
  readonly sources: ConfigSources;
  /** Reads files and environment again; throws if they cannot be read. */
  readonly read: () => ConfigSources;
  /** What differs between settings, where no worker can check them; throws if the next ones have mistakes. */
  readonly compare: (former: ConfigSources, next: ConfigSources) => ConfigChanges;
}

/** Gives all workers the same settings. Workers that are starting hold up no reload: they catch up once they are ready. */
export class SharedSettings {
  readonly #plan: SharedSettingsPlan;
  readonly #given = new WeakMap<Worker, Given>();
  readonly #ready = new WeakSet<Worker>();
  #inForce: Given;
  /** When reading of the settings in force began. */
  #readMs = 0;
  #last: Promise<void> = Promise.resolve();

  constructor(plan: SharedSettingsPlan) {
    this.#plan = plan;
    this.#inForce = { settings: plan.sources };
  }

  /** Answers a worker that starts. */
  give(worker: Worker): void {
    this.#given.set(worker, this.#inForce);
    send(worker, this.#inForce);
  }

  /** Includes a worker in reloads; what it got when it started may be out of date by now. */
  onReady(worker: Worker): void {
    this.#ready.add(worker);
    this.#last = this.#last.then(() => this.#catchUp(worker));
  }

  /** Lets all workers reload their settings, or none if one of them cannot; after an earlier reload. */
  reload(): void {
    this.#last = this.#last.then(() => this.#reload());
  }

  async #reload(): Promise<void> {
    const workers = here().filter((worker) => worker.isConnected() && this.#ready.has(worker));
    const atMs = Date.now();
    const { logger, read, compare } = this.#plan;
    try {
      const settings = read();
      const changes = workers.length === 0 ? compare(this.#inForce.settings, settings) : undefined;
      const answers = await Promise.all(workers.map((one) => prepared(one, settings, atMs)));
      const why = [...new Set(answers.filter((answer) => answer !== null))];
      if (why.length > 0) throw new Error(why.join('\n'));
      this.#readMs = atMs;
      this.#inForce = { settings };
      if (changes !== undefined) {
        this.#inForce = { settings, last: { atMs, ...changes } };
        logger.info(changes, 'settings reloaded');
      }
      const outcomes = await Promise.all(workers.map((worker) => this.#committed(worker)));
      const reported = outcomes.filter((one) => one !== undefined);
      const last = reported.find(({ why: failure }) => failure === undefined) ?? reported[0];
      if (last !== undefined) this.#inForce = { settings, last };
    } catch (error) {
      const outcome = unchanged(atMs, messageOf(error));
      this.#inForce = { ...this.#inForce, last: outcome };
      for (const worker of workers) send(worker, { outcome });
      tellUnchanged(logger, messageOf(error));
    }
  }

  /** Puts what a worker has prepared in force there. */
  async #committed(worker: Worker): Promise<NodeReload | undefined> {
    const { settings } = this.#inForce;
    this.#given.set(worker, { settings });
    const answer = await ask<Outcome>(worker, RELOAD, 'outcome');
    return typeof answer === 'object' ? answer.outcome : undefined;
  }

  async #catchUp(worker: Worker): Promise<void> {
    const { settings, last: outcome } = this.#inForce;
    const given = this.#given.get(worker);
    if (!worker.isConnected()) return;
    if (given?.settings === settings) {
      if (outcome !== undefined && given.last !== outcome) send(worker, { outcome });
      return;
    }
    const why = await prepared(worker, settings, this.#readMs);
    if (why === null) {
      await this.#committed(worker);
      return;
    }
    send(worker, { outcome: unchanged(this.#readMs, why) });
    const { pid } = worker.process;
    this.#plan.logger.error({ pid, why }, 'worker keeps its former settings: reload again');
  }
}

/** Why a worker cannot reload its settings; null if it can. */
async function prepared(
  worker: Worker,
  prepare: ConfigSources,
  atMs: number,
): Promise<string | null> {
  // The answer to an earlier question may come late.
  const isIt = (answer: Prepared): boolean => answer.atMs === atMs;
  const answer = await ask<Prepared>(worker, { prepare, atMs }, 'prepared', isIt);
  // Its successor gets the settings when it starts.
  if (answer === 'gone') return null;
  return answer === 'silent' ? `process ${worker.process.pid} does not answer` : answer.prepared;
}

function ask<Answer extends object>(
  worker: Worker,
  message: typeof RELOAD | Prepare,
  member: keyof Answer,
  isIt: (answer: Answer) => boolean = () => true,
): Promise<Answer | 'gone' | 'silent'> {
  return new Promise((resolve) => {
    const done = (answer: Answer | 'gone' | 'silent'): void => {
      clearTimeout(timer);
      worker.off('message', hear);
      worker.off('disconnect', gone);
      resolve(answer);
    };
    const hear = (answer: unknown): void => {
      if (has<Answer>(answer, member) && isIt(answer)) done(answer);
    };
    const gone = (): void => done('gone');
    const timer = setTimeout(() => done('silent'), PREPARE_MS);
    worker.on('message', hear);
    worker.on('disconnect', gone);
    if (worker.isConnected()) send(worker, message);
    else gone();
  });
}

/** Sends a message; a worker that has gone meanwhile needs none. */
export function send(worker: Worker, message: string | Given | Prepare | Outcome): void {
  if (worker.isConnected()) worker.send(message, () => undefined);
}

function here(): Worker[] {
  return Object.values(cluster.workers ?? {}).filter((one) => one !== undefined);
}
