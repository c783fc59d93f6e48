import { pino, stdTimeFunctions, type DestinationStream, type Logger } from 'pino';
import type { GatewayEvent, Observe } from '../gateway/events.js';

/** Members that no line shows, should one ever be logged. Without wildcards: those are looked for in every line. */
const REDACTED = ['authorization', 'apiKey', 'key', 'password', 'token', 'credentials', 'cookie'];

/** Asked every few seconds by machines. */
const PROBED: ReadonlySet<string> = new Set(['/healthz', '/readyz', '/metrics']);

export type { Logger };

/** The logger of the process: JSON lines on standard output, secrets masked by declaration. */
export function createLogger(level: string, destination?: DestinationStream): Logger {
  return pino(
    {
      level,
      base: null,
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      redact: { paths: REDACTED, censor: '[secret]' },
    },
    // One write for many lines; flushed by the exit handlers of pino, and at least every second.
    destination ??
      pino.destination({ dest: 1, minLength: 4_096, sync: false, periodicFlush: 1_000 }),
  );
}

/** Logs events: one line for a request, one for a failed attempt, one for a change of the channels. */
export function logEvents(logger: Logger): Observe {
  return (event) => write(logger, event);
}

function write(logger: Logger, event: GatewayEvent): void {
  switch (event.kind) {
    case 'request': {
      const { kind, atMs, knownModel, ...line } = event;
      if (event.status >= 500) logger.error(line, 'request');
      else logger.info(line, 'request');
      return;
    }
    case 'attempt': {
      if (event.outcome === 'ok') return;
      const { kind, ...line } = event;
      logger.warn(line, 'attempt failed');
      return;
    }
    case 'access': {
      const { kind, ...line } = event;
      if (PROBED.has(event.route)) logger.debug(line, 'request');
      else if (event.status >= 500) logger.error(line, 'request');
      else logger.info(line, 'request');
      return;
    }
    case 'fault': {
      const { what, error, requestId } = event;
      logger.error({ requestId, err: error }, what);
      return;
    }
    case 'channels': {
      const { version, channels, unusable } = event;
      const live = channels.filter((channel) => channel.live).length;
      logger.info({ version, channels: channels.length, live }, 'channels in force');
      for (const { name, why } of unusable) logger.warn({ channel: name, why }, 'channel unusable');
    }
  }
}
