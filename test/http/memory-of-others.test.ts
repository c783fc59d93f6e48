import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { createServer, request as httpRequest, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { setTimeout as pass } from 'node:timers/promises';
import { startGateway, type TestGateway } from '../support/gateway.js';
import { cohereChannel, sendJson } from '../support/upstream.js';

const MEGABYTE = 1_048_576;
const ROUNDS = 2;
/** So long a body lies where it was written, while others are. */
const READ_AFTER_MS = 200;

interface SeenBody {
  readonly query: string;
  readonly documents: readonly string[];
}

interface Sent {
  readonly documents: readonly { readonly id: string; readonly text: string }[];
  readonly leavesEarly: boolean;
}

/** Of each of two texts: what is written in steps, and what is written at once. */
const TEXT_BYTES = [2 * MEGABYTE, 0.7 * MEGABYTE, 0.4 * MEGABYTE];

/** Every piece of its text names the request: nothing of it may turn up in another. */
function sentBy(round: number, lane: number): Sent {
  const id = `${round}.${lane}`;
  const bytes = TEXT_BYTES[lane % TEXT_BYTES.length] ?? MEGABYTE;
  const text = `~${id}`.repeat(Math.ceil(bytes / (id.length + 1)));
  return { documents: [0, 1].map((at) => ({ id: `${id}/${at}`, text })), leavesEarly: lane === 5 };
}

/** Large bodies and replies use memory again that others have had. */
describe('large requests at once', () => {
  let upstream: Server;
  let gateway: TestGateway;
  let key: string;
  const strange: string[] = [];
  const sent = new Map<string, Sent>();

  beforeAll(async () => {
    upstream = createServer((req, res) => {
      void pass(READ_AFTER_MS)
        .then(() => buffer(req))
        .then((body) => {
          const { query, documents } = JSON.parse(body.toString()) as SeenBody;
          const texts = sent.get(query)?.documents.map(({ text }) => text);
          if (JSON.stringify(documents) !== JSON.stringify(texts)) strange.push(`sent of ${query}`);
          // A reply with documents is copied without them, and its memory is used again, too.
          const results = documents.map((text, index) => ({
            ...{ index, relevance_score: 1 - index / 10 },
            document: { text },
          }));
          sendJson(res, { results });
        })
        .catch((error: unknown) => strange.push(String(error)));
    });
    upstream.listen(0, '127.0.0.1');
    await once(upstream, 'listening');
    const url = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`;
    gateway = await startGateway({
      channels: [cohereChannel('a', url)],
      // However long this machine takes: nothing is asked twice.
      gateway: { attempt_timeout_ms: 100_000, deadline_ms: 100_000 },
    });
    ({ key } = await gateway.createKey());
  });
  afterAll(async () => {
    await gateway.close();
    upstream.closeAllConnections();
    upstream.close();
  });

  it('send and get nothing but their own', async () => {
    let answered = 0;
    for (let round = 0; round < ROUNDS; round += 1) {
      await Promise.all(
        Array.from({ length: 9 }, async (_, lane) => {
          const query = `${round}.${lane}`;
          const of = sentBy(round, lane);
          sent.set(query, of);
          const reply = await rank(query, of);
          if (reply === undefined) return;
          answered += 1;
          const got = reply.map(({ document }) => document);
          if (JSON.stringify(got) !== JSON.stringify(of.documents)) strange.push(`got of ${query}`);
        }),
      );
    }

    expect(strange).toEqual([]);
    expect(answered).toBe(ROUNDS * 8);
  }, 60_000);

  interface Row {
    readonly document: unknown;
  }

  /** The rows of the reply; `undefined` if the caller left, or there was none. */
  function rank(query: string, { documents, leavesEarly }: Sent): Promise<Row[] | undefined> {
    const asked = { model: 'moon', query, documents, return_documents: true };
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    return new Promise((resolve) => {
      const req = httpRequest(`${gateway.url}/v1/rerank`, { method: 'POST', headers }, (res) => {
        const pieces: Buffer[] = [];
        res.on('data', (piece: Buffer) => {
          pieces.push(piece);
          if (leavesEarly) req.destroy();
        });
        res.on('end', () => {
          const body = JSON.parse(Buffer.concat(pieces).toString()) as { results?: Row[] };
          resolve(body.results);
        });
        res.on('error', () => {
          resolve(undefined);
        });
      });
      req.on('error', () => {
        resolve(undefined);
      });
      req.end(JSON.stringify(asked));
    });
  }
});
