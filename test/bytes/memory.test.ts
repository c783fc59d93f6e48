import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { types } from 'node:util';
import { copyBytes, countInUse, NO_BYTES, Owned } from '../../src/bytes/memory.js';
import { fc } from '../support/property.js';

const MEGABYTE = 1_048_576;

describe('memory that is taken', () => {
  it.each([1, MEGABYTE, 30 * MEGABYTE])('has %d bytes to itself', (size) => {
    const { bytes } = Owned.uncleared(size);

    expect(bytes).toHaveLength(size);
    expect(bytes.buffer.byteLength).toBe(size);
  });

  it('is not counted by the engine if it is large', () => {
    const before = process.memoryUsage().external;

    // Other suites of this process may have left much behind.
    const held = Owned.uncleared(200 * MEGABYTE, () => 0);

    expect(process.memoryUsage().external - before).toBeLessThan(100 * MEGABYTE);
    expect(held.bytes).toHaveLength(200 * MEGABYTE);
  });

  /** Whether the engine counts so many bytes. */
  const isCounted = (size: number, inBuffers?: () => number): boolean =>
    !types.isSharedArrayBuffer(Owned.uncleared(size, inBuffers).bytes.buffer);

  it('is not counted from half a megabyte on', () => {
    const sizes = [MEGABYTE / 2 - 1, MEGABYTE / 2, MEGABYTE];

    expect(sizes.map((size) => isCounted(size, () => 0))).toEqual([true, false, false]);
  });

  it('is counted once there is much of it', () => {
    expect(isCounted(5 * MEGABYTE, () => 256 * MEGABYTE)).toBe(false);
    expect(isCounted(5 * MEGABYTE, () => 256 * MEGABYTE + 1)).toBe(true);
  });

  it('knows how much there is, beside what requests in progress hold', () => {
    const held = Buffer.alloc(300 * MEGABYTE);

    expect(isCounted(5 * MEGABYTE)).toBe(true);
    countInUse(held.length);
    expect(isCounted(5 * MEGABYTE)).toBe(false);
    countInUse(-held.length);
    expect(isCounted(5 * MEGABYTE)).toBe(true);
  });
});

describe('memory that is given back', () => {
  const large = (megabytes: number): Owned => Owned.uncleared(megabytes * MEGABYTE, () => 0);
  /** Gives them back, and returns which of them the next ones of their sizes get. */
  const leftBy = (...all: readonly Owned[]): boolean[] => {
    const were = all.map(({ bytes }) => bytes);
    for (const one of all) one.giveBack();
    return were.map(({ buffer, length }) => large(length / MEGABYTE).bytes.buffer === buffer);
  };

  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => {
    jest.runAllTimers();
    jest.useRealTimers();
  });

  it('is what the next one gets, once, if that is about as large', () => {
    const held = large(10);
    const { buffer } = held.bytes;
    held.giveBack();
    held.giveBack();

    const next = [4, 11, 9.5, 9.5].map((megabytes) => large(megabytes).bytes);
    expect(next[2]).toHaveLength(9.5 * MEGABYTE);
    expect(next.map((bytes) => bytes.buffer === buffer)).toEqual([false, false, true, false]);
  });

  it('is all of it, however few of its bytes count', () => {
    const held = large(10);
    const { buffer } = held.bytes;

    held.narrowed(MEGABYTE, 2 * MEGABYTE).giveBack();

    expect(large(10).bytes.buffer).toBe(buffer);
  });

  it('is given back once, although another has it by then', () => {
    const held = large(10);
    held.giveBack();
    const next = large(10);

    held.giveBack();

    expect(large(10).bytes.buffer).not.toBe(next.bytes.buffer);
  });

  it('is referred to no more', () => {
    const [free, held] = [large(1), large(1)];
    held.hold();
    for (const one of [free, held]) one.giveBack();

    expect([free, held].map(({ bytes }) => bytes)).toEqual([NO_BYTES, NO_BYTES]);
  });

  it('is left to the collector while someone holds it, whoever releases it later', () => {
    const held = large(10);
    const { buffer } = held.bytes;
    held.hold();
    held.hold();
    held.release();

    held.giveBack();
    held.release();
    held.giveBack();

    expect(large(10).bytes.buffer).not.toBe(buffer);
  });

  it('may have been held before', () => {
    const held = large(10);
    held.hold();
    held.release();

    expect(leftBy(held)).toEqual([true]);
  });

  it('is used where much would have to be counted, too', () => {
    const held = large(10);
    const { buffer } = held.bytes;
    held.giveBack();

    expect(Owned.uncleared(10 * MEGABYTE, () => Infinity).bytes.buffer).toBe(buffer);
  });

  it('is kept for two seconds, and 128 MB of it', () => {
    expect(leftBy(...[80, 48, 5].map(large))).toEqual([true, true, false]);

    const held = large(80);
    const { buffer } = held.bytes;
    held.giveBack();
    jest.advanceTimersByTime(2_000);
    expect(large(80).bytes.buffer).not.toBe(buffer);
  });

  it('is left to the engine where that counts it', () => {
    expect(leftBy(Owned.uncleared(10 * MEGABYTE, () => Infinity))).toEqual([false]);
  });

  it('is not that of others', () => {
    const held = large(10);
    const lent = Owned.lent(held.bytes.subarray(0, 5 * MEGABYTE));
    lent.giveBack();

    expect(large(10).bytes.buffer).not.toBe(held.bytes.buffer);
    expect([held.includes(held.bytes), lent.includes(held.bytes)]).toEqual([true, false]);
  });
});

describe('copyBytes', () => {
  const texts = fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes));

  it.each([
    ['of its own', () => Buffer.alloc(100)],
    ['that is shared', () => Buffer.from(new SharedArrayBuffer(100))],
    ['that is large', () => Owned.uncleared(5 * MEGABYTE).bytes.fill(0, 0, 100)],
  ])('copies as buffers do, into memory %s', (_, make) => {
    fc.assert(
      fc.property(texts, fc.nat(50), fc.nat(45), fc.nat(45), (source, at, from, to) => {
        const start = Math.min(from, source.length);
        const end = Math.max(start, to);
        const [target, expected] = [make(), Buffer.alloc(100)];

        const copied = copyBytes(source, target, at, start, end);

        expect(copied).toBe(source.copy(expected, at, start, end));
        expect(target.subarray(0, 100).equals(expected)).toBe(true);
      }),
    );
  });
});
