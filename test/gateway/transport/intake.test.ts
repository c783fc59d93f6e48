import { once } from 'node:events';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createConnector } from '../../../src/gateway/transport/connector.js';
import { fc } from '../../support/property.js';
import { until } from '../../support/until.js';

let server: Server;
const accepted: Socket[] = [];
const made: Socket[] = [];

beforeEach(async () => {
  server = createServer((socket) => accepted.push(socket.on('error', () => undefined)));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterEach(() => {
  for (const socket of [...accepted.splice(0), ...made.splice(0)]) socket.destroy();
  server.close();
});

/** What a connection gave to its reader, which does not read while it is idle. */
class Reader {
  readonly #socket: Socket;
  readonly #chunks: Buffer[] = [];
  isIdle = false;
  hasEnded = false;

  constructor(socket: Socket) {
    this.#socket = socket
      .on('readable', () => this.read())
      .on('end', () => {
        this.hasEnded = true;
      });
  }

  read(): void {
    if (this.isIdle) return;
    for (let chunk; (chunk = this.#socket.read() as Buffer | null) !== null;) {
      this.#chunks.push(chunk);
    }
  }

  /** Looked at only now: what was read first must not have been written over. */
  get all(): Buffer {
    return Buffer.concat(this.#chunks);
  }
}

async function connection(): Promise<{ socket: Socket; reader: Reader; other: Socket }> {
  const { port } = server.address() as AddressInfo;
  const before = accepted.length;
  const options = { hostname: '127.0.0.1', protocol: 'http:', port: String(port) };
  const socket = await new Promise<Socket>((resolve, reject) => {
    createConnector(() => undefined)(options, (...[error, connected]) => {
      if (error === null) resolve(connected);
      else reject(error);
    });
  });
  made.push(socket.on('error', () => undefined));
  await until('the server has the connection', () => accepted.length > before);
  const other = accepted.at(-1);
  if (other === undefined) throw new Error('the server has a connection');
  return { socket, reader: new Reader(socket), other };
}

/** Bytes of which every part differs from every other. */
function distinct(bytes: number, seed: number): Buffer {
  const text = Array.from({ length: Math.ceil(bytes / 8) }, (_, at) =>
    String(seed * 1_000_000 + at).padStart(8, '.'),
  );
  return Buffer.from(text.join('')).subarray(0, bytes);
}

const SIZES = fc.oneof(
  fc.integer({ min: 1, max: 100 }),
  fc.integer({ min: 1, max: 40_000 }),
  fc.integer({ min: 60_000, max: 300_000 }),
);

describe('a connection', () => {
  it('is read as it was written, however the reader pauses, while others are read', async () => {
    const connections = [await connection(), await connection()] as const;
    const steps = fc.array(
      fc.record({
        at: fc.nat({ max: 1 }),
        bytes: SIZES,
        isIdle: fc.boolean(),
        reads: fc.boolean(),
      }),
      { minLength: 1, maxLength: 20 },
    );
    const expected = [Buffer.alloc(0), Buffer.alloc(0)];
    let seed = 0;
    const check = fc.asyncProperty(steps, async (all) => {
      for (const { at, bytes, isIdle, reads } of all) {
        const { reader, other } = connections[at === 0 ? 0 : 1];
        reader.isIdle = isIdle;
        const piece = distinct(bytes, (seed += 1));
        expected[at] = Buffer.concat([expected[at] ?? Buffer.alloc(0), piece]);
        other.write(piece);
        await new Promise((resolve) => setImmediate(resolve));
        reader.isIdle = false;
        if (reads) reader.read();
      }
      for (const [at, { reader }] of connections.entries()) {
        const whole = expected[at] ?? Buffer.alloc(0);
        await until('all of it is read', () => {
          reader.read();
          return reader.all.length >= whole.length;
        });
        expect(reader.all.equals(whole)).toBe(true);
      }
    });
    await fc.assert(check, { numRuns: 20 });
  }, 60_000);

  it('stops the other side while nobody reads, and gives everything afterwards', async () => {
    const { socket, reader, other } = await connection();
    reader.isIdle = true;
    const sent = distinct(8_000_000, 1);
    other.write(sent);
    let before = -1;
    await until('no more is read', () => {
      const isSame = before === socket.bytesRead;
      before = socket.bytesRead;
      return isSame && before > 0;
    });
    expect(socket.bytesRead).toBeLessThan(1_000_000);

    reader.isIdle = false;
    reader.read();
    await until('all of it is read', () => reader.all.length >= sent.length);

    expect(reader.all.equals(sent)).toBe(true);
  });

  it.each([
    ['at once', false],
    ['later', true],
  ])('ends after its last byte, which is read %s', async (_when, isIdle) => {
    const { socket, reader, other } = await connection();
    reader.isIdle = isIdle;
    other.end('the last');
    await until('it has arrived', () => socket.bytesRead === 8);
    if (isIdle) expect(reader.hasEnded).toBe(false);

    reader.isIdle = false;
    reader.read();
    await until('the end is known', () => reader.hasEnded);

    expect(String(reader.all)).toBe('the last');
  });

  it('ends if nothing came', async () => {
    const { reader, other } = await connection();
    other.end();

    await until('the end is known', () => reader.hasEnded);
    expect(reader.all).toHaveLength(0);
  });

  it('reports that it broke', async () => {
    const { socket, reader, other } = await connection();
    other.write('some');
    await until('it is read', () => reader.all.length === 4);
    other.resetAndDestroy();
    await until('it is closed', () => socket.closed);

    expect(socket.errored).toMatchObject({ code: 'ECONNRESET' });
    expect(String(reader.all)).toBe('some');
  });
});
