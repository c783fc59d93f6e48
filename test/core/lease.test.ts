import { describe, expect, it } from '@jest/globals';
import { Lease } from '../../src/core/lease.js';

const T0 = 1_000;
const granted = (units: number, forMs = 60_000) => ({ kind: 'granted', units, forMs }) as const;
const refused = (retryAfterMs: number) => ({ kind: 'refused', retryAfterMs }) as const;

describe('a lease', () => {
  it('gives out what it was granted, and no more', () => {
    const lease = new Lease(100, 20);
    lease.heard(granted(5), T0, true);

    expect([2, 3, 1].map((units) => lease.take(units, T0))).toEqual([true, true, false]);
    expect(lease.left(T0)).toBe(0);
  });

  it('lapses with its window, debts included', () => {
    const lease = new Lease(100, 20);
    lease.heard(granted(5, 1_000), T0, true);
    const { window } = lease;
    lease.giveBack(-50, window);

    expect(lease.take(1, T0)).toBe(false);
    lease.heard(granted(4), T0 + 1_000, true);
    expect(lease.take(4, T0 + 1_000)).toBe(true);
    lease.giveBack(9, window);
    expect(lease.left(T0 + 1_000)).toBe(0);
    lease.giveBack(2, lease.window);
    expect(lease.left(T0 + 1_000)).toBe(2);
  });

  it('is out when a call was refused, and not when there was merely nothing more to lay in', () => {
    const lease = new Lease(100, 20);
    lease.heard(granted(5), T0, true);
    expect(lease.take(4, T0)).toBe(true);
    expect(lease.isLow(T0)).toBe(true);

    lease.heard(refused(500), T0, false);
    expect([lease.isLow(T0 + 499), lease.outUntilMs(T0), lease.take(1, T0)]).toEqual([
      false,
      0,
      true,
    ]);
    lease.heard(refused(500), T0 + 10, true);
    expect([lease.outUntilMs(T0 + 509), lease.outUntilMs(T0 + 510)]).toEqual([T0 + 510, 0]);
    lease.heard(refused(500), T0 + 400, true);
    expect([lease.outUntilMs(T0 + 510), lease.outSinceMs]).toEqual([T0 + 900, T0 + 10]);
  });

  it('is taken in shares, of one unit at least', () => {
    expect([new Lease(100, 20).size, new Lease(7, 20).size]).toEqual([5, 1]);
  });
});
