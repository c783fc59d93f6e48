import { pino, stdTimeFunctions, symbols, type DestinationStream, type Logger } from 'pino';
import type { GatewayEvent, ReadEvents, RequestEvent } from '../gateway/events.js';

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
    // One write for many lines; flushed by the exit handlers of pino, and at least every quarter of a second.
    destination ??
      pino.destination({
        dest: 1,
        minLength: 60_000,
        maxWrite: 65_536,
        sync: false,
        periodicFlush: 250,
      }),
  );
}

/** Logs events: one line for a request, one for a failed attempt, one for a change of the channels. */
export function logEvents(logger: Logger): ReadEvents {
  // The stream below the logger, which pino names by a public symbol and not in its types.
  const stream = (logger as unknown as Record<symbol, DestinationStream>)[symbols.streamSym];
  return (events) => {
    let lines = '';
    for (const event of events) {
      if (event.kind === 'request') {
        const level = event.status >= 500 ? 'error' : 'info';
        if (logger.isLevelEnabled(level)) lines += requestLine(level, event);
      } else {
        if (lines !== '') stream?.write(lines);
        lines = '';
        write(logger, event);
      }
    }
    if (lines !== '') stream?.write(lines);
  };
}

/**
 * The line of a rerank request, as pino would write it. It is the one line of the hot path, and of all its members none is
 * masked: pino's way to it costs as much as reading the whole request.
 */
function requestLine(level: 'info' | 'error', event: RequestEvent): string {
  const line = {
    level,
    time: new Date(event.atMs + event.durationMs).toISOString(),
    requestId: event.requestId,
    method: event.method,
    route: event.route,
    status: event.status,
    outcome: event.outcome,
    userId: event.userId,
    tokenId: event.tokenId,
    tokenName: event.tokenName,
    model: event.model,
    channelId: event.channelId,
    provider: event.provider,
    tag: event.tag,
    attempts: event.attempts,
    documents: event.documents,
    inputTokens: event.inputTokens,
    searchUnits: event.searchUnits,
    quota: event.quota,
    admitted: event.admitted,
    durationMs: event.durationMs,
    upstreamMs: event.upstreamMs,
    msg: 'request',
  };
  return `${JSON.stringify(line)}\n`;
}

function write(logger: Logger, event: Exclude<GatewayEvent, RequestEvent>): void {
  switch (event.kind) {
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
