import cluster, { type Worker } from 'node:cluster';
import { createServer, type Socket, type AddressInfo, type Server } from 'node:net';
import { Restarts } from '../core/restarts.js';
import { Heartbeat } from './heartbeat.js';
import { closePort, MAX_WAITING } from '../http/connections.js';
import { send, SharedSettings, type SharedSettingsPlan } from './shared-settings.js';
import { onReloadSignal, onStopSignal } from './signals.js';
import { answerWorkers } from '../telemetry/shared-metrics.js';
import { onUncaught, SOFTWARE_EXIT_CODE } from './uncaught.js';
import {
  ARE_YOU_THERE,
  CONNECTION,
  DRAIN,
  HERE,
  LEAVING,
  READY,
  SETTINGS_PLEASE,
} from './worker.js';

/** On top of the time to drain: a worker that is still there then will not end by itself. */
const LAST_WORDS_MS = 10_000;
/** Connections that may wait while there is no worker. */
const MAX_HELD = 1_024;
/** How often workers are asked whether they are there. */
const BEAT_MS = 1_000;
/** A worker that answers no longer gets no more connections, and is then replaced: it may be stopped, or hang. */
const PATIENCE = { silentAfter: 3, lostAfter: 10 };

export interface WorkersPlan extends SharedSettingsPlan {
  readonly count: number;
  readonly host: string;
  readonly port: number;
  readonly drainMs: number;
  /** Called once, when connections are accepted. */
  readonly onListening: (port: number) => void;
}

/**
 * Runs several processes on one port and replaces those that die. This one accepts all connections and hands them on in turn,
 * so that it can stop accepting before anybody stops serving: no connection is accepted and then left alone. If a worker
 * cannot start at all, everything ends with its exit code. Resolves to the exit code when all of them have ended.
 */
export function runWorkers(plan: WorkersPlan): Promise<number> {
  return new Promise((resolve, reject) => {
    new Supervisor(plan, resolve, reject).run();
  });
}

class Supervisor {
  readonly #plan: WorkersPlan;
  readonly #resolve: (exitCode: number) => void;
  readonly #reject: (error: Error) => void;
  readonly #started = new WeakMap<Worker, number>();
  /** Connections that each worker is to be sent. Nothing of them has been read. */
  readonly #onTheWay = new WeakMap<Worker, Set<Socket>>();
  /** The workers that serve, the next one first. */
  readonly #serving: Worker[] = [];
  readonly #waiting: Socket[] = [];
  readonly #server: Server;
  readonly #restarts = new Restarts();
  readonly #heartbeat = new Heartbeat<Worker>(
    {
      ask: (worker) => {
        send(worker, ARE_YOU_THERE);
      },
      onSilent: (worker) => {
        this.#passOver(worker);
      },
      onBack: (worker) => {
        this.#serve(worker);
      },
      onLost: (worker) => {
        const { pid } = worker.process;
        this.#plan.logger.error({ pid }, 'worker does not respond: killing it');
        worker.process.kill('SIGKILL');
      },
    },
    PATIENCE,
  );
  readonly #settings: SharedSettings;
  #isUp = false;
  #isStopping = false;
  #exitCode = 0;
  #failure: Error | undefined;

  constructor(
    plan: WorkersPlan,
    resolve: (exitCode: number) => void,
    reject: (error: Error) => void,
  ) {
    this.#plan = plan;
    this.#settings = new SharedSettings(plan);
    this.#resolve = resolve;
    this.#reject = reject;
    const options = { pauseOnConnect: true, allowHalfOpen: true, noDelay: true };
    this.#server = createServer(options, (socket) => {
      this.#handOver(socket);
    });
  }

  run(): void {
    answerWorkers();
    cluster.on('message', (worker: Worker, message: unknown) => {
      if (message === SETTINGS_PLEASE) this.#settings.give(worker);
      if (message === READY) this.#onReady(worker);
      if (message === LEAVING) this.#dismiss(worker);
      if (message === HERE) this.#heartbeat.heard(worker);
    });
    cluster.on('exit', (worker: Worker, code: number, signal: string) => {
      this.#onExit(worker, code, signal);
    });
    onStopSignal((signal) => {
      this.#stop(signal);
    });
    onReloadSignal(() => {
      this.#settings.reload();
    });
    onUncaught(this.#plan.logger, () => {
      this.#exitCode = SOFTWARE_EXIT_CODE;
      this.#stop('not caught');
    });
    setInterval(() => {
      this.#heartbeat.beat();
    }, BEAT_MS).unref();
    for (let index = 0; index < this.#plan.count; index += 1) this.#fork();
  }

  #fork(): void {
    const worker = cluster.fork();
    this.#started.set(worker, performance.now());
    this.#onTheWay.set(worker, new Set());
    worker.on('error', (error) => {
      this.#plan.logger.error({ err: error, pid: worker.process.pid }, 'worker not reached');
    });
  }

  #onReady(worker: Worker): void {
    if (this.#isStopping) {
      send(worker, DRAIN);
      return;
    }
    this.#serve(worker);
    this.#settings.onReady(worker);
    this.#heartbeat.follow(worker);
    if (this.#isUp) return;
    this.#isUp = true;
    const { host, port, onListening } = this.#plan;
    this.#server.on('error', (error) => {
      this.#failure = error;
      this.#stop('the port failed');
    });
    this.#server.listen(port, host, MAX_WAITING, () => {
      onListening((this.#server.address() as AddressInfo).port);
    });
  }

  /** Starts to hand it connections. */
  #serve(worker: Worker): void {
    this.#serving.push(worker);
    for (const socket of this.#waiting.splice(0)) this.#handOver(socket);
  }

  /** Hands a connection to the worker whose turn it is. */
  #handOver(socket: Socket): void {
    const worker = this.#serving.shift();
    if (worker === undefined) {
      if (this.#waiting.length < MAX_HELD && !this.#isStopping) this.#waiting.push(socket);
      else socket.destroy();
      return;
    }
    this.#serving.push(worker);
    const onTheWay = this.#onTheWay.get(worker);
    onTheWay?.add(socket);
    // It stays open here until it is sent: Node sends a worker one after the other, and forgets the others when that dies.
    worker.send(CONNECTION, socket, { keepOpen: true }, (error) => {
      if (onTheWay?.delete(socket) !== true) return;
      if (error === null) {
        // The one on the way is the worker's now: if that is gone, the connection breaks.
        socket.destroy();
        // It has taken the one before. What it is asked waits behind all that are to be sent, one with each of its turns.
        this.#heartbeat.heard(worker);
      } else {
        // It is about to be replaced.
        this.#passOver(worker);
        this.#handOver(socket);
      }
    });
  }

  /** Hands it no more connections. */
  #passOver(worker: Worker): void {
    const at = this.#serving.indexOf(worker);
    if (at >= 0) this.#serving.splice(at, 1);
  }

  /** Hands it no more connections, and lets it end. */
  #dismiss(worker: Worker): void {
    this.#heartbeat.leave(worker);
    this.#passOver(worker);
    send(worker, DRAIN);
  }

  /** Accepts nothing more, then ends the workers: they have what was accepted before they are told. */
  #stop(why: string): void {
    if (this.#isStopping) return;
    this.#isStopping = true;
    const { logger, drainMs } = this.#plan;
    logger.info({ why, drainMs }, 'draining');
    void this.#closeAndDismiss();
    setTimeout(() => {
      for (const worker of Object.values(cluster.workers ?? {})) worker?.process.kill('SIGKILL');
    }, drainMs + LAST_WORDS_MS).unref();
  }

  async #closeAndDismiss(): Promise<void> {
    if (this.#server.listening) await closePort(this.#server, this.#plan.drainMs);
    for (const socket of this.#waiting.splice(0)) socket.destroy();
    for (const worker of Object.values(cluster.workers ?? {})) {
      if (worker !== undefined) this.#dismiss(worker);
    }
    this.#endIfAlone();
  }

  #endIfAlone(): void {
    if (Object.keys(cluster.workers ?? {}).length > 0) return;
    if (this.#failure === undefined) this.#resolve(this.#exitCode);
    else this.#reject(this.#failure);
  }

  #onExit(worker: Worker, code: number, signal: string): void {
    this.#heartbeat.leave(worker);
    this.#passOver(worker);
    if (!this.#isStopping && !this.#isUp) {
      this.#exitCode = code === 0 ? 1 : code;
      this.#stop('a worker cannot start');
    }
    const onTheWay = this.#onTheWay.get(worker);
    const unsent = [...(onTheWay ?? [])];
    onTheWay?.clear();
    for (const socket of unsent) this.#handOver(socket);
    if (this.#isStopping) {
      this.#endIfAlone();
      return;
    }
    const { logger } = this.#plan;
    const ranMs = performance.now() - (this.#started.get(worker) ?? 0);
    const restartMs = this.#restarts.after(ranMs);
    const { pid } = worker.process;
    logger.error({ pid, code, signal, restartMs }, 'worker died');
    setTimeout(() => {
      if (!this.#isStopping) this.#fork();
    }, restartMs);
  }
}
