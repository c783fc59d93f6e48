import { createHash, randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Pool } from 'undici';
import { openAdmission } from '../src/store/redis/admission.js';
import { connectRedis } from '../src/store/redis/connection.js';
import { createKeys } from '../src/store/redis/keys.js';

/**
 * The pass-through (`bare.ts`) with the gateway's own commands to Redis: each request is admitted before it is forwarded, and
 * settled after its reply. It neither reads nor checks anything, keeps no log and counts nothing: what a gateway with quota
 * costs at least, with Node's server, undici and ioredis.
 */
const [origin = '', redisUrl = '', key = ''] = process.argv.slice(2);
const upstream = new Pool(origin, { connections: null, pipelining: 1 });
const connection = await connectRedis(redisUrl, {
  commandTimeoutMs: 1_000,
  connectTimeoutMs: 10_000,
});
const store = openAdmission(connection, createKeys('rg:'));
const credential = await store.findToken(createHash('sha256').update(key).digest('hex'));
if (credential === undefined) throw new Error('the store does not know the key');
const { token, version, keyHash } = credential;
const DEADLINE_MS = 60_000;

const server = createServer((req, res) => {
  const chunks: Buffer[] = [];
  const fail = (error: unknown): void => {
    res.writeHead(502).end(String(error));
  };
  const forward = (reservationId: string): void => {
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
          const { id: tokenId, userId } = token;
          const spent = { amount: 1, cost: 1, served: true, nowMs: Date.now() };
          store.settle({ tokenId, userId, reservationId, ...spent }).catch(fail);
        },
        onResponseError(_controller, error) {
          fail(error);
        },
      },
    );
  };
  req.on('data', (chunk: Buffer) => chunks.push(chunk));
  req.on('end', () => {
    const reservationId = randomUUID();
    const nowMs = Date.now();
    const { id: tokenId, userId } = token;
    const asked = { tokenId, userId, version, keyHash, reservationId, amount: 1, nowMs };
    store.admit({ ...asked, expiresAtMs: nowMs + DEADLINE_MS }).then((admission) => {
      if (admission.kind === 'admitted') forward(reservationId);
      else fail(admission.kind);
    }, fail);
  });
});
// Connections wait for their turn in between.
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => {
  process.send?.({ port: (server.address() as AddressInfo).port });
});
