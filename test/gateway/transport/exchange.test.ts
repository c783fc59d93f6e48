import { Socket } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { ForbiddenAddressError } from '../../../src/gateway/transport/connector.js';
import { Exchange } from '../../../src/gateway/transport/exchange.js';
import { ReplyRoom } from '../../../src/gateway/transport/bytes-in-flight.js';
import { createScope } from '../../../src/gateway/scope.js';
import type { UpstreamRequest } from '../../../src/gateway/transport/transport.js';
import type { RawReply } from '../../../src/providers/reply.js';
import { fc } from '../../support/property.js';

beforeEach(() => void jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate'] }));
afterEach(() => void jest.useRealTimers());

/** An exchange that the test drives as the client would; replies have 10 bytes, all together 15. */
function begin(
  more: Partial<UpstreamRequest> = {},
  rooms: readonly [number, number] = [15, 15],
  maxBytes = 10,
) {
  const [all, own] = [new ReplyRoom(rooms[0]), new ReplyRoom(rooms[1])];
  const scope = createScope(0, 60_000);
  const aborted: Error[] = [];
  const controller = {
    aborted: false,
    paused: false,
    reason: null,
    rawHeaders: null,
    rawTrailers: null,
    abort: (reason: Error) => void aborted.push(reason),
    pause: () => undefined,
    resume: () => undefined,
  };
  const request: UpstreamRequest = {
    origin: 'http://server.test',
    path: '/',
    method: 'POST',
    headers: [],
    body: '{}',
    timeoutMs: 1_000,
    stillWanted: () => true,
    ...more,
  };
  let exchange!: Exchange;
  const outcome = new Promise<unknown>((resolve) => {
    const limits = { maxBytes, rooms: [all, own] as const };
    exchange = new Exchange(request, limits, resolve, resolve, scope);
  });
  const start = () => exchange.onRequestStart(controller);
  const head = (headers: Record<string, string | string[]> = {}, status = 200) =>
    exchange.onResponseStart(controller, status, headers);
  const data = (bytes: Buffer | string) =>
    exchange.onResponseData(controller, typeof bytes === 'string' ? Buffer.from(bytes) : bytes);
  const fail = (error: Error) => exchange.onResponseError(controller, error);
  const end = () => exchange.onResponseEnd();
  return { exchange, outcome, scope, aborted, all, own, start, head, data, fail, end };
}

const withCode = (code: string) => Object.assign(new Error('broken'), { code });

describe('a reply', () => {
  it('is the status, the headers and all bytes, and leaves its room', async () => {
    const { outcome, all, own, start, head, data, end } = begin();
    start();
    head({}, 103);
    head({ 'x-one': ['a', 'b'] }, 201);
    data('12345');
    data('67890');
    end();

    expect(await outcome).toMatchObject({
      status: 201,
      headers: { 'x-one': 'a, b' },
      text: '1234567890',
    });
    expect([all.take(15), own.take(15)]).toEqual([true, true]);
  });

  it.each([
    ['larger than allowed', [99, 99], '12345678901', 'unreadable'],
    ['too large for the room of all', [5, 99], '123456', 'no_room'],
    ['too large for the room of its origin', [99, 5], '123456', 'no_room'],
  ] as const)('that is %s is not read on', async (_what, rooms, text, fault) => {
    const { outcome, aborted, all, own, start, head, data } = begin({}, rooms);
    start();
    head();
    data(text);

    expect(await outcome).toMatchObject({ fault });
    expect(aborted).toHaveLength(1);
    // Nothing is left in them, and no more than that was given back.
    expect([all.take(rooms[0]), own.take(rooms[1])]).toEqual([true, true]);
    expect([all.take(1), own.take(1)]).toEqual([false, false]);
  });

  describe('that is large and comes unannounced', () => {
    const PIECE = 'abcd'.repeat(500_000);
    const ended = (pieces = 4) => {
      const begun = begin({}, [1e7, 1e7], 1e7);
      begun.start();
      begun.head();
      for (let piece = 0; piece < pieces; piece += 1) begun.data(PIECE);
      begun.end();
      return begun;
    };

    it('is joined, and gives back its room', async () => {
      const { outcome, all } = ended();

      const reply = (await outcome) as RawReply;
      expect(reply.text === PIECE.repeat(4)).toBe(true);
      expect(all.take(1e7)).toBe(true);
    });

    it('is kept in little more than its bytes, however much was read for each of them', async () => {
      setFlagsFromString('--expose-gc');
      const collectGarbage = runInNewContext('gc') as () => void;
      const { outcome, start, head, data, end } = begin({}, [1e7, 1e7], 1e7);
      start();
      head();
      const bytesUsed = (): number => {
        // The memory of buffers is given back by the next one.
        collectGarbage();
        collectGarbage();
        const { heapUsed, external } = process.memoryUsage();
        return heapUsed + external;
      };
      const before = bytesUsed();
      for (let sent = 0; sent < 20_000; sent += 1) {
        const read = Buffer.alloc(5_000, '{ }'[sent % 3]);
        data(read.subarray(0, 1));
      }

      expect(bytesUsed() - before).toBeLessThan(2e7);
      end();
      expect((await outcome) as RawReply).toMatchObject({ text: '{ }'.repeat(6_667).slice(0, -1) });
    });

    it('is all that came, in whatever pieces', async () => {
      const sizes = fc.array(fc.oneof(fc.nat(2_000), fc.nat(65_536), fc.nat(700_000)), {
        maxLength: 20,
      });
      await fc.assert(
        fc.asyncProperty(sizes, fc.boolean(), async (list, isAnnounced) => {
          const pieces = list.map((size, at) => Buffer.alloc(size, `${at} `));
          const expected = Buffer.concat(pieces);
          const { outcome, all, start, head, data, end } = begin({}, [2e7, 2e7], 2e7);
          start();
          head(isAnnounced ? { 'content-length': `${expected.length}` } : {});
          for (const piece of pieces) data(piece);
          end();

          const { bytes } = (await outcome) as RawReply;
          expect(bytes?.equals(expected)).toBe(true);
          expect(all.take(2e7)).toBe(true);
        }),
        { numRuns: 50 },
      );
    });
  });

  it.each([
    ['lzw', 'x', 'unknown compression'],
    ['gzip', 'xxxx', 'cannot be decompressed'],
    ['gzip', gzipSync('x'), 'larger than allowed'],
  ])('in %s that cannot be read is told as such', async (encoding, bytes, words) => {
    const { outcome, start, head, data } = begin();
    start();
    head({ 'content-encoding': encoding });
    data(bytes);

    expect(await outcome).toMatchObject({
      fault: 'unreadable',
      message: expect.stringContaining(words) as unknown,
    });
  });
});

describe('a request', () => {
  it('ends with its time, before it has a connection too', async () => {
    const { outcome, aborted, start } = begin();
    jest.advanceTimersByTime(1_000);

    expect(await outcome).toMatchObject({ fault: 'timeout' });
    start();
    expect(aborted).toHaveLength(1);
  });

  it('ends with its scope', async () => {
    const { outcome, scope, start, aborted } = begin();
    start();
    scope.end('client_gone');

    expect(await outcome).toMatchObject({ fault: 'cancelled' });
    expect(aborted).toHaveLength(1);
  });

  it('that is no longer wanted is not written', async () => {
    const { outcome, start, aborted } = begin({ stillWanted: () => false });
    start();

    expect(await outcome).toMatchObject({ fault: 'withdrawn' });
    expect(aborted).toHaveLength(1);
  });
});

describe('a fault', () => {
  it.each([
    ['forbidden', true, new ForbiddenAddressError('the address')],
    ['connect', false, withCode('ECONNREFUSED')],
    ['unreadable', true, withCode('UND_ERR_RES_CONTENT_LENGTH_MISMATCH')],
    ['reset', true, withCode('ECONNRESET')],
  ])('is told as %s, on a connection: %p', async (fault, isWritten, error) => {
    const { outcome, start, fail } = begin();
    if (isWritten) start();
    fail(error);

    expect(await outcome).toMatchObject({ fault, resend: undefined });
  });

  it.each([
    ['safe', false, false],
    ['unsafe', true, false],
    [undefined, true, true],
  ])('of a kept connection is %p to repeat: sent %p, answered %p', async (resend, sent, begun) => {
    const connection = new Socket();
    const first = begin();
    first.start();
    first.exchange.writingTo(connection);
    first.head();
    first.end();
    const { exchange, outcome, start, head, fail } = begin();
    start();
    exchange.writingTo(connection);
    if (sent) exchange.written();
    head({}, 103);
    if (begun) head();
    fail(withCode('ECONNRESET'));

    expect(await outcome).toMatchObject({ fault: 'reset', resend });
  });
});
