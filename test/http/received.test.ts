import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { closedGate } from '../support/closed-gate.js';
import { startGateway, type TestGateway } from '../support/gateway.js';
import { until } from '../support/until.js';
import {
  cohereChannel,
  rankLikeCohere,
  startUpstream,
  type TestUpstream,
} from '../support/upstream.js';

/** How requests are received that are written in an unusual way, and what of them reaches the upstream. */

const MODEL = 'moon';
const PATIENT_MS = 300_000;

let upstream: TestUpstream;
let gateway: TestGateway;
let key: string;

beforeAll(async () => {
  upstream = await startUpstream();
  gateway = await startGateway({
    channels: [cohereChannel('only', upstream.url, { provider: 'cohere-v1' })],
    gateway: { attempt_timeout_ms: PATIENT_MS, deadline_ms: PATIENT_MS },
  });
  ({ key } = await gateway.createKey());
});
afterAll(async () => {
  await gateway.close();
  await upstream.close();
});

function send(body: string | Buffer, type = 'application/json', path = '/v1/rerank') {
  return fetch(`${gateway.url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': type },
    body: new Uint8Array(Buffer.from(body)),
  });
}

/** What the upstream gets of a request. */
async function reached(
  members: object,
  change: (json: string) => string = (json) => json,
): Promise<{ readonly query?: string; readonly max_chunks_per_doc?: number }> {
  const json = JSON.stringify({ model: MODEL, query: 'q', documents: ['a', 'b'], ...members });
  expect((await send(change(json))).status).toBe(200);
  return JSON.parse(upstream.seen.at(-1)?.body ?? '') as object;
}

it('half of a pair in the query reaches the upstream as a replacement character', async () => {
  const { query } = await reached({ query: 'half ? here' }, (json) => json.replace('?', '\\ud83e'));

  expect(query).toBe('half \ufffd here');
});

it.each([
  [{ max_chunks_per_doc: 3 }, 3],
  [{ max_chunk_per_doc: 4 }, 4],
  [{ max_chunk_per_doc: 4, max_chunks_per_doc: 3 }, 3],
])('of %j the number of chunks is %i: the newer name counts', async (members, chunks) => {
  expect((await reached(members)).max_chunks_per_doc).toBe(chunks);
});

it.each(['/v1/v2/rerank', '//v1/rerank', '/v2//rerank/', '/RERANK'])(
  'the path %s is that of a rerank request',
  async (path) => {
    const body = JSON.stringify({ model: MODEL, query: 'q', documents: ['a'] });

    expect((await send(body, 'application/json', path)).status).toBe(200);
  },
);

it.each([
  'application/json; charset=iso-8859-1',
  'application/json; charset="ISO-8859-1"',
  'Application/JSON ; Charset = Latin1',
])('a body of the type %s is read in its charset', async (type) => {
  const body = Buffer.from(
    JSON.stringify({ model: MODEL, query: 'café', documents: ['a'] }),
    'latin1',
  );

  expect((await send(body, type)).status).toBe(200);
  expect(JSON.parse(upstream.seen.at(-1)?.body ?? '')).toMatchObject({ query: 'café' });
});

it('a request behind another on its connection ends when the caller closes that', async () => {
  const gate = closedGate();
  upstream.answer(gate.answer);
  const before = upstream.seen.length;
  const body = JSON.stringify({ model: MODEL, query: 'q', documents: ['a'] });
  const head = [
    ...['POST /v1/rerank HTTP/1.1', 'host: x', `authorization: Bearer ${key}`],
    ...['content-type: application/json', `content-length: ${body.length}`],
  ].join('\r\n');
  const caller = connect(Number(new URL(gateway.url).port), '127.0.0.1');
  await once(caller, 'connect');
  // Two that differ: identical ones would share a call.
  const other = body.replace('"q"', '"r"');
  caller.write(`${head}\r\n\r\n${body}${head}\r\n\r\n${other}`);
  await upstream.reached(before + 2);
  expect(gate.waiting).toBe(2);

  caller.destroy();

  await until('the upstream is rid of both', () => gate.waiting === 0);
  await until('nothing is in flight', () => gateway.app.inFlight() === 0);
  upstream.answer(rankLikeCohere);
});

it('a request that was refused is not answered once more if the rest of it cannot be read', async () => {
  const caller = connect(Number(new URL(gateway.url).port), '127.0.0.1');
  let text = '';
  caller.on('data', (bytes) => (text += String(bytes))).on('error', () => undefined);
  caller.write('POST /v1/rerank HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n');
  await until('it is refused', () => text.includes('missing_api_key'));

  caller.write('no length of a chunk\r\n');
  await once(caller, 'close');

  expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 401']);
});
