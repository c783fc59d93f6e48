import { constants } from 'node:os';

/** A signal repeated this soon is the same one: a terminal and npm, or a process manager, each pass it on. */
const SAME_WITHIN_MS = 1_000;

/**
 * Calls `stop` on the first SIGTERM, SIGINT or SIGHUP. A later one is deliberate: it ends the process at once, as it would if
 * nobody listened.
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
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, hear);
}
