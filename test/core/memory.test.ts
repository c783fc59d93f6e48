import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { types } from 'node:util';
import { copyBytes, countInUse, giveBack, uncleared } from '../../src/core/memory.js';
import { fc } from '../support/property.js';

const MEGABYTE = 1_048_576;

describe('uncleared', () => {
  it.each([1, MEGABYTE, 30 * MEGABYTE])('has %d bytes to itself', (bytes) => {
    const buffer = uncleared(bytes);

    expect(buffer).toHaveLength(bytes);
    expect(buffer.buffer.byteLength).toBe(bytes);
  });

  it('is not counted by the engine if it is large', () => {
    const before = process.memoryUsage().external;

    // Other suites of this process may have left much behind.
    const held = uncleared(200 * MEGABYTE, () => 0);

    expect(process.memoryUsage().external - before).toBeLessThan(100 * MEGABYTE);
    expect(held).toHaveLength(200 * MEGABYTE);
  });

  it('is not counted from half a megabyte on', () => {
    const sizes = [MEGABYTE / 2 - 1, MEGABYTE / 2, MEGABYTE];

    expect(
      sizes.map((bytes) => types.isSharedArrayBuffer(uncleared(bytes, () => 0).buffer)),
    ).toEqual([false, true, true]);
  });

  it('is counted once there is much of it', () => {
    const isCounted = (inBuffers: number): boolean =>
      !types.isSharedArrayBuffer(uncleared(5 * MEGABYTE, () => inBuffers).buffer);

    expect(isCounted(256 * MEGABYTE)).toBe(false);
    expect(isCounted(256 * MEGABYTE + 1)).toBe(true);
  });

  it('knows how much there is, beside what requests in progress hold', () => {
    const held = Buffer.alloc(300 * MEGABYTE);
    const isCounted = (): boolean => !types.isSharedArrayBuffer(uncleared(5 * MEGABYTE).buffer);

    expect(isCounted()).toBe(true);
    countInUse(held.length);
    expect(isCounted()).toBe(false);
    countInUse(-held.length);
    expect(isCounted()).toBe(true);
  });
});

describe('memory that is given back', () => {
  const large = (megabytes: number): Buffer => uncleared(megabytes * MEGABYTE, () => 0);

  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => {
    jest.runAllTimers();
    jest.useRealTimers();
  });

  it('is what the next one gets, once, if that is about as large', () => {
    const held = large(10);
    giveBack(held);
    giveBack(held);

    const [small, big, next, another] = [large(4), large(11), large(9.5), large(9.5)];
    expect(next).toHaveLength(9.5 * MEGABYTE);
    expect([small, big, next, another].map(({ buffer }) => buffer === held.buffer)).toEqual([
      ...[false, false, true, false],
    ]);
  });

  it('is used where much would have to be counted, too', () => {
    const held = large(10);
    giveBack(held);

    expect(uncleared(10 * MEGABYTE, () => Infinity).buffer === held.buffer).toBe(true);
  });

  it('is kept for two seconds, and 128 MB of it', () => {
    const held = [80, 48, 5].map(large);
    for (const one of held) giveBack(one);
    expect(held.map(({ buffer, length }) => large(length / MEGABYTE).buffer === buffer)).toEqual([
      ...[true, true, false],
    ]);

    for (const one of held) giveBack(one);
    jest.advanceTimersByTime(2_000);
    expect(held.some(({ buffer, length }) => large(length / MEGABYTE).buffer === buffer)).toBe(
      false,
    );
  });

  it('counts once what is given back twice', () => {
    const held = [50, 60].map(large);
    for (const one of [...held.slice(0, 1), ...held]) giveBack(one);

    expect(held.map(({ buffer, length }) => large(length / MEGABYTE).buffer === buffer)).toEqual([
      ...[true, true],
    ]);
  });

  it('is left to the engine where that counts it', () => {
    const counted = uncleared(10 * MEGABYTE, () => Infinity);
    giveBack(counted);
    giveBack(Buffer.alloc(10));

    expect(large(10).buffer === counted.buffer).toBe(false);
  });
});

describe('copyBytes', () => {
  const texts = fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes));

  it.each([
    ['of its own', () => Buffer.alloc(100)],
    ['that is shared', () => Buffer.from(new SharedArrayBuffer(100))],
    ['that is large', () => uncleared(5 * MEGABYTE).fill(0, 0, 100)],
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
