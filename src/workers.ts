import cluster, { type Address, type Worker } from 'node:cluster';
import type { Logger } from './telemetry/log.js';
import { answerWorkers } from './telemetry/shared-metrics.js';
import { onStopSignal } from './signals.js';

/** A worker that ends sooner than this after its start was not able to run: the next one waits. */
const HEALTHY_MS = 5_000;
const FIRST_PAUSE_MS = 200;
const LONGEST_PAUSE_MS = 10_000;

export interface WorkersPlan {
  readonly count: number;
  readonly logger: Logger;
  /** Called once, when the first worker listens. */
  readonly onListening: (port: number) => void;
}

/**
 * Runs several processes on one port and replaces those that die. A worker that cannot start at all ends the whole, with
 * its exit code. Resolves to the exit code when a signal has ended all of them.
 */
export async function runWorkers(plan: WorkersPlan): Promise<number> {
  const { logger } = plan;
  const started = new WeakMap<Worker, number>();
  let listening = false;
  let stopping = false;
  let pauseMs = FIRST_PAUSE_MS;
  let exitCode = 0;
  answerWorkers();

  const fork = () => {
    const worker = cluster.fork();
    started.set(worker, Date.now());
  };
  const stop = (signal: NodeJS.Signals) => {
    stopping = true;
    for (const worker of Object.values(cluster.workers ?? {})) worker?.process.kill(signal);
  };

  return new Promise((resolve) => {
    cluster.on('listening', (_worker: Worker, address: Address) => {
      if (!listening) plan.onListening(address.port);
      listening = true;
    });
    cluster.on('exit', (worker: Worker, code: number, signal: string) => {
      const alive = Object.keys(cluster.workers ?? {}).length;
      if (!stopping && !listening) {
        exitCode = code === 0 ? 1 : code;
        stop('SIGTERM');
      }
      if (stopping) {
        if (alive === 0) resolve(exitCode);
        return;
      }
      logger.error({ pid: worker.process.pid, code, signal }, 'worker died');
      const ranMs = Date.now() - (started.get(worker) ?? 0);
      pauseMs = ranMs >= HEALTHY_MS ? FIRST_PAUSE_MS : Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
      setTimeout(() => {
        if (!stopping) fork();
      }, pauseMs);
    });
    onStopSignal(stop);
    for (let index = 0; index < plan.count; index += 1) fork();
  });
}
