import { describe, expect, it } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import {
  Inflation,
  inflateSmall,
  readEncodings,
  type Encodings,
} from '../../../src/gateway/transport/inflate.js';
import { fc } from '../../support/property.js';

describe('the header Content-Encoding', () => {
  it.each([
    [undefined, undefined],
    ['', undefined],
    ['identity', undefined],
    ['identity, identity', undefined],
    ['gzip', ['gzip']],
    ['X-GZIP', ['gzip']],
    [' br , gzip ', ['br', 'gzip']],
    ['identity, deflate', ['deflate']],
    ['zstd', 'unknown'],
    ['gzip, zstd', 'unknown'],
    ['gzip, br, deflate', ['gzip', 'br', 'deflate']],
    ['gzip, gzip, gzip, gzip', 'unknown'],
  ])('%j is read as %j', (header, encodings) => {
    expect(readEncodings(header)).toEqual(encodings);
  });
});

const TEXT = Buffer.from('moon '.repeat(50_000));

interface End {
  readonly text: string;
  readonly error: Error | undefined;
  readonly ends: number;
}

/** Decompresses a body that arrives in pieces; `stopAfter` stops at so many bytes. */
function inflate(
  encodings: Encodings,
  body: Buffer,
  { pieceBytes = 1_000, stopAfter = Infinity, settleMs = 20 } = {},
) {
  return new Promise<End>((resolve) => {
    const pieces: Buffer[] = [];
    let bytes = 0;
    let ends = 0;
    const done = (error: Error | undefined): void => {
      ends += 1;
      // Whatever comes after would be counted.
      setTimeout(() => {
        resolve({ text: Buffer.concat(pieces).toString(), error, ends });
      }, settleMs);
    };
    const inflation = new Inflation(encodings, body.subarray(0, pieceBytes), {
      onData: (piece) => {
        pieces.push(piece);
        bytes += piece.length;
        if (bytes < stopAfter) return;
        inflation.destroy();
        done(new Error('stopped'));
      },
      onEnd: () => {
        done(undefined);
      },
      onError: done,
    });
    for (let at = 0; at < body.length; at += pieceBytes) {
      inflation.write(body.subarray(at, at + pieceBytes));
    }
    inflation.end();
  });
}

describe('a compressed body', () => {
  it.each<[string, Encodings, Buffer]>([
    ['gzip', ['gzip'], gzipSync(TEXT)],
    ['br', ['br'], brotliCompressSync(TEXT)],
    ['deflate', ['deflate'], deflateSync(TEXT)],
    ['deflate without its header', ['deflate'], deflateRawSync(TEXT)],
    ['gzip within br', ['gzip', 'br'], brotliCompressSync(gzipSync(TEXT))],
  ])('in %s comes out as it was, in pieces of any size', async (_, encodings, body) => {
    for (const pieceBytes of [1, 7, 100_000]) {
      const { text, error, ends } = await inflate(encodings, body, { pieceBytes });

      expect(error).toBeUndefined();
      expect(text === TEXT.toString()).toBe(true);
      expect(ends).toBe(1);
    }
  });

  it.each<[string, Buffer]>([
    ['is cut off', gzipSync(TEXT).subarray(0, 100)],
    ['is none', Buffer.from('plain text')],
  ])('that %s is an error, told once', async (_, body) => {
    const { error, ends } = await inflate(['gzip'], body);

    expect(error?.message).toMatch(/unexpected|incorrect/);
    expect(ends).toBe(1);
  });

  it('that grows beyond its bound is stopped there', async () => {
    const bomb = gzipSync(Buffer.alloc(100_000_000));

    const { text, error } = await inflate(['gzip'], bomb, { stopAfter: 1_000_000 });

    expect(error?.message).toBe('stopped');
    expect(text.length).toBeLessThan(1_200_000);
  });
});

describe('a small compressed body', () => {
  const WAYS: readonly (readonly [Encodings, (text: Buffer) => Buffer])[] = [
    [['gzip'], gzipSync],
    [['br'], brotliCompressSync],
    [['deflate'], deflateSync],
    [['deflate'], deflateRawSync],
    [['gzip', 'br'], (text) => brotliCompressSync(gzipSync(text))],
    [['deflate', 'gzip'], (text) => gzipSync(deflateRawSync(text))],
    [['gzip'], (text) => Buffer.concat([gzipSync(text), gzipSync('more')])],
    [['gzip'], (text) => Buffer.concat([gzipSync(text), Buffer.from('rest')])],
  ];
  const body = fc
    .record({
      way: fc.constantFrom(...WAYS),
      text: fc.string({ maxLength: 200 }),
      cut: fc.option(fc.nat(60), { freq: 2, nil: 0 }),
      harm: fc.option(fc.tuple(fc.nat(80), fc.integer({ min: 1, max: 255 })), { freq: 1 }),
    })
    .map(({ way: [encodings, compress], text, cut, harm }) => {
      const whole = Buffer.from(compress(Buffer.from(text)));
      const bytes = whole.subarray(0, Math.max(1, whole.length - cut));
      if (harm !== null)
        bytes.writeUInt8(bytes.readUInt8(harm[0] % bytes.length) ^ harm[1], harm[0] % bytes.length);
      return { encodings, bytes };
    });

  it('comes out in one go as it does in pieces, or not at all', async () => {
    let whole = 0;
    await fc.assert(
      fc.asyncProperty(body, async ({ encodings, bytes }) => {
        const { text, error } = await inflate(encodings, bytes, { settleMs: 0 });

        const small = inflateSmall(encodings, bytes);

        if (small !== undefined) whole += 1;
        expect(small?.toString()).toBe(error === undefined ? text : undefined);
      }),
      { numRuns: 400 },
    );
    expect(whole).toBeGreaterThan(50);
  });

  it('is not inflated in one go if it is not small, before or after', () => {
    const [long, bomb] = [randomBytes(20_000), Buffer.alloc(1_000_000)];

    expect(inflateSmall(['gzip'], gzipSync(long))).toBeUndefined();
    expect(inflateSmall(['gzip'], gzipSync(bomb))).toBeUndefined();
    expect(inflateSmall(['gzip'], gzipSync(TEXT.subarray(0, 100_000)))).toHaveLength(100_000);
  });
});
