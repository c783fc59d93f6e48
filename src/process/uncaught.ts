import type { Logger } from '../telemetry/log.js';

/** `EX_SOFTWARE` of sysexits: a mistake in the program itself. Whoever supervises the process starts it again. */
export const SOFTWARE_EXIT_CODE = 70;

/**
 * Handles what nobody caught: the state of the process is unknown, so the error is logged, work in progress gets time to
 * end, and the process ends with a code other than 0. `stop` is called once; later errors are only logged.
 */
export function onUncaught(logger: Logger, stop: () => void): void {
  let stopping = false;
  const hear = (error: unknown, origin: NodeJS.UncaughtExceptionOrigin): void => {
    logger.fatal({ err: error, origin }, 'uncaught: the process drains and ends');
    process.exitCode = SOFTWARE_EXIT_CODE;
    if (stopping) return;
    stopping = true;
    stop();
  };
  // Unhandled rejections arrive here too.
  process.on('uncaughtException', hear);
}
