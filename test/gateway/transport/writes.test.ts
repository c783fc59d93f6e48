import type { Socket } from 'node:net';
import { describe, expect, it, jest } from '@jest/globals';
import { largeWork } from '../../../src/bytes/turns.js';
import { fc } from '../../support/property.js';
import { writeInPieces } from '../../../src/gateway/transport/writes.js';

type Done = (error?: Error | null) => void;
interface Chunk {
  readonly chunk: Buffer | string;
  readonly encoding: string;
}
interface Written {
  _write(chunk: Buffer | string, encoding: string, done: Done): void;
  _writev(chunks: readonly Chunk[], done: Done): void;
}

/** A connection that notes what the system is handed; `takes` tells when, and how that ends. */
function connection(takes: (done: Done) => void = (done) => done()) {
  const handed: Buffer[] = [];
  const bytesOf = (chunk: Buffer | string, encoding: string): Buffer =>
    typeof chunk === 'string' ? Buffer.from(chunk, encoding as BufferEncoding) : chunk;
  const socket: Written = {
    _write: (chunk, encoding, done) => {
      handed.push(bytesOf(chunk, encoding));
      takes(done);
    },
    _writev: (chunks, done) => {
      handed.push(Buffer.concat(chunks.map(({ chunk, encoding }) => bytesOf(chunk, encoding))));
      takes(done);
    },
  };
  writeInPieces(socket as unknown as Socket);
  const write = (chunks: readonly Chunk[]): Promise<unknown> =>
    new Promise((resolve) => {
      const [only] = chunks;
      if (chunks.length === 1 && only) socket._write(only.chunk, only.encoding, resolve);
      else socket._writev(chunks, resolve);
    });
  return { handed, write };
}

const LARGE = 2_097_152;
const MOST = 524_288;

describe('a write to a connection', () => {
  it('hands what is large to the system in pieces, and nothing else', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.record({
            size: fc.oneof(fc.nat(100), fc.integer({ min: 200_000, max: 1_500_000 })),
            isText: fc.boolean(),
            isLate: fc.boolean(),
          }),
          { minLength: 1, maxLength: 4 },
        ),
        async (given) => {
          const chunks = given.map(({ size, isText }, at) => {
            const text = String.fromCharCode(0x61 + at).repeat(size);
            return isText
              ? { chunk: text, encoding: 'latin1' }
              : { chunk: Buffer.from(text), encoding: 'buffer' };
          });
          const isLate = given.some((one) => one.isLate);
          const { handed, write } = connection(isLate ? (done) => setImmediate(done) : undefined);

          expect(await write(chunks)).toBeUndefined();

          const whole = Buffer.concat(chunks.map(({ chunk }) => Buffer.from(chunk)));
          expect(Buffer.concat(handed).equals(whole)).toBe(true);
          const isLarge = whole.length >= LARGE;
          expect(isLarge || handed.length === 1).toBe(true);
          expect(!isLarge || handed.every(({ length }) => length < MOST)).toBe(true);
        },
      ),
      { numRuns: 60 },
    );
  });

  it('that is large lets others have their turn', async () => {
    const { handed, write } = connection((done) => {
      const until = performance.now() + 1;
      while (performance.now() < until);
      done();
    });
    const seen: number[] = [];
    const look = setInterval(() => seen.push(handed.length), 0);

    await write([{ chunk: Buffer.alloc(20 * MOST), encoding: 'buffer' }]);
    clearInterval(look);

    expect(new Set(seen).size).toBeGreaterThan(3);
  });

  it('that is large has ended when the system has its last piece, however much has been done in this turn', async () => {
    const spent = jest.spyOn(largeWork, 'isSpent').mockReturnValue(true);
    const joined = jest.spyOn(largeWork, 'join');
    const { handed, write } = connection();

    await write([{ chunk: Buffer.alloc(LARGE), encoding: 'buffer' }]);
    const turns = joined.mock.calls.length;
    spent.mockRestore();
    joined.mockRestore();

    expect([turns, handed.length]).toEqual([LARGE / 262_144 - 1, LARGE / 262_144]);
  });

  it('that fails ends with its error, and nothing more is handed over', async () => {
    const broken = new Error('broken');
    let times = 0;
    const { handed, write } = connection((done) => {
      times += 1;
      done(times === 3 ? broken : null);
    });

    expect(await write([{ chunk: Buffer.alloc(10 * MOST), encoding: 'buffer' }])).toBe(broken);
    expect(handed).toHaveLength(3);
  });
});
