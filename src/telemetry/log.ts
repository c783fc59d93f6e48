import { pino, stdSerializers, symbols, type DestinationStream, type Logger } from 'pino';
import { quoted } from '../core/quoted.js';
import { isRecord } from '../core/records.js';
import { withoutKeys } from '../core/secret.js';
import type {
  AttemptEvent,
  GatewayEvent,
  ReadEvents,
  RequestEvent,
  SettledEvent,
} from '../gateway/events.js';

/** Members that are masked, should one ever be logged. No wildcards: pino would look for them in every line. */
const REDACTED = ['authorization', 'apiKey', 'key', 'password', 'token', 'credentials', 'cookie'];

/** Of a text in an error: servers may send a megabyte in place of a line. */
const MAX_ERROR_TEXT = 8_192;

/** Requested by machines every few seconds. */
const PROBED: ReadonlySet<string> = new Set(['/healthz', '/readyz', '/metrics']);

export type { Logger };

/** The logger of the process: JSON lines on standard output, secrets masked by declaration. */
export function createLogger(level: string, destination?: DestinationStream): Logger {
  return pino(
    {
      level,
      base: null,
      timestamp: () => `,"time":"${isoTime(happenedMs ?? Date.now())}"`,
      formatters: { level: (label) => ({ level: label }) },
      hooks: { streamWrite: withoutKeys },
      serializers: { err: loggableError },
      redact: { paths: REDACTED, censor: '[secret]' },
    },
    // What is written during a write goes with the next one. Without a least length, `flush` waits for nothing.
    destination ?? pino.destination({ dest: 1, sync: false, minLength: 1 }),
  );
}

/**
 * Resolves when all lines are written, or when nobody reads them any more. Awaited before the process exits: pino's own
 * exit handler tries for ever to write what is left to a pipe without a reader.
 */
export function logWritten(logger: Logger): Promise<void> {
  return new Promise((resolve) => {
    logger.flush(() => {
      resolve();
    });
  });
}

/** An error as pino writes it, with texts cut, and without objects: bytes that a server sent, a command with its arguments. */
function loggableError(error: unknown): unknown {
  const written: unknown = stdSerializers.err(error as Error);
  if (!isRecord(written)) return written;
  const members = Object.entries(written)
    .filter(([name, value]) => typeof value !== 'object' || name === 'aggregateErrors')
    .map(([name, value]) => [
      name,
      typeof value === 'string' && value.length > MAX_ERROR_TEXT
        ? `${value.slice(0, MAX_ERROR_TEXT)}…`
        : value,
    ]);
  return Object.fromEntries(members);
}

/** Writes the log for people: coloured where the terminal is, one line for each. */
export async function prettyDestination(): Promise<DestinationStream> {
  const { prettyFactory } = await import('pino-pretty');
  const pretty = prettyFactory({ translateTime: 'SYS:HH:MM:ss.l', singleLine: true });
  // A terminal is read by one person: nothing is lost at the end, and nothing needs to be fast.
  const out = pino.destination({ dest: 1, sync: true });
  return { write: (text) => out.write(text.trimEnd().split('\n').map(pretty).join('')) };
}

/** Logs events: one line per request, per failed attempt, and per change of the channels. */
export function logEvents(logger: Logger): ReadEvents {
  // The stream below the logger, which pino exposes by a public symbol but not in its types.
  const stream = (logger as unknown as Record<symbol, DestinationStream>)[symbols.streamSym];
  return (events) => {
    let lines = '';
    for (const event of events) {
      // Every successful request has one: it must not split the lines, which are expensive to write one by one.
      if (event.kind === 'attempt' && event.outcome === 'ok') continue;
      if (event.kind === 'settled') continue;
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
 * The line of a rerank request, as pino would write it. It is the only line on the hot path, and none of its members is
 * masked: writing it through pino costs as much as reading the whole request.
 */
function requestLine(level: 'info' | 'error', event: RequestEvent): string {
  return (
    `{"level":"${level}","time":"${isoTime(event.atMs + event.durationMs)}"` +
    member('requestId', event.requestId) +
    `,"method":"${event.method}","route":"${event.route}","status":${event.status}` +
    `,"outcome":"${event.outcome}"` +
    member('userId', event.userId) +
    member('tokenId', event.tokenId) +
    member('tokenName', event.tokenName) +
    member('model', event.model) +
    member('channelId', event.channelId) +
    member('provider', event.provider) +
    member('tag', event.tag) +
    `,"attempts":${event.attempts},"documents":${event.documents}` +
    `,"inputTokens":${event.inputTokens},"searchUnits":${event.searchUnits}` +
    `,"quota":${event.quota},"cost":${event.cost},"admitted":${event.admitted},"degraded":${event.degraded}` +
    `,"durationMs":${event.durationMs},"upstreamMs":${event.upstreamMs}` +
    (event.trace === undefined ? '' : traceMembers(event.trace)) +
    `,"msg":"request"}\n`
  );
}

function traceMembers({ traceId, spanId }: NonNullable<RequestEvent['trace']>): string {
  return `,"traceId":"${traceId}","spanId":"${spanId}"`;
}

function member(name: string, value: string | number | undefined): string {
  if (value === undefined) return '';
  if (typeof value === 'number') return `,"${name}":${value}`;
  return `,"${name}":${quoted(value)}`;
}

function inTrace({ trace, id }: NonNullable<AttemptEvent['span']>) {
  return { traceId: trace.traceId, spanId: id };
}

/** When the event that is being written happened, if not now: frequent events wait for others. */
let happenedMs: number | undefined;

let second = Number.NaN;
let secondText = '';

/** Like `toISOString`, whose result changes only in its milliseconds within a second. */
function isoTime(ms: number): string {
  const now = Math.floor(ms / 1000);
  if (now !== second) {
    second = now;
    secondText = new Date(now * 1000).toISOString().slice(0, -'000Z'.length);
  }
  return `${secondText}${String(Math.floor(ms) - now * 1000).padStart(3, '0')}Z`;
}

function write(logger: Logger, event: Exclude<GatewayEvent, RequestEvent | SettledEvent>): void {
  switch (event.kind) {
    case 'attempt': {
      const { kind, atMs, span, ...line } = event;
      happenedMs = atMs + line.durationMs;
      const traced = span === undefined ? line : { ...line, ...inTrace(span) };
      logger.warn(traced, 'attempt failed');
      happenedMs = undefined;
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
      return;
    }
    case 'breaker': {
      const { channelId, channel, state, reason, sinceMs, forMs } = event;
      const told = { channelId, channel, state, reason, sinceMs, forMs };
      if (state === 'open') logger.warn(told, 'channel skipped: its circuit is open');
      else logger.info(told, 'circuit of a channel changed');
      return;
    }
    case 'key_refused': {
      const { kind, ...line } = event;
      logger.warn(line, 'key of a channel refused: not used for a while');
      return;
    }
    case 'limited': {
      const { kind, ...line } = event;
      logger.info(line, 'channel at its limit: skipped for a while');
      return;
    }
    case 'outage': {
      const { kind, ...line } = event;
      if (event.state === 'disabled') logger.error(line, 'channel disabled by the gateway');
      else logger.info(line, 'channel works again: back in service');
    }
  }
}
