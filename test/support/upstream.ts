import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

/** One request as an upstream saw it. */
export interface SeenRequest {
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

export type Answer = (request: SeenRequest, res: ServerResponse) => void | Promise<void>;

export interface TestUpstream {
  readonly url: string;
  /** What came in, in order; a request counts from its last byte on. */
  readonly seen: SeenRequest[];
  /** How many connections are open. */
  connections(): number;
  /** Replaces the answer for what comes next. */
  answer(next: Answer): void;
  /** Resolves when `count` requests were seen. */
  reached(count: number): Promise<void>;
  close(): Promise<void>;
}

/** A channel of an upstream that answers like Cohere, as configuration files declare it. */
export function cohereChannel(
  name: string,
  url: string,
  more: Readonly<Record<string, unknown>> = {},
): Readonly<Record<string, unknown>> {
  return {
    name,
    provider: 'cohere',
    base_url: url,
    api_key: 'upstream-key',
    models: ['moon'],
    ...more,
  };
}

/** The same for tests that need no more than one. */
export function onlyChannel(
  url: string,
  more: Readonly<Record<string, unknown>> = {},
): Readonly<Record<string, unknown>> {
  return cohereChannel('only', url, { models: ['m'], ...more });
}

/** Scores by words in common: enough to have one right order. */
export function wordOverlap(query: string, text: string): number {
  const words = new Set(query.toLowerCase().match(/\p{L}+/gu) ?? []);
  const own = new Set(text.toLowerCase().match(/\p{L}+/gu) ?? []);
  let common = 0;
  for (const word of words) if (own.has(word)) common += 1;
  return words.size === 0 ? 0 : common / words.size;
}

/** Answers like Cohere's v2 API, rows best first. */
export const rankLikeCohere: Answer = ({ body }, res) => {
  const request = JSON.parse(body) as { query: string; documents: string[]; top_n?: number };
  const results = request.documents
    .map((text, index) => ({ index, relevance_score: wordOverlap(request.query, text) }))
    .sort((a, b) => b.relevance_score - a.relevance_score)
    .slice(0, request.top_n);
  sendJson(res, {
    id: 'up',
    results,
    meta: { api_version: { version: '2' }, billed_units: { search_units: 1 } },
  });
};

export function sendJson(res: ServerResponse, value: unknown, status = 200): void {
  res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
}

/** A real server on a port of the system's choice. */
export async function startUpstream(first: Answer = rankLikeCohere): Promise<TestUpstream> {
  const seen: SeenRequest[] = [];
  const waiting: { count: number; resolve: () => void }[] = [];
  const sockets = new Set<Socket>();
  let answer = first;
  const server = createServer((req, res) => {
    const chunks: Buffer[] = [];
    req.on('data', (chunk: Buffer) => chunks.push(chunk));
    req.on('end', () => {
      const request = {
        path: req.url ?? '',
        headers: req.headers,
        body: Buffer.concat(chunks).toString(),
      };
      seen.push(request);
      for (const waiter of waiting) if (seen.length >= waiter.count) waiter.resolve();
      void answer(request, res);
    });
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    seen,
    connections: () => sockets.size,
    answer(next) {
      answer = next;
    },
    reached: (count) =>
      new Promise((resolve) => {
        if (seen.length >= count) resolve();
        else waiting.push({ count, resolve });
      }),
    close: () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy();
        server.close(() => resolve());
      }),
  };
}
