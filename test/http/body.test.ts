import { isUtf8 } from 'node:buffer';
import { describe, expect, it, jest } from '@jest/globals';
import { once } from 'node:events';
import { createServer, IncomingMessage } from 'node:http';
import { connect, Socket, type AddressInfo } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { TextDecoder, types } from 'node:util';
import { runInNewContext } from 'node:vm';
import { gzipSync } from 'node:zlib';
import { atOnce } from '../../src/bytes/steps.js';
import { largeWork } from '../../src/bytes/turns.js';
import { NO_BYTES, type Owned } from '../../src/bytes/memory.js';
import { readJsonBody } from '../../src/http/body.js';
import { Load } from '../../src/http/load.js';
import { takeUncounted, timesLeft } from '../support/memory.js';
import { fc } from '../support/property.js';
import { judgingUtf8 } from '../../src/http/utf8.js';
import { until } from '../support/until.js';

const LIMIT = 100_000;

takeUncounted();

/** Gives a body back, and returns what tells whether they are still somewhere. */
async function givenBack(reading: Promise<Owned>): Promise<WeakRef<ArrayBufferLike>> {
  const received = await reading;
  const { buffer } = received.bytes;
  received.giveBack();
  return new WeakRef(buffer);
}

/** Reads a body in a charset, and counts the turns that it takes once it is there. */
async function received(charset: string, encoded: Buffer) {
  const req = new IncomingMessage(new Socket());
  req.headers = { 'content-type': `application/json; charset=${charset}` };
  req.push(encoded);
  req.push(null);
  let turns = 0;
  let next = setImmediate(function count() {
    turns += 1;
    next = setImmediate(count);
  });
  // As if each step took all of the time for one turn.
  const spent = jest.spyOn(largeWork, 'isSpent').mockReturnValue(true);
  let ended = 0;
  const limit = 2 * encoded.length;
  const load = new Load(1, limit);
  const reading = readJsonBody(req, limit, load, load.enter(0, limit));
  req.on('end', () => (ended = turns));
  try {
    return { bytes: (await reading).bytes, turns: turns - ended };
  } finally {
    clearImmediate(next);
    spent.mockRestore();
  }
}

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

  it('takes what comes with the head without stopping the connection', async () => {
    const size = 50_000;
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const caller = connect((server.address() as AddressInfo).port, '127.0.0.1');
    const head = `POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${size}\r\n\r\n`;
    let stops = 0;
    const read = new Promise<Owned>((resolve, reject) => {
      server.on('request', (req) => {
        req.socket.on('pause', () => (stops += 1));
        const load = new Load(1, LIMIT);
        readJsonBody(req, LIMIT, load, load.enter(size, LIMIT)).then(resolve, reject);
      });
    });
    caller.write(head + ' '.repeat(size));

    expect((await read).bytes).toEqual(Buffer.alloc(size, ' '));
    expect(stops).toBe(0);
    caller.destroy();
    server.close();
  });

  it('joins a large body of unknown length in steps', async () => {
    const spent = jest.spyOn(largeWork, 'isSpent').mockReturnValue(true);
    const size = 4_000_000;
    const req = new IncomingMessage(new Socket());
    for (let at = 0; at < 80; at += 1) req.push(Buffer.alloc(50_000, String(at).padStart(2, '0')));
    req.push(null);
    let turns = 0;
    let next = setImmediate(function count() {
      turns += 1;
      next = setImmediate(count);
    });
    let ended = 0;
    const load = new Load(1, size);
    const reading = readJsonBody(req, size, load, load.enter(0, size));
    req.on('end', () => (ended = turns));

    const { bytes } = await reading;
    clearImmediate(next);
    spent.mockRestore();

    expect(turns - ended).toBeGreaterThanOrEqual(4);
    expect(bytes).toHaveLength(size);
    expect(bytes.toString('latin1', 49_998, 50_002)).toBe('0001');
  });

  it.each([
    ['utf-16le', (text: string) => Buffer.from(text, 'utf16le')],
    ['utf-16be', (text: string) => Buffer.from(text, 'utf16le').swap16()],
    ['iso-8859-1', (text: string) => Buffer.from(text.replace(/\P{ASCII}/gu, 'ü'), 'latin1')],
  ])('decodes a large body in %s in steps', async (charset, encode) => {
    // Of odd length, so that characters are cut.
    const text = JSON.stringify(`x${'𝄞 ü 汉'.repeat(200_000)}`);
    const encoded = encode(text);
    const { turns, bytes } = await received(charset, encoded);

    expect(bytes.toString()).toBe(new TextDecoder(charset).decode(encoded));
    expect(turns).toBeGreaterThanOrEqual(4);
  });

  it('refuses a large body that ends within a character of its charset', async () => {
    const encoded = Buffer.from(JSON.stringify('x'.repeat(400_000)), 'utf16le').subarray(0, -1);

    await expect(received('utf-16le', encoded)).rejects.toMatchObject({ code: 'invalid_json' });
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

  it('reads a large body on in a later turn where enough has been done in this one', async () => {
    const spent = jest.spyOn(largeWork, 'isSpent').mockReturnValue(true);
    const size = 2_000_000;
    const req = new IncomingMessage(new Socket());
    req.headers = { 'content-length': String(size) };
    for (let at = 0; at < 40; at += 1) req.push(Buffer.alloc(50_000, String(at).padStart(2, '0')));
    req.push(null);
    let turns = 0;
    let next = setImmediate(function count() {
      turns += 1;
      next = setImmediate(count);
    });
    const load = new Load(1, size);

    const { bytes } = await readJsonBody(req, size, load, load.enter(size, size));
    clearImmediate(next);
    spent.mockRestore();

    expect(turns).toBeGreaterThan(25);
    expect(bytes).toHaveLength(size);
    expect(bytes.toString('latin1', 39 * 50_000 - 2, 39 * 50_000 + 2)).toBe('3839');
  });

  it('joins what comes in very many pieces', async () => {
    const req = new IncomingMessage(new Socket());
    const sent = Array.from({ length: 700 }, (_, at) =>
      Buffer.alloc(at % 50 === 0 ? 20_000 : 2_000, String(at)),
    );
    for (const piece of sent) req.push(piece);
    req.push(null);
    const size = 3_000_000;
    const load = new Load(1, size);

    const { bytes } = await readJsonBody(req, size, load, load.enter(0, size));

    expect(bytes.equals(Buffer.concat(sent))).toBe(true);
  });

  it('judges what is large in steps as it judges it whole', () => {
    const step = 262_144;
    const characters = fc.constantFrom('a', 'é', '汉', '🪐').map((text) => Buffer.from(text));
    const wrong = fc.constantFrom('80', 'c3', 'e6b1', 'f09faa', 'ff', 'c080', 'eda080');
    const bytes = fc.oneof(
      { weight: 9, arbitrary: characters },
      { weight: 1, arbitrary: wrong.map((hex) => Buffer.from(hex, 'hex')) },
    );
    fc.assert(
      fc.property(fc.nat(8), fc.array(bytes, { minLength: 1, maxLength: 9 }), (before, around) => {
        const body = Buffer.concat([Buffer.alloc(step - before, 'x'), ...around, ...around]);
        expect(atOnce(judgingUtf8(body))).toBe(isUtf8(body));
      }),
      { numRuns: 2_000 },
    );
  });

  it('judges a large body in steps, and refuses what is not UTF-8', async () => {
    const size = 3_000_000;
    const read = async (end: string): Promise<Buffer> => {
      const req = new IncomingMessage(new Socket());
      req.push(Buffer.alloc(size, '汉'));
      req.push(Buffer.from(end, 'hex'));
      req.push(null);
      const load = new Load(1, 2 * size);
      return (await readJsonBody(req, 2 * size, load, load.enter(0, size))).bytes;
    };

    expect((await read('e6b189')).toString('utf8', size)).toBe('汉');
    await expect(read('e6b1')).rejects.toMatchObject({ code: 'invalid_json' });
  });

  it('keeps a large body where the engine does not count it', async () => {
    const size = 5_000_000;
    const req = new IncomingMessage(new Socket());
    req.headers = { 'content-length': String(size) };
    for (let at = 0; at < size; at += 50_000) req.push(Buffer.alloc(50_000, String(at / 50_000)));
    req.push(null);
    const load = new Load(1, size);

    const { bytes } = await readJsonBody(req, size, load, load.enter(size, size));

    expect(bytes).toHaveLength(size);
    expect(bytes.toString('latin1', 99 * 50_000, 99 * 50_000 + 4)).toBe('9999');
    expect(types.isSharedArrayBuffer(bytes.buffer)).toBe(true);
  });

  it.each([
    [
      'its caller leaves, of known length',
      { 'content-length': '2000000' },
      'client_closed_request',
    ],
    ['its caller leaves, of unknown length', {}, 'client_closed_request'],
    ['it is too large', {}, 'payload_too_large'],
    ['it is too large once decompressed', { 'content-encoding': 'gzip' }, 'payload_too_large'],
  ])('gives back the memory of a large body when %s', async (_when, headers, code) => {
    const least = 'content-length' in headers ? 2_000_000 : 524_288;
    const size = 1_000_000;
    const text = Buffer.alloc(size, 'mnop');
    const isZipped = 'content-encoding' in headers;
    const limit = code === 'payload_too_large' ? size - 1 : 2 * size;
    const req = new IncomingMessage(new Socket());
    req.headers = headers;
    timesLeft('mnop', least);
    const load = new Load(1, 4 * size);
    const reading = readJsonBody(req, limit, load, load.enter(0, limit));
    if (isZipped) req.push(gzipSync(text));
    else for (let at = 0; at < size; at += 50_000) req.push(text.subarray(at, at + 50_000));
    if (isZipped) req.push(null);
    else if (limit > size) setImmediate(() => req.destroy());

    await expect(reading).rejects.toMatchObject({ code });
    expect(timesLeft('mnop', least)).toBeGreaterThan(0);
  });

  it('gives back the memory in which a body came compressed', async () => {
    const zipped = gzipSync('{}');
    // The flag of a comment, which is longer than what is compressed.
    zipped.writeUInt8(0x10, 3);
    const comment = Buffer.alloc(2_000_000, 'qrst').fill(0, 1_999_999);
    const sent = Buffer.concat([zipped.subarray(0, 10), comment, zipped.subarray(10)]);
    const size = sent.length;
    const req = new IncomingMessage(new Socket());
    req.headers = { 'content-length': String(size), 'content-encoding': 'gzip' };
    for (let at = 0; at < size; at += 50_000) req.push(sent.subarray(at, at + 50_000));
    req.push(null);
    timesLeft('qrst', size);
    const load = new Load(1, size);

    const { bytes } = await readJsonBody(req, size, load, load.enter(size, size));

    expect(bytes.toString()).toBe('{}');
    expect(timesLeft('qrst', size)).toBe(1);
  });

  it('leaves a large body to whoever got it, whatever is left of its request', async () => {
    const size = 300_000;
    const req = new IncomingMessage(new Socket());
    req.headers = { 'content-length': String(size) };
    req.push(Buffer.alloc(size, ' '));
    req.push(null);
    const load = new Load(1, size);
    const place = load.enter(size, size);
    const reading = readJsonBody(req, size, load, place);

    const lastOfIt = await givenBack(reading);
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    await until('the body is collected', () => {
      collect();
      return lastOfIt.deref() === undefined;
    });

    load.leave(place);
    expect((await reading).bytes).toBe(NO_BYTES);
    expect(req.listenerCount('end')).toBe(1);
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
      req.push(zipped);
      req.push(null);
      const load = new Load(1, room);
      return readJsonBody(req, limit, load, load.enter(zipped.length, room));
    };

    expect((await reading(size, size)).bytes.equals(text)).toBe(true);
    await expect(reading(size - 1, size)).rejects.toMatchObject({ code: 'payload_too_large' });
    await expect(reading(size, size - share)).rejects.toMatchObject({ code: 'overloaded' });
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
