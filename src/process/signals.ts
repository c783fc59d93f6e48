import cluster from 'node:cluster';
import { constants } from 'node:os';

/** A signal repeated this soon is the same one: a terminal and npm, or a process manager, each pass it on. */
const SAME_WITHIN_MS = 1_000;

/** Somebody who closes the terminal ends what runs there. */
const isOnTerminal = process.stdin.isTTY || process.stderr.isTTY;

/** The process that reloads on SIGHUP; `undefined` where that signal ends it. */
export const reloadPid = isOnTerminal ? undefined : cluster.isWorker ? process.ppid : process.pid;

/**
 * Calls `stop` on the first SIGTERM or SIGINT, and on SIGHUP at a terminal. A later one is deliberate: it ends the process at
 * once, as it would if nobody listened.
 */
export function onStopSignal(stop: (signal: NodeJS.Signals) => void): void {
  let firstMs: number | undefined;
  const hear = (signal: NodeJS.Signals): void => {
    if (firstMs === undefined) {
      firstMs = performance.now();
      stop(signal);
    } else if (performance.now() - firstMs >= SAME_WITHIN_MS) {
      process.exit(128 + constants.signals[signal]);
    }
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, hear);
  // Without a terminal it reloads, and must not end a process that cannot reload yet.
  process.on('SIGHUP', isOnTerminal ? hear : () => undefined);
}

/** Calls `reload` on SIGHUP, unless the process runs at a terminal. */
export function onReloadSignal(reload: () => void): void {
  if (!isOnTerminal) process.on('SIGHUP', reload);
}
