import type { Resource } from '@opentelemetry/resources';
import type { Observe, ReadEvents } from '../gateway/events.js';
import { ExportQueue, type Exporter } from './export-queue.js';
import { boundAnswers } from './otlp-answers.js';
import { readLogRecords, readSpans, type LogRecord, type SpanRecord } from './otlp-records.js';

export interface OtlpSettings {
  /** Where OTLP is taken by HTTP, without `/v1/traces` and `/v1/logs`. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly serviceName: string;
  /** Whether requests are logged there too. */
  readonly logs: boolean;
}

/** Makes exporters: the packages of OpenTelemetry, which are optional. */
export interface OtlpPackages {
  readonly resourceOf: (attributes: Readonly<Record<string, string>>) => Resource;
  readonly tracesTo: (options: SendOptions) => Exporter<SpanRecord>;
  readonly logsTo: (options: SendOptions) => Exporter<LogRecord>;
}

interface SendOptions {
  readonly url: string;
  readonly headers: Record<string, string>;
}

/** What to do where the packages are missing. */
export const INSTALL =
  'npm install @opentelemetry/api@1.9 @opentelemetry/resources@2 @opentelemetry/exporter-trace-otlp-http@0.223 @opentelemetry/exporter-logs-otlp-http@0.223';

/** @throws whatever `import` throws where a package is missing. */
export async function loadOtlp(): Promise<OtlpPackages> {
  const [{ resourceFromAttributes }, { OTLPTraceExporter }, { OTLPLogExporter }] =
    await Promise.all([
      import('@opentelemetry/resources'),
      import('@opentelemetry/exporter-trace-otlp-http'),
      import('@opentelemetry/exporter-logs-otlp-http'),
    ]);
  return {
    resourceOf: resourceFromAttributes,
    tracesTo: (options) => new OTLPTraceExporter(options),
    logsTo: (options) => new OTLPLogExporter(options),
  };
}

export interface Otlp {
  readonly reads: readonly ReadEvents[];
  /** Exports what is left. */
  close(): Promise<unknown>;
}

/** Exports spans of recorded traces and, if it is set so, the log of requests. */
export function createOtlp(
  packages: OtlpPackages,
  settings: OtlpSettings,
  node: { readonly name: string; readonly id: string; readonly release: string },
  observe: Observe,
  onDropped: (signal: string, count: number) => void,
): Otlp {
  const { url, headers, serviceName, logs } = settings;
  const resource = packages.resourceOf({
    'service.name': serviceName,
    'service.version': node.release,
    'service.instance.id': node.id,
    'host.name': node.name,
  });
  const send = (path: string): SendOptions => ({
    url: url.replace(/\/*$/, path),
    headers: { ...headers },
  });
  const spans = new ExportQueue<SpanRecord>({
    ...{ signal: 'traces', exporter: packages.tracesTo(send('/v1/traces')), observe },
    onDropped: (count) => onDropped('traces', count),
  });
  const reads = [readSpans(resource, spans.add)];
  const stopBounding = boundAnswers();
  const close = async (...queues: { close(): Promise<void> }[]): Promise<void> => {
    await Promise.all(queues.map((queue) => queue.close()));
    stopBounding();
  };
  if (!logs) return { reads, close: () => close(spans) };
  const lines = new ExportQueue<LogRecord>({
    ...{ signal: 'logs', exporter: packages.logsTo(send('/v1/logs')), observe },
    onDropped: (count) => onDropped('logs', count),
  });
  reads.push(readLogRecords(resource, lines.add));
  return { reads, close: () => close(spans, lines) };
}
