import { describe, expect, it } from '@jest/globals';
import { apiKeysOf, keyHint } from '../../src/core/api-keys.js';
import { KeyRing, type KeyVerdict } from '../../src/core/key-ring.js';
import { Secret } from '../../src/core/secret.js';

const T0 = 1_700_000_000_000;
const RULE = { most: 0, refusedMs: 1_000, longestMs: 4_000 };
const WORKS: KeyVerdict = { kind: 'works' };
const REFUSED: KeyVerdict = { kind: 'refused' };

function use(ring: KeyRing, verdict: KeyVerdict, nowMs: number): number | undefined {
  const key = ring.take(nowMs);
  if (key !== undefined) ring.done(key, verdict, nowMs);
  return key;
}

describe('the keys of a channel', () => {
  it('are taken in turn', () => {
    const ring = new KeyRing(3, RULE);
    expect(Array.from({ length: 7 }, () => use(ring, WORKS, T0))).toEqual([0, 1, 2, 0, 1, 2, 0]);
  });

  it('rest alone, until their time has come', () => {
    const ring = new KeyRing(3, RULE);
    use(ring, { kind: 'rests', reason: 'busy', untilMs: T0 + 500 }, T0);

    expect(Array.from({ length: 4 }, () => use(ring, WORKS, T0 + 499))).toEqual([1, 2, 1, 2]);
    expect(ring.pauses(T0 + 499)).toEqual([
      { key: 0, state: 'cooling', reason: 'busy', sinceMs: T0, untilMs: T0 + 500 },
    ]);
    expect(Array.from({ length: 3 }, () => use(ring, WORKS, T0 + 500))).toContain(0);
    expect(ring.pauses(T0 + 500)).toEqual([]);
  });

  it('rest for the reason that they were given, unless they are refused', () => {
    const ring = new KeyRing(2, RULE);
    const limited = { kind: 'rests', reason: 'key_tokens_per_minute', untilMs: T0 + 500 } as const;
    use(ring, limited, T0);
    use(ring, REFUSED, T0);

    expect(ring.readiness(T0)).toEqual({ untilMs: T0 + 500, reason: 'key_tokens_per_minute' });
    expect(ring.pauses(T0).map(({ reason }) => reason)).toEqual([
      'key_tokens_per_minute',
      'misconfigured',
    ]);
  });

  it('are ready again once their time has come, and neither before', () => {
    const ring = new KeyRing(2, RULE);
    expect(ring.readiness(T0)).toBe('ready');
    use(ring, { kind: 'rests', reason: 'busy', untilMs: T0 + 500 }, T0);
    expect(ring.readiness(T0)).toBe('ready');
    use(ring, { kind: 'rests', reason: 'busy', untilMs: T0 + 900 }, T0);

    expect(ring.readiness(T0 + 499)).toMatchObject({ untilMs: T0 + 500 });
    expect(ring.pauses(T0 + 500).map(({ key }) => key)).toEqual([1]);
    expect(ring.readiness(T0 + 500)).toBe('ready');
  });

  it('have no time to come back at while one of them is at work', () => {
    const ring = new KeyRing(2, { ...RULE, most: 1 });
    ring.take(T0);
    use(ring, { kind: 'rests', reason: 'busy', untilMs: T0 + 500 }, T0);

    expect(ring.readiness(T0)).toBe('full');
  });

  it('rest as long as the longest pause that they were asked for, since the first', () => {
    const ring = new KeyRing(2, RULE);
    const taken = Array.from({ length: 6 }, () => ring.take(T0));
    expect(taken).toEqual([0, 1, 0, 1, 0, 1]);
    ring.done(0, { kind: 'rests', reason: 'busy', untilMs: T0 + 500 }, T0);
    ring.done(1, { kind: 'rests', reason: 'busy', untilMs: T0 + 700 }, T0);
    ring.done(0, { kind: 'rests', reason: 'busy', untilMs: T0 + 200 }, T0 + 1);
    expect(ring.readiness(T0 + 2)).toMatchObject({ untilMs: T0 + 500 });
    ring.done(0, { kind: 'rests', reason: 'busy', untilMs: T0 + 900 }, T0 + 2);

    expect(ring.readiness(T0 + 3)).toMatchObject({ untilMs: T0 + 700 });
    expect(ring.pauses(T0 + 3)).toEqual([
      { key: 0, state: 'cooling', reason: 'busy', sinceMs: T0, untilMs: T0 + 900 },
      { key: 1, state: 'cooling', reason: 'busy', sinceMs: T0, untilMs: T0 + 700 },
    ]);
  });

  it('are not put out by a pause that is over already', () => {
    const ring = new KeyRing(1, RULE);
    use(ring, { kind: 'rests', reason: 'busy', untilMs: T0 }, T0);

    expect(ring.readiness(T0)).toBe('ready');
    expect(ring.pauses(T0)).toEqual([]);
  });

  it('are left alone for twice as long after each refusal in a row', () => {
    const ring = new KeyRing(1, RULE);
    let nowMs = T0;
    const waits = [1_000, 2_000, 4_000, 4_000];
    for (const waitMs of waits) {
      expect(use(ring, REFUSED, nowMs)).toBe(0);
      expect(ring.readiness(nowMs)).toMatchObject({ untilMs: nowMs + waitMs });
      expect(ring.take(nowMs + waitMs - 1)).toBeUndefined();
      nowMs += waitMs;
    }
    expect(use(ring, WORKS, nowMs)).toBe(0);
    expect(use(ring, REFUSED, nowMs)).toBe(0);
    expect(ring.readiness(nowMs)).toMatchObject({ untilMs: nowMs + 1_000 });
  });

  it('count as refused all together only while each of them is out for a refusal', () => {
    const ring = new KeyRing(2, RULE);
    const counts: number[] = [];
    const step = (verdict: KeyVerdict, nowMs: number): void => {
      use(ring, verdict, nowMs);
      counts.push(ring.refusalsOfAll(nowMs));
    };

    step(REFUSED, T0);
    step(REFUSED, T0 + 1);
    expect(ring.refusalsOfAll(T0 + 1_000)).toBe(0);
    step(REFUSED, T0 + 1_000);
    step(WORKS, T0 + 1_001);
    step({ kind: 'rests', reason: 'busy', untilMs: T0 + 9_000 }, T0 + 1_002);

    expect(counts).toEqual([0, 2, 3, 0, 0]);
  });

  it('prove themselves with a single attempt after a refusal', () => {
    const ring = new KeyRing(1, RULE);
    use(ring, REFUSED, T0);

    expect(ring.take(T0 + 1_000)).toBe(0);
    expect(ring.take(T0 + 1_000)).toBeUndefined();
    expect(ring.readiness(T0 + 1_000)).toBe('full');
    ring.done(0, WORKS, T0 + 1_001);
    expect([ring.take(T0 + 1_001), ring.take(T0 + 1_001)]).toEqual([0, 0]);
  });

  it('have no more attempts at once than they may', () => {
    const ring = new KeyRing(2, { ...RULE, most: 2 });

    expect(Array.from({ length: 5 }, () => ring.take(T0))).toEqual([0, 1, 0, 1, undefined]);
    expect(ring.readiness(T0)).toBe('full');
    ring.done(1, { kind: 'none' }, T0);
    expect([ring.take(T0), ring.take(T0)]).toEqual([1, undefined]);
  });

  it('are out though they were taken more than once before', () => {
    const ring = new KeyRing(2, RULE);
    const taken = [ring.take(T0), ring.take(T0), ring.take(T0)];
    expect(taken).toEqual([0, 1, 0]);
    ring.done(0, REFUSED, T0);
    ring.done(0, WORKS, T0);

    expect([ring.take(T0), ring.take(T0)]).toEqual([1, 1]);
  });

  it('come back in the order of their times, however many there are', () => {
    const ring = new KeyRing(500, RULE);
    const untilOf = (key: number): number => T0 + 1 + ((key * 7_919) % 500);
    for (let count = 0; count < 500; count += 1) {
      const key = ring.take(T0);
      if (key !== undefined)
        ring.done(key, { kind: 'rests', reason: 'busy', untilMs: untilOf(key) }, T0);
    }
    expect(ring.take(T0)).toBeUndefined();
    expect(ring.readiness(T0)).toMatchObject({ untilMs: T0 + 1 });

    const back: number[] = [];
    for (let nowMs = T0 + 1; nowMs <= T0 + 500; nowMs += 1) {
      const key = ring.take(nowMs);
      if (key !== undefined) {
        expect(untilOf(key)).toBe(nowMs);
        back.push(key);
        ring.done(key, { kind: 'rests', reason: 'busy', untilMs: T0 + 10_000 }, nowMs);
      }
    }
    expect(new Set(back).size).toBe(500);
  });

  it('are chosen at the same cost, few or many', () => {
    const timeOf = (count: number): number => {
      const ring = new KeyRing(count, RULE);
      for (let turn = 0; turn < 5_000; turn += 1) use(ring, WORKS, T0);
      const before = process.cpuUsage();
      for (let turn = 0; turn < 20_000; turn += 1) use(ring, WORKS, T0);
      const { user, system } = process.cpuUsage(before);
      return (user + system) / 1_000;
    };
    // Time of this process alone, and generous: a cost that grew with their number would be hundreds of times higher.
    expect(timeOf(1_000)).toBeLessThan(20 * timeOf(2) + 200);
  });
});

describe('the keys that a credential holds', () => {
  it.each([
    ['one', 'abc', ['abc']],
    ['several, one a line', 'a\nb\r\n\n  c \nb', ['a', 'b', 'c']],
    ['none', '\n', []],
  ])('%s', (_what, text, keys) => {
    expect(apiKeysOf(new Secret(text)).map((key) => key.reveal())).toEqual(keys);
  });

  it('are known by their ends', () => {
    expect(keyHint(new Secret('sk-0123456789abcd'))).toBe('…abcd');
    expect(keyHint(new Secret('short'))).toBe('…');
  });
});
