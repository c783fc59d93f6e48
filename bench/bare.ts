import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Pool } from 'undici';

/** The floor: it buffers a request, forwards it unparsed with undici, and returns the reply unparsed. */
const upstream = new Pool(process.argv[2] ?? '', { connections: null, pipelining: 1 });

const server = createServer((req, res) => {
  const chunks: Buffer[] = [];
  req.on('data', (chunk: Buffer) => chunks.push(chunk));
  req.on('end', () => {
    const answer: Buffer[] = [];
    upstream.dispatch(
      {
        path: req.url ?? '/',
        method: 'POST',
        headers: ['content-type', 'application/json'],
        body: chunks.length === 1 ? (chunks[0] ?? null) : Buffer.concat(chunks),
      },
      {
        onRequestStart() {
          // Nothing to prepare.
        },
        onResponseData(_controller, chunk) {
          answer.push(chunk);
        },
        onResponseEnd() {
          const body = answer.length === 1 ? (answer[0] ?? '') : Buffer.concat(answer);
          res.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length });
          res.end(body);
        },
        onResponseError(_controller, error) {
          res.writeHead(502).end(error.message);
        },
      },
    );
  });
});
// Connections wait for their turn in between.
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => {
  process.send?.({ port: (server.address() as AddressInfo).port });
});
