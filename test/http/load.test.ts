import { once } from 'node:events';
import { IncomingMessage, ServerResponse } from 'node:http';
import { connect, Socket } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Load } from '../../src/http/load.js';
import { ReplyBatches } from '../../src/http/reply-batches.js';
import { startGateway, type TestGateway } from '../support/gateway.js';

const MIB = 1024 * 1024;

describe('the load', () => {
  it('has room for as much as the bodies that are taken', () => {
    const load = new Load(2, 100);
    load.charge(load.enter(60, 80), 60);

    expect(() => load.enter(41, 80)).toThrow(expect.objectContaining({ code: 'overloaded' }));
    expect(load.enter(40, 80)).toMatchObject({ bytes: 0 });
  });

  it('has no more than its share for one caller, and the largest body always', () => {
    const load = new Load(4, 100, 0.5, 60);
    const overloaded = expect.objectContaining({ code: 'overloaded' });
    const first = load.enter(0, 60);

    expect(load.own(first, 'one', 60, 60)).toBe(1);
    expect(load.charge(first, 60)).toBe(true);
    expect(load.refusalOf(first).message).toMatch(/^The gateway/);
    expect(load.charge(first, 1)).toBe(false);
    expect(load.refusalOf(first).message).toMatch(/^This caller/);
    const second = load.enter(0, 60);
    expect(() => load.own(second, 'one', 1, 60)).toThrow(overloaded);
    const third = load.enter(0, 60);
    expect(() => load.own(third, 'one', 0, 60)).toThrow(overloaded);
    load.leave(third);
    expect(load.own(load.enter(0, 60), 'two', 30, 60)).toBe(1);
    load.leave(first);
    load.leave(second);
    expect(load.own(load.enter(0, 60), 'one', 60, 60)).toBe(1);
  });

  it('has no more than its share of the places for one caller, also once it is resized', () => {
    const load = new Load(4, 100, 0.5);
    const own = (name: string) => load.own(load.enter(0, 60), name, 0, 60);

    expect([own('one'), own('one'), own('two')]).toEqual([1, 2, 1]);
    expect(() => own('one')).toThrow(expect.objectContaining({ code: 'overloaded' }));
    load.resize(8, 100, 0.25);
    expect(own('two')).toBe(2);
    expect(() => own('two')).toThrow(expect.objectContaining({ code: 'overloaded' }));
  });

  it('is idle once the last place is left', async () => {
    const load = new Load(4, 100);
    const [first, second] = [load.enter(0, 60), load.enter(0, 60)];
    let isIdle = false;
    const idle = load.idle().then(() => (isIdle = true));

    load.leave(first);
    await Promise.resolve();
    expect(isIdle).toBe(false);
    load.leave(second);
    expect(await idle).toBe(true);
    await load.idle();
  });

  it('has no room for a place as long as one of its owners has none', () => {
    const load = new Load(4, 100, 0.5);
    const [first, second] = [load.enter(0, 60), load.enter(0, 60)];
    for (const [place, address] of [
      [first, 'address 1'],
      [second, 'address 2'],
    ] as const) {
      load.own(place, 'key', 0, 60);
      load.own(place, address, 0, 60);
    }

    expect(load.charge(first, 40)).toBe(true);
    expect(load.charge(second, 20)).toBe(false);
  });

  it('lets the next large body be read once a place is left', () => {
    const load = new Load(4, 100);
    const place = load.enter(0, 60);
    const take = (begin: () => void): (() => void) => load.reading.take(begin, () => 0);
    place.endTurn = take(() => undefined);
    const others: (() => void)[] = [];
    let begun = true;
    while (begun) {
      begun = false;
      others.push(take(() => (begun = true)));
    }

    load.leave(place);

    expect(begun).toBe(true);
    for (const end of others) end();
  });

  it('counts a reply that is not taken as its caller, until it is', () => {
    const load = new Load(4, 100, 0.5);
    const place = load.enter(0, 60);
    load.own(place, 'one', 0, 60);
    load.leave(place);

    const release = load.keep(place, 40);
    for (let tries = 0; tries < 2; tries += 1) {
      const next = load.enter(0, 60);
      expect(() => load.own(next, 'one', 11, 60)).toThrow(/^This caller/);
      load.leave(next);
    }
    expect(load.own(load.enter(0, 60), 'two', 11, 60)).toBe(1);
    release();
    release();

    expect(load.own(load.enter(0, 60), 'one', 50, 60)).toBe(1);
    const last = load.enter(0, 60);
    expect([load.charge(last, 100), load.charge(last, 1)]).toEqual([true, false]);
  });

  it.each([
    ['it has been taken', (res: ServerResponse) => res.emit('close')],
    ['its connection closes', (_res: ServerResponse, socket: Socket) => socket.emit('close')],
  ])('counts a reply behind others of its connection until %s', async (_when, close) => {
    const load = new Load(4, 100);
    const socket = new Socket();
    const listening = socket.listenerCount('close');
    const res = new ServerResponse(new IncomingMessage(socket));
    res.writeHead(200);
    new ReplyBatches(load).end(res, undefined, 'four', 'latin1');
    await new Promise((resolve) => setImmediate(resolve));
    const { bytes } = load;

    close(res, socket);

    expect([bytes, load.bytes]).toEqual([4, 0]);
    expect(socket.listenerCount('close')).toBe(listening);
  });

  it('counts what a place has already as the bytes of each further owner', () => {
    const load = new Load(4, 100, 0.5, 60);
    const place = load.enter(0, 60);
    load.charge(place, 60);

    load.own(place, 'one', 0, 60);

    const next = load.enter(0, 60);
    expect(() => load.own(next, 'one', 1, 60)).toThrow(/^This caller/);
    load.leave(place);
    load.leave(next);
    expect(load.own(load.enter(0, 60), 'one', 60, 60)).toBe(1);
  });

  it('remembers nothing of callers that have left', () => {
    setFlagsFromString('--expose-gc');
    const collectGarbage = runInNewContext('gc') as () => void;
    const load = new Load(1, 100);
    const count = 50_000;
    collectGarbage();
    const { heapUsed } = process.memoryUsage();

    for (let caller = 0; caller < count; caller += 1) {
      const place = load.enter(0, 60);
      load.own(place, `2001:db8:${caller}::/64`, 0, 60);
      load.leave(place);
    }

    collectGarbage();
    expect(process.memoryUsage().heapUsed - heapUsed).toBeLessThan(50 * count);
    expect(load.requests).toBe(0);
  });

  it('tells nobody to come back with a body that is never accepted', () => {
    const load = new Load(1, 100);
    const tooLarge = expect.objectContaining({ code: 'payload_too_large' });

    const place = load.enter(101, 80);
    expect(() => load.enter(81, 80)).toThrow(tooLarge);
    load.leave(place);
    load.keep(undefined, 101);
    expect(() => load.enter(81, 80)).toThrow(tooLarge);
  });
});

describe('a declared length', () => {
  let gateway: TestGateway;
  let key = '';
  beforeAll(async () => {
    gateway = await startGateway({});
    ({ key } = await gateway.createKey());
  });
  afterAll(() => gateway.close());

  /** What is answered to the head of a request alone: as much of its body as anybody waits for. */
  async function answerTo(line: string, ...headers: readonly string[]): Promise<string> {
    const socket = connect(Number(new URL(gateway.url).port), '127.0.0.1');
    socket.write([`${line} HTTP/1.1`, 'Host: a', ...headers, '', ''].join('\r\n'));
    const answer = String((await once(socket, 'data'))[0]);
    socket.destroy();
    return answer;
  }

  it.each([
    ['more than a body may have', 33 * MIB],
    ['more than there is room for', 257 * MIB],
    ['absurd', 1_000_000_000_000],
  ])('that is %s is 413 for a key and 401 without one', async (_what, bytes) => {
    const length = `Content-Length: ${bytes}`;
    const authorization = `Authorization: Bearer ${key}`;

    for (const extra of [[], ['Content-Encoding: gzip']]) {
      const refused = await answerTo('POST /v1/rerank', length, authorization, ...extra);
      const unknown = await answerTo('POST /v1/rerank', length, ...extra);

      expect(refused).toMatch(/^HTTP\/1.1 413 /);
      expect(refused).toContain('"code":"payload_too_large"');
      expect(refused).not.toMatch(/^retry-after/im);
      expect(unknown).toMatch(/^HTTP\/1.1 401 /);
    }
  });

  it('is 413 on the management side too, and nothing if no body is read', async () => {
    const length = 'Content-Length: 1000000000000';
    const json = 'Content-Type: application/json';

    expect(await answerTo('POST /api/user/login', length, json)).toMatch(/^HTTP\/1.1 413 /);
    expect(await answerTo('GET /api/channel', length)).toMatch(/^HTTP\/1.1 401 /);
  });
});
