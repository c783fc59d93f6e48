import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { json } from 'node:stream/consumers';

/** The parts of OTLP's JSON that tests read; 64-bit numbers are text there. */
type Value = { readonly stringValue?: string; readonly intValue?: number | string } & {
  readonly boolValue?: boolean;
  readonly doubleValue?: number;
};
interface Attribute {
  readonly key: string;
  readonly value: Value;
}
interface Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly Attribute[];
  readonly status: { readonly code: number; readonly message?: string };
}
interface Line {
  readonly timeUnixNano: string;
  readonly severityText: string;
  readonly body: Value;
  readonly traceId?: string;
  readonly spanId?: string;
  readonly attributes: readonly Attribute[];
}
interface Resource {
  readonly attributes: readonly Attribute[];
}
interface Body {
  readonly resourceSpans?: readonly {
    readonly resource: Resource;
    readonly scopeSpans: readonly { readonly spans: readonly Span[] }[];
  }[];
  readonly resourceLogs?: readonly {
    readonly resource: Resource;
    readonly scopeLogs: readonly { readonly logRecords: readonly Line[] }[];
  }[];
}

export type Decoded<T> = Omit<T, 'attributes'> & {
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly resource: Readonly<Record<string, unknown>>;
};

export interface OtlpReceiver {
  readonly url: string;
  readonly spans: Decoded<Span>[];
  readonly lines: Decoded<Line>[];
  readonly headers: Record<string, unknown>[];
  /** What it answers from now on; 200 at first. */
  answer(status: number): void;
  close(): Promise<void>;
}

/** Takes OTLP as JSON over HTTP, as a collector does on port 4318. */
export async function startOtlpReceiver(): Promise<OtlpReceiver> {
  const spans: Decoded<Span>[] = [];
  const lines: Decoded<Line>[] = [];
  const headers: Record<string, unknown>[] = [];
  let status = 200;
  const server = createServer((req, res) => {
    void json(req).then((body) => {
      headers.push(req.headers);
      if (status === 200) {
        const { resourceSpans = [], resourceLogs = [] } = body as Body;
        if (req.url === '/v1/traces') {
          for (const { resource, scopeSpans } of resourceSpans) {
            const found = scopeSpans.flatMap((scope) => scope.spans);
            spans.push(...found.map((span) => decoded(span, resource)));
          }
        } else if (req.url === '/v1/logs') {
          for (const { resource, scopeLogs } of resourceLogs) {
            const found = scopeLogs.flatMap((scope) => scope.logRecords);
            lines.push(...found.map((line) => decoded(line, resource)));
          }
        }
      }
      res.writeHead(status, { 'content-type': 'application/json' }).end('{}');
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    ...{ spans, lines, headers },
    answer: (next) => {
      status = next;
    },
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function decoded<T extends { readonly attributes: readonly Attribute[] }>(
  record: T,
  resource: Resource,
): Decoded<T> {
  return { ...record, attributes: valuesOf(record), resource: valuesOf(resource) };
}

function valuesOf({ attributes }: Resource): Record<string, unknown> {
  return Object.fromEntries(
    attributes.map(({ key, value }) => [key, Object.values(value)[0] as unknown]),
  );
}
