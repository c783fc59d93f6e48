import { describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { createServer, IncomingMessage } from 'node:http';
import { connect, Socket, type AddressInfo } from 'node:net';
import { TextDecoder } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { gzipSync } from 'node:zlib';
import { readFormBody, readJsonBody, withJsonBody } from '../../src/http/body.js';
import { Load } from '../../src/http/load.js';

const LIMIT = 100_000;

/** Reads a body in a charset. */
function received(charset: string, encoded: Buffer): Promise<Buffer> {
  const req = new IncomingMessage(new Socket());
  req.headers = { 'content-type': `application/json; charset=${charset}` };
  req.push(Buffer.from(encoded));
  req.push(null);
  const limit = 2 * encoded.length;
  const load = new Load(1, limit);
  return readJsonBody(req, limit, load, load.enter(0, limit));
}

it.each([
  ['application/x-www-form-urlencoded', 'a=1'],
  ['Application/X-WWW-Form-Urlencoded ; charset=utf-8', 'a=1'],
  ['multipart/form-data', 'unsupported_media_type'],
  [undefined, 'unsupported_media_type'],
])('a form of the type %j is read, or refused: %s', async (type, expected) => {
  const req = new IncomingMessage(new Socket());
  if (type !== undefined) req.headers = { 'content-type': type };
  req.push('a=1');
  req.push(null);
  const load = new Load(1, LIMIT);
  const read = async () => readFormBody(req, LIMIT, load, load.enter(0, LIMIT));

  const told = await read().catch((error: unknown) => (error as { code: string }).code);
  expect(String(told)).toBe(expected);
});

describe('reading a body', () => {
  it('ends if the caller has left before it began', async () => {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const caller = connect(port, '127.0.0.1');
    caller.write('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n{');
    const [req] = (await once(server, 'request')) as [IncomingMessage];
    const closed = new Promise((resolve) => req.on('close', resolve));
    caller.destroy();
    await closed;

    const load = new Load(1, LIMIT);
    const reading = readJsonBody(req, LIMIT, load, load.enter(0, LIMIT));

    await expect(reading).rejects.toMatchObject({ code: 'client_closed_request' });
    server.close();
  });

  it.each([100_000, 1_000_000])(
    'refers to a body of %i bytes no more once it is used',
    async (size) => {
      setFlagsFromString('--expose-gc');
      const collectGarbage = runInNewContext('gc') as () => void;
      const req = new IncomingMessage(new Socket());
      req.headers = { 'content-length': String(size) };
      const load = new Load(1, size);
      const bounds = { limitBytes: size, load, place: load.enter(size, size), withinMs: undefined };
      const using = withJsonBody(req, bounds, (body) => new WeakRef(body.buffer));
      req.push(Buffer.alloc(size - 10, ' '));
      req.push(Buffer.alloc(10, ' '));
      req.push(null);
      const memory = await using;
      await new Promise((resolve) => setImmediate(resolve));

      collectGarbage();

      expect(memory.deref()).toBeUndefined();
      expect([req.complete, await using]).toEqual([false, memory]);
    },
  );

  it('keeps a body in pieces of a byte in little more than its bytes', async () => {
    setFlagsFromString('--expose-gc');
    const collectGarbage = runInNewContext('gc') as () => void;
    const count = 200_000;
    const req = new IncomingMessage(new Socket());
    const load = new Load(1, count);
    const reading = readJsonBody(req, count, load, load.enter(0, count));
    collectGarbage();
    const { heapUsed, external } = process.memoryUsage();
    for (let sent = 0; sent < count; sent += 1) {
      req.push(Buffer.from('{ }'[sent % 3] ?? ''));
      // What waits in the stream is not what is kept.
      if (sent % 1_000 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    await new Promise((resolve) => setImmediate(resolve));

    collectGarbage();
    const after = process.memoryUsage();

    expect(after.heapUsed - heapUsed + after.external - external).toBeLessThan(20 * count);
    req.push(null);
    expect(String(await reading)).toBe('{ }'.repeat(count / 3 + 1).slice(0, count));
  });

  it('takes what comes with the head without stopping the connection', async () => {
    const size = 50_000;
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const caller = connect((server.address() as AddressInfo).port, '127.0.0.1');
    const head = `POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${size}\r\n\r\n`;
    let stops = 0;
    const read = new Promise<Buffer>((resolve, reject) => {
      server.on('request', (req) => {
        req.socket.on('pause', () => (stops += 1));
        const load = new Load(1, LIMIT);
        readJsonBody(req, LIMIT, load, load.enter(size, LIMIT)).then(resolve, reject);
      });
    });
    caller.write(head + ' '.repeat(size));

    expect(await read).toEqual(Buffer.alloc(size, ' '));
    expect(stops).toBe(0);
    caller.destroy();
    server.close();
  });

  it.each([
    ['utf-16le', (text: string) => Buffer.from(text, 'utf16le')],
    ['utf-16be', (text: string) => Buffer.from(text, 'utf16le').swap16()],
    ['iso-8859-1', (text: string) => Buffer.from(text.replace(/\P{ASCII}/gu, 'ü'), 'latin1')],
  ])('decodes a large body in %s', async (charset, encode) => {
    // Of odd length, so that characters are cut.
    const text = JSON.stringify(`x${'𝄞 ü 汉'.repeat(200_000)}`);
    const encoded = encode(text);
    const bytes = await received(charset, encoded);

    expect(bytes.toString()).toBe(new TextDecoder(charset).decode(encoded));
  });

  it.each(['utf8', 'UTF-8', 'us-ascii', 'ascii'])('takes UTF-8 in %s as it is', async (charset) => {
    const encoded = Buffer.from('"ü 汉"');

    expect(await received(charset, encoded)).toEqual(encoded);
  });

  it('takes the names of a type and a charset in any case, and in quotes', async () => {
    const req = new IncomingMessage(new Socket());
    req.headers = { 'content-type': 'Application/JSON; Charset="ISO-8859-1"' };
    req.push(Buffer.from('"caf\xe9"', 'latin1'));
    req.push(null);
    const load = new Load(1, LIMIT);

    const body = await readJsonBody(req, LIMIT, load, load.enter(0, LIMIT));

    expect(body.toString()).toBe('"café"');
  });

  it('refuses a large body that ends within a character of its charset', async () => {
    const encoded = Buffer.from(JSON.stringify('x'.repeat(400_000)), 'utf16le').subarray(0, -1);

    await expect(received('utf-16le', encoded)).rejects.toMatchObject({ code: 'invalid_json' });
  });

  it('refuses one in another charset that is larger than it may be decoded', async () => {
    const encoded = Buffer.alloc(4_194_306, 'a\0');

    await expect(received('utf-16le', encoded)).rejects.toMatchObject({
      code: 'payload_too_large',
    });
  });

  it.each([
    ['client_closed_request', 'broke', (socket: Socket) => socket.destroy()],
    ['request_timeout', 'has had its last answer', (socket: Socket) => socket.end()],
  ])('ends with %s if its connection %s before its last byte is read', async (code, _what, end) => {
    const socket = new Socket();
    const req = new IncomingMessage(socket);
    req.push('{}');
    req.push(null);
    const load = new Load(1, LIMIT);
    const reading = readJsonBody(req, LIMIT, load, load.enter(2, LIMIT));

    end(socket);

    await expect(reading).rejects.toMatchObject({ code });
  });

  it('joins what comes in very many pieces', async () => {
    const req = new IncomingMessage(new Socket());
    const sent = Array.from({ length: 700 }, (_, at) =>
      Buffer.alloc(at % 50 === 0 ? 20_000 : 2_000, String(at)),
    );
    for (const piece of sent) req.push(Buffer.from(piece));
    req.push(null);
    const size = 3_000_000;
    const load = new Load(1, size);

    const bytes = await readJsonBody(req, size, load, load.enter(0, size));

    expect(bytes.equals(Buffer.concat(sent))).toBe(true);
  });

  it('is in one piece where its length was announced', async () => {
    const size = 5_000_000;
    const req = new IncomingMessage(new Socket());
    req.headers = { 'content-length': String(size) };
    for (let at = 0; at < size; at += 50_000) req.push(Buffer.alloc(50_000, String(at / 50_000)));
    req.push(null);
    const load = new Load(1, size);

    const bytes = await readJsonBody(req, size, load, load.enter(size, size));

    expect(bytes).toHaveLength(size);
    expect(bytes.toString('latin1', 99 * 50_000, 99 * 50_000 + 4)).toBe('9999');
  });

  it('takes memory for what has come, not for what is announced, and is charged for it', async () => {
    const size = 4_000_000;
    const charged: number[] = [];
    const load = new Load(1, 2 * size);
    const charge = load.charge.bind(load);
    load.charge = (place, bytes) => {
      charged.push(bytes);
      return charge(place, bytes);
    };
    const req = new IncomingMessage(new Socket());
    req.headers = { 'content-length': String(size) };
    const place = load.enter(size, size);
    const reading = readJsonBody(req, size, load, place);
    const next = () => new Promise((resolve) => setImmediate(resolve));

    req.push(Buffer.alloc(1, '['));
    await next();
    expect(place.bytes).toBe(1);
    req.push(Buffer.alloc(size / 2 - 2, ' '));
    await next();
    expect(place.bytes).toBe(size / 2 - 1);
    // From half of it on, there is room for all.
    req.push(Buffer.alloc(1, ' '));
    await next();
    expect(place.bytes).toBe(size);
    req.push(Buffer.alloc(size / 2, ']'));
    req.push(null);

    expect((await reading).length).toBe(size);
    expect(charged.reduce((sum, bytes) => sum + bytes, 0)).toBe(size);
  });

  it.each([
    ['in one go', 100, 20_000],
    ['in pieces', 1, 400_000],
  ])('counts what it becomes when it is decompressed %s', async (_how, share, size) => {
    const text = Buffer.alloc(size, 'a');
    const zipped = gzipSync(text);
    const reading = (limit: number, room: number) => {
      const req = new IncomingMessage(new Socket());
      req.headers = { 'content-encoding': 'gzip' };
      req.complete = true;
      req.push(zipped);
      req.push(null);
      const load = new Load(1, room);
      return readJsonBody(req, limit, load, load.enter(zipped.length, room));
    };

    expect((await reading(size, size)).equals(text)).toBe(true);
    await expect(reading(size - 1, size)).rejects.toMatchObject({ code: 'payload_too_large' });
    // No later try would fare better, room or not.
    await expect(reading(size - 1, size - 1)).rejects.toMatchObject({ code: 'payload_too_large' });
    await expect(reading(size, size - share)).rejects.toMatchObject({ code: 'overloaded' });
  });

  it.each([
    ['read', 0, 1.5],
    ['too large', 1, 0.5],
  ])(
    'frees at once what a decompressed body came in: one that is %s',
    async (_what, less, most) => {
      setFlagsFromString('--expose-gc');
      const collectGarbage = runInNewContext('gc') as () => void;
      const size = 16_000_000;
      const zipped = gzipSync(Buffer.alloc(size, 'a'));
      const req = new IncomingMessage(new Socket());
      req.headers = { 'content-encoding': 'gzip' };
      req.complete = true;
      req.push(zipped);
      req.push(null);
      const load = new Load(1, size);
      collectGarbage();
      const before = process.memoryUsage().arrayBuffers;

      const body = await readJsonBody(
        req,
        size - less,
        load,
        load.enter(zipped.length, size),
      ).catch(() => undefined);

      expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(most * size);
      expect(body?.length).toBe(less === 0 ? size : undefined);
    },
  );

  it.each([
    ['is read', 0],
    ['is too large', 1],
  ])('listens to its connection no longer than it takes: one that %s', async (_what, less) => {
    const size = 400_000;
    const socket = new Socket();
    const listening = socket.listenerCount('close');
    const req = new IncomingMessage(socket);
    req.headers = { 'content-encoding': 'gzip' };
    req.complete = true;
    req.push(gzipSync(Buffer.alloc(size, 'a')));
    req.push(null);
    const load = new Load(1, size);

    const reading = readJsonBody(req, size - less, load, load.enter(0, size));
    const body = await reading.catch(() => undefined);

    expect([body?.length, socket.listenerCount('close')]).toEqual([
      less === 0 ? size : undefined,
      listening,
    ]);
  });

  it.each([
    [262_144, 1],
    [262_145, 0],
  ])('of %i bytes begins beside eight large ones: %i', async (size, begun) => {
    const load = new Load(1, size);
    const ends = Array.from({ length: 8 }, () =>
      load.reading.take(
        () => undefined,
        () => size,
      ),
    );
    const req = new IncomingMessage(new Socket());
    req.headers = { 'content-length': String(size) };
    const reading = readJsonBody(req, size, load, load.enter(size, size));

    expect(req.listenerCount('data')).toBe(begun);
    for (const end of ends) end();
    expect(req.listenerCount('data')).toBe(1);
    req.push(Buffer.alloc(size, ' '));
    req.push(null);
    expect(await reading).toHaveLength(size);
  });

  it('does not hold more than there is room for once decompressed', async () => {
    const zipped = gzipSync(JSON.stringify('a'.repeat(LIMIT / 2)));
    const req = new IncomingMessage(new Socket());
    req.headers = { 'content-encoding': 'gzip' };
    req.push(zipped);
    req.push(null);

    const load = new Load(1, LIMIT / 4);
    const reading = readJsonBody(req, LIMIT, load, load.enter(zipped.length, LIMIT));

    await expect(reading).rejects.toMatchObject({ code: 'overloaded' });
  });
});
