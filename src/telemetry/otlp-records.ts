import { randomBytes } from 'node:crypto';
import type { OTLPLogExporter } from '@opentelemetry/exporter-logs-otlp-http';
import type { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import type { Resource } from '@opentelemetry/resources';
import type {
  AttemptEvent,
  ChannelsEvent,
  GatewayEvent,
  ReadEvents,
  RequestEvent,
} from '../gateway/events.js';

/** A span, and a line of the log, as the exporters of OpenTelemetry take them. */
export type SpanRecord = Parameters<OTLPTraceExporter['export']>[0][number];
export type LogRecord = Parameters<OTLPLogExporter['export']>[0][number];

type Severity = NonNullable<LogRecord['severityNumber']>;
type Attributes = SpanRecord['attributes'];
/** Values of attributes; those that are `undefined` are left out. */
type Values = Readonly<Record<string, string | number | boolean | undefined>>;

/* oxlint-disable typescript/no-unsafe-enum-assignment -- by number: the packages that name them are optional */
const INTERNAL = 0 as SpanRecord['kind'];
const SERVER = 1 as SpanRecord['kind'];
const CLIENT = 2 as SpanRecord['kind'];
const UNSET = 0 as SpanRecord['status']['code'];
const FAILED = 2 as SpanRecord['status']['code'];
const SAMPLED = 1;
const INFO = 9 as Severity;
const WARN = 13 as Severity;
const ERROR = 17 as Severity;
/* oxlint-enable typescript/no-unsafe-enum-assignment */

const SCOPE = { name: 'rerank-gateway' };

interface SpanParts {
  readonly name: string;
  readonly traceId: string;
  /** A new one unless given. */
  readonly id?: string;
  readonly parentId: string | undefined;
  readonly kind?: SpanRecord['kind'];
  readonly fromMs: number;
  readonly untilMs: number;
  readonly values?: Values;
  /** Why it failed, if it did. */
  readonly error?: string | undefined;
}

/** Makes spans of the events of recorded traces, and gives them to `add`. */
export function readSpans(resource: Resource, add: (span: SpanRecord) => void): ReadEvents {
  const named = new ChannelNames();
  const report = (parts: SpanParts): void => add(spanOf(resource, parts));
  return (events) => {
    for (const event of events) {
      if (event.kind === 'channels') named.read(event);
      else if (event.kind === 'request') reportRequest(event, named, report);
      else if (event.kind === 'attempt') reportAttempt(event, named, report);
      else if (event.kind === 'settled') {
        const { trace, atMs, durationMs, charged } = event;
        report({
          ...{ name: 'settle', traceId: trace.traceId, parentId: trace.spanId },
          ...{ fromMs: atMs, untilMs: atMs + durationMs, values: { 'rerank.charged': charged } },
          error: charged === undefined ? 'it is not known what was charged' : undefined,
        });
      }
    }
  };
}

/** Makes lines of a log of requests and failed attempts, and gives them to `add`. */
export function readLogRecords(resource: Resource, add: (line: LogRecord) => void): ReadEvents {
  const named = new ChannelNames();
  return (events) => {
    for (const event of events) {
      if (event.kind === 'channels') named.read(event);
      const line = lineOf(event, named);
      if (line !== undefined) add({ ...line, resource });
    }
  };
}

class ChannelNames {
  #byId = new Map<number, string>();

  read({ channels }: ChannelsEvent): void {
    this.#byId = new Map(channels.map(({ id, name }) => [id, name]));
  }

  of(id: number | undefined): string | undefined {
    return id === undefined ? undefined : this.#byId.get(id);
  }
}

function reportRequest(
  event: RequestEvent,
  named: ChannelNames,
  report: (parts: SpanParts) => void,
): void {
  const { trace, atMs, durationMs } = event;
  if (trace?.isRecorded !== true) return;
  const { traceId, spanId, parentId, readMs, admittedMs, chosenMs } = trace;
  const endMs = atMs + durationMs;
  report({
    ...{ name: `POST ${event.route}`, traceId, id: spanId, parentId, kind: SERVER },
    ...{ fromMs: atMs, untilMs: endMs, values: requestValues(event, named) },
    error: event.status >= 500 ? (event.message ?? event.outcome) : undefined,
  });
  const step = (name: string, fromMs: number | undefined, untilMs = endMs): void => {
    if (fromMs !== undefined) report({ name, traceId, parentId: spanId, fromMs, untilMs });
  };
  step('receive', atMs, readMs);
  step('admit', readMs, admittedMs);
  step('choose', admittedMs, chosenMs);
}

function reportAttempt(
  event: AttemptEvent,
  named: ChannelNames,
  report: (parts: SpanParts) => void,
): void {
  const { span, atMs, durationMs, outcome } = event;
  if (span?.trace.isRecorded !== true) return;
  const { traceId, spanId } = span.trace;
  const untilMs = atMs + durationMs;
  const isFine = outcome === 'ok' || outcome === 'cancelled';
  report({
    ...{ name: 'attempt', traceId, id: span.id, parentId: spanId, kind: CLIENT },
    ...{ fromMs: atMs, untilMs, values: attemptValues(event, named) },
    error: isFine ? undefined : event.message,
  });
  if (span.repliedMs === undefined) return;
  report({ name: 'read', traceId, parentId: span.id, fromMs: span.repliedMs, untilMs });
}

function requestValues(event: RequestEvent, named: ChannelNames): Values {
  return {
    'http.request.method': event.method,
    'http.route': event.route,
    'http.response.status_code': event.status,
    'rerank.request_id': event.requestId,
    'rerank.outcome': event.outcome,
    'rerank.user_id': event.userId,
    'rerank.key_id': event.tokenId,
    'rerank.key': event.tokenName,
    'rerank.model': event.model,
    'rerank.channel': named.of(event.channelId),
    'rerank.channel_id': event.channelId,
    'rerank.provider': event.provider,
    'rerank.tag': event.tag,
    'rerank.attempts': event.attempts,
    'rerank.documents': event.documents,
    'rerank.input_tokens': event.inputTokens,
    'rerank.search_units': event.searchUnits,
    'rerank.cost_units': event.quota,
    'rerank.degraded': event.degraded,
    'rerank.duration_ms': event.durationMs,
    'rerank.upstream_ms': event.upstreamMs,
  };
}

function attemptValues(event: AttemptEvent, named: ChannelNames): Values {
  return {
    'rerank.request_id': event.requestId,
    'rerank.outcome': event.outcome,
    'http.response.status_code': event.status,
    'rerank.model': event.model,
    'rerank.channel': named.of(event.channelId),
    'rerank.channel_id': event.channelId,
    'rerank.provider': event.provider,
    'rerank.tag': event.tag,
  };
}

function spanOf(resource: Resource, parts: SpanParts): SpanRecord {
  const { name, traceId, parentId, kind = INTERNAL, fromMs, values = {}, error } = parts;
  const { id = randomBytes(8).toString('hex') } = parts;
  // A clock that is set back must not end a span before it began.
  const untilMs = Math.max(fromMs, parts.untilMs);
  const context = { traceId, spanId: id, traceFlags: SAMPLED };
  return {
    ...{ name, kind, spanContext: () => context },
    ...(parentId === undefined
      ? {}
      : { parentSpanContext: { ...context, spanId: parentId, isRemote: kind === SERVER } }),
    ...{ startTime: timeOf(fromMs), endTime: timeOf(untilMs), duration: timeOf(untilMs - fromMs) },
    status: error === undefined ? { code: UNSET } : { code: FAILED, message: error },
    ...{ attributes: present(values), links: [], events: [], ended: true, resource },
    instrumentationScope: SCOPE,
    ...{ droppedAttributesCount: 0, droppedEventsCount: 0, droppedLinksCount: 0 },
  };
}

type Line = Omit<LogRecord, 'resource'>;

function lineOf(event: GatewayEvent, named: ChannelNames): Line | undefined {
  if (event.kind === 'request') {
    const { trace, atMs, durationMs, message, status } = event;
    const values = { ...requestValues(event, named), 'rerank.message': message };
    const severity = status >= 500 ? ERROR : INFO;
    return logLine('request', severity, atMs + durationMs, values, trace?.traceId, trace?.spanId);
  }
  if (event.kind !== 'attempt' || event.outcome === 'ok') return undefined;
  const { span, message, atMs, durationMs } = event;
  const values = { ...attemptValues(event, named), 'rerank.message': message };
  const endMs = atMs + durationMs;
  return logLine('attempt failed', WARN, endMs, values, span?.trace.traceId, span?.id);
}

function logLine(
  body: string,
  severityNumber: Severity,
  atMs: number,
  values: Values,
  traceId: string | undefined,
  spanId: string | undefined,
): Line {
  const time = timeOf(atMs);
  return {
    ...{ body, severityNumber, hrTime: time, hrTimeObserved: time },
    severityText: severityNumber === INFO ? 'INFO' : severityNumber === WARN ? 'WARN' : 'ERROR',
    ...(traceId === undefined || spanId === undefined
      ? {}
      : { spanContext: { traceId, spanId, traceFlags: SAMPLED } }),
    ...{ attributes: present(values), instrumentationScope: SCOPE, droppedAttributesCount: 0 },
  };
}

/** Seconds and nanoseconds. */
function timeOf(ms: number): [number, number] {
  const seconds = Math.floor(ms / 1_000);
  return [seconds, Math.round((ms - seconds * 1_000) * 1e6)];
}

function present(values: Values): Attributes {
  const attributes: Attributes = {};
  for (const name in values) {
    const value = values[name];
    if (value !== undefined) attributes[name] = value;
  }
  return attributes;
}
