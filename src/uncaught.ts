import type { Logger } from './telemetry/log.js';

/** `EX_SOFTWARE` of sysexits: a mistake in the program itself. Whoever supervises the process starts it again. */
export const SOFTWARE_EXIT_CODE = 70;

/**
 * The rule for what nobody caught: nobody knows what state the process is in, so it is logged, what is under way is given the
 * time to end, and the process ends with a code that is not 0. `stop` is called once; what comes after is logged alone.
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
  // Rejections that nobody handles come here too.
  process.on('uncaughtException', hear);
}
