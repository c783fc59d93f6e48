import { once } from 'node:events';
import { connect as connectHttp2 } from 'node:http2';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { setTimeout as pass } from 'node:timers/promises';
import { types } from 'node:util';
import { describe, expect, it, jest } from '@jest/globals';
import { Http2Response } from '../../src/http/http2.js';
import { startGateway } from '../support/gateway.js';
import { takeUncounted, wipeWhatIsGivenBack } from '../support/memory.js';
import { opened } from '../support/opened.js';
import { until } from '../support/until.js';
import { onlyChannel, sendJson } from '../support/upstream.js';

const open = opened();

/** A way to the gateway on which what it says can be left unread. */
async function link(toPort: number) {
  const ends: Socket[] = [];
  const server = createServer((caller) => {
    const gateway = connect(toPort, '127.0.0.1');
    ends.push(gateway, caller);
    for (const end of [gateway, caller]) end.on('error', () => end.destroy());
    caller.pipe(gateway).pipe(caller);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  open.push({
    close: () =>
      new Promise((resolve) => {
        for (const end of ends) end.destroy();
        server.close(() => resolve());
      }),
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stopReading: () => ends[0]?.unpipe().pause(),
    readOn: () => ends[1] && ends[0]?.pipe(ends[1]),
  };
}

/** More than the system takes for a connection that nobody reads. */
const BYTES = 24_000_000;
const DOCUMENT = { text: 'a'.repeat(BYTES), at: 1 };
const WINDOW = 2 ** 31 - 1;

const end = Object.getOwnPropertyDescriptor(Http2Response.prototype, 'end')
  ?.value as Http2Response['end'];

/** The replies that are written from now on. */
function written() {
  const replies: Buffer[] = [];
  jest.spyOn(Http2Response.prototype, 'end').mockImplementation(function (
    this: Http2Response,
    ...args: unknown[]
  ) {
    replies.push(args[0] as Buffer);
    return end.apply(this, args);
  });
  return replies;
}

describe('the memory of a reply over HTTP/2', () => {
  takeUncounted();
  wipeWhatIsGivenBack();

  it('is given back when the system has all of it, and not before', async () => {
    const upstream = await open.upstream();
    const gateway = await startGateway({
      channels: [onlyChannel(upstream.url)],
      gateway: { attempt_timeout_ms: 100_000, deadline_ms: 100_000 },
    });
    open.push({ close: () => gateway.close() });
    const { key } = await gateway.createKey();
    const way = await link((gateway.app.server.address() as AddressInfo).port);
    upstream.answer((_request, res) => {
      way.stopReading();
      sendJson(res, { results: [{ index: 0, relevance_score: 1 }] });
    });
    const replies = written();
    const session = connectHttp2(way.url, { settings: { initialWindowSize: WINDOW } });
    open.push({
      close: async () => {
        session.destroy();
        await once(session, 'close');
      },
    });
    await once(session, 'connect');
    session.setLocalWindowSize(WINDOW);
    const stream = session.request({
      ':method': 'POST',
      ':path': '/v1/rerank',
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
    });
    const request = { model: 'm', query: 'q', documents: [DOCUMENT], return_documents: true };
    stream.on('error', () => undefined).end(JSON.stringify(request));
    await until('the reply is written', () => replies.length === 1);
    expect(types.isSharedArrayBuffer(replies[0]?.buffer)).toBe(true);
    // What is given back is overwritten on the spot.
    const isLeft = (): boolean => replies[0]?.[0] !== '{'.charCodeAt(0);
    await pass(100);
    expect(isLeft()).toBe(false);
    way.readOn();

    const text = (await buffer(stream)).toString();
    expect(JSON.parse(text)).toMatchObject({ results: [{ document: DOCUMENT }] });
    await until('its memory is given back', isLeft);
  }, 60_000);
});
