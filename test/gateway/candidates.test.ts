import { describe, expect, it } from '@jest/globals';
import { textDocuments } from '../../src/core/text-documents.js';
import { Secret } from '../../src/core/secret.js';
import type { Availability } from '../../src/gateway/channels/state.js';
import type { Job, Offer } from '../../src/gateway/rank.js';
import { allOf, candidates, T0 } from '../support/candidates.js';
import { failed, job, offer, plan, ranked } from '../support/offers.js';

describe('the candidates of a job', () => {
  it('are the highest priority first, each once', () => {
    const offers = [
      offer(1, { priority: -1 }),
      offer(2, { priority: 9 }),
      offer(3, { priority: 9 }),
      offer(4),
    ];

    expect(allOf(candidates(offers))).toEqual([2, 3, 4, 1]);
  });

  it('leave out what is switched off, not admitted, not ready, or too small', () => {
    const offers = [
      offer(1, { status: 2 }),
      offer(2, { tag: 'other' }),
      offer(3),
      offer(4, { settings: { maxDocuments: 2 } }),
      offer(5),
    ];
    const admits: Job['admits'] = (route) => route.channel.tag !== 'other';
    const availability = ({ id }: Offer): Availability =>
      id === 3 ? { kind: 'full' } : { kind: 'ready' };

    expect(allOf(candidates(offers, { availability }, job({ admits })))).toEqual([5]);
  });

  it('are the cheapest of a priority, and dearer ones only while none of these can serve', () => {
    // Odd ones are dearer.
    const offers = [
      offer(1, { weight: 99 }),
      offer(2),
      offer(3),
      offer(4),
      offer(6, { priority: -1 }),
    ];
    const full = ({ id }: Offer): Availability => ({ kind: id % 2 === 0 ? 'full' : 'ready' });

    expect(allOf(candidates(offers, { select: 'cheapest' }))).toEqual([2, 4, 1, 3, 6]);
    expect(candidates(offers, { select: 'cheapest', availability: full }).next()?.id).toBe(1);
  });

  it('are found by weight among many, without looking at all of them', () => {
    const offers = Array.from({ length: 1_000 }, (_, at) => offer(at + 1, { weight: at % 2 }));
    let looked = 0;
    const availability = (): Availability => {
      looked += 1;
      return { kind: 'ready' };
    };

    const picked = [0, 0.5, 0.999].map(
      (point) => candidates(offers, { availability, random: () => point }).next()?.id,
    );

    expect(picked).toEqual([2, 502, 1_000]);
    expect(looked).toBe(3);
  });

  it('are all found among many, even if most cannot serve', () => {
    const offers = Array.from({ length: 50 }, (_, at) => offer(at + 1));
    const availability = ({ id }: Offer): Availability =>
      id % 10 === 0 ? { kind: 'ready' } : { kind: 'full' };

    expect(allOf(candidates(offers, { availability, random: Math.random })).sort()).toEqual([
      10, 20, 30, 40, 50,
    ]);
  });

  it('share the traffic of a tier by weight', () => {
    const offers = Array.from({ length: 8 }, (_, at) =>
      offer(at + 1, { weight: at === 0 ? 7 : 1 }),
    );
    let point = 0;
    const counts = new Map<number, number>();

    for (let round = 0; round < 1_400; round += 1) {
      point = (round + 0.5) / 1_400;
      const id = candidates(offers, { random: () => point }).next()?.id ?? 0;
      counts.set(id, (counts.get(id) ?? 0) + 1);
    }

    expect([...counts.entries()].sort(([one], [other]) => one - other)).toEqual([
      [1, 700],
      ...[2, 3, 4, 5, 6, 7, 8].map((id) => [id, 100]),
    ]);
  });

  it('use weight 0 only when nothing else is left, the last of several included', () => {
    const offers = [offer(1, { weight: 0 }), offer(2, { weight: 0 }), offer(3)];

    expect(allOf(candidates(offers, { random: () => 0.99 }))).toEqual([3, 2, 1]);
  });

  it.each([
    [
      'of a service whose limit was broken, not those of other addresses or forms',
      {},
      [1, 3, 4, 5, 6],
    ],
    ['of no service where nothing was sent', { unsent: true }, [1, 2, 3, 4, 5, 6]],
  ])('leave out the other channels %s', (_what, more, expected) => {
    const proxied = { provider: 'jina', credentials: { apiKey: new Secret('k') } };
    const hosted = { ...proxied, baseUrl: undefined };
    // Another form at the address where the hosted ones are.
    const other = { ...proxied, provider: 'cohere', baseUrl: 'https://api.jina.ai' };
    const offers = [
      ...[offer(1, hosted), offer(2, hosted), offer(3), offer(4), offer(5, proxied)],
      offer(6, other),
    ];
    const from = candidates(offers);
    const asked: number[] = [];

    for (let next = from.next(); next !== undefined; next = from.next()) {
      asked.push(next.id);
      from.heard(next, failed('limit', more));
    }

    expect(asked).toEqual(expected);
  });

  it('come again when they were withdrawn and are still live', () => {
    const live = candidates([offer(1)]);
    const off = candidates([offer(1)], { isLive: () => false });

    for (const from of [live, off]) {
      const first = from.next();
      if (first !== undefined) from.heard(first, { kind: 'withdrawn' });
    }

    expect(live.next()?.id).toBe(1);
    expect(off.next()).toBeUndefined();
  });

  it('may be asked once more if their failure may have passed, and only then', () => {
    const offers = [offer(1), offer(2), offer(3), offer(4)];
    const from = candidates(offers);
    allOf(from);
    const [busy, down, slow, broken] = offers;
    if (busy) from.heard(busy, failed('busy'));
    if (down) from.heard(down, failed('transient'));
    if (slow) from.heard(slow, failed('timeout'));
    if (broken) from.heard(broken, failed('misconfigured'));

    expect([from.hasMore(), from.next()]).toEqual([false, undefined]);
    from.again();
    expect(from.hasMore()).toBe(true);
    expect(allOf(from)).toEqual([1, 2]);
    from.again();

    expect(allOf(from)).toEqual([]);
  });

  it('go on while one of any priority can serve', () => {
    const offers = [offer(1, { priority: 1 }), offer(2, { priority: 1 }), offer(3)];
    const isFull = new Set<number>();
    const availability = ({ id }: Offer): Availability =>
      isFull.has(id) ? { kind: 'full' } : { kind: 'ready' };
    const from = candidates(offers, { availability });

    isFull.add(1);
    expect(from.hasMore()).toBe(true);
    isFull.add(2);
    expect(from.hasMore()).toBe(true);
    isFull.add(3);

    expect(from.hasMore()).toBe(false);
  });

  it('say why none is left', () => {
    const only = offer(1, { settings: { maxDocuments: 2 } });
    const tried = candidates([offer(2)]);
    const first = tried.next();
    if (first !== undefined) tried.heard(first, failed('timeout'));

    expect(candidates([]).whyNone()).toEqual({ kind: 'switched_off' });
    expect(candidates([offer(1, { status: 2 })]).whyNone()).toEqual({ kind: 'switched_off' });
    expect(candidates([only]).whyNone()).toEqual({
      kind: 'misfit',
      misfits: [{ limit: 'documents', most: 2 }],
    });
    expect(
      candidates([only, offer(2), offer(3)], {
        availability: ({ id }) => ({ kind: 'until', atMs: T0 + id * 1_000 }),
      }).whyNone(),
    ).toEqual({ kind: 'busy', soonestMs: 2_000, retryAfterMs: 2_000 });
    expect(tried.whyNone()).toMatchObject({ kind: 'exhausted', failures: [{ kind: 'timeout' }] });
  });

  it('are those in force when the next one is asked for', () => {
    const before = [offer(1), offer(2)];
    const after = [offer(2, { status: 2 }), offer(3)];
    let offers = before;
    const from = candidates([], {
      planOf: () => plan(offers),
    });

    const first = from.next();
    offers = after;

    expect([first?.id, from.next()?.id, from.next()?.id]).toEqual([1, 3, undefined]);
    if (first !== undefined) from.heard(first, ranked(first));
  });

  it('are the less busy of two, or the one that is expected to answer sooner', () => {
    const offers = [offer(1), offer(2)];
    const busy = ({ id }: Offer): number => (id === 1 ? 2 : 1);

    expect(candidates(offers, { select: 'least_busy', load: busy }).next()?.id).toBe(2);
    expect(candidates(offers, { select: 'fastest', expectedMs: busy }).next()?.id).toBe(2);
    expect(candidates(offers, { select: 'fastest', load: busy }).next()?.id).toBe(1);
    // Both cost the same.
    const alike = [offer(2), offer(4)];
    const slow = ({ id }: Offer): number => -id;
    for (const select of ['cheapest', 'weighted'] as const) {
      expect(candidates(alike, { select, expectedMs: slow, load: slow }).next()?.id).toBe(2);
    }
    expect(allOf(candidates(offers, { select: 'least_busy', load: busy }))).toEqual([2, 1]);
  });

  it('are the same for the same key if a model is sticky, and the next one while that one is out', () => {
    const offers = Array.from({ length: 20 }, (_, at) => offer(at + 1));
    const first = (keyId: number, out = 0) =>
      candidates(
        offers,
        {
          select: 'sticky',
          random: Math.random,
          availability: ({ id }) => ({ kind: id === out ? 'full' : 'ready' }),
        },
        job({ keyId }),
      ).next()?.id ?? 0;

    const chosen = Array.from({ length: 50 }, (_, keyId) => first(keyId));

    expect(Array.from({ length: 50 }, (_, keyId) => first(keyId))).toEqual(chosen);
    expect(new Set(chosen).size).toBeGreaterThan(10);
    const usual = first(7);
    expect(first(7, usual)).toBe((usual % 20) + 1);
  });

  it('are not asked for text that they do not take', () => {
    const long = job({ documents: textDocuments(['x'.repeat(10), 'y']) });
    const room = { ...offer(1).room, documentCharacters: 5 };

    expect(candidates([{ ...offer(1), room }], {}, long).whyNone()).toEqual({
      kind: 'misfit',
      misfits: [{ limit: 'length' }],
    });
  });
});

describe('the first attempt of a job', () => {
  const patient = { patienceMs: () => 2_000 };
  const local = offer(2, { provider: 'local', baseUrl: undefined });

  it.each<[string, readonly Offer[], number, number | undefined]>([
    ['has as long as its answers take', [offer(1), offer(2)], 10_000, 2_000],
    ['has no less time than its limit', [offer(1), offer(2)], 2_000, undefined],
    ['has all of its time where no other channel is left', [offer(1)], 10_000, undefined],
    [
      'has all of its time where only the last resort is left',
      [offer(1), local],
      10_000,
      undefined,
    ],
  ])('%s', (_what, offers, limitMs, mostMs) => {
    const given = candidates(offers, patient);
    const first = given.next() ?? offer(0);

    expect(given.patienceMs(first, limitMs)).toBe(mostMs);
  });

  it('is the only one that is given up early', () => {
    const given = candidates([offer(1), offer(2), offer(3)], patient);
    given.heard(given.next() ?? offer(0), failed('timeout', { isEarly: true }));

    expect(given.patienceMs(given.next() ?? offer(0), 10_000)).toBeUndefined();
  });

  it('may be made again if it was given up early', () => {
    const given = candidates([offer(1)]);
    given.heard(given.next() ?? offer(0), failed('timeout', { isEarly: true }));
    given.again();

    expect(given.next()?.id).toBe(1);
  });
});

describe('a channel whose time was up', () => {
  /** What is told of one that had a second, when the next one answers after so long. */
  function overtaken(answerMs: number, next = offer(2)): unknown[] {
    let nowMs = T0;
    const told: unknown[] = [];
    const given = candidates([offer(1, { priority: 1 }), next], {
      now: () => nowMs,
      overtaken: ({ id }, ...verdict) => told.push([id, ...verdict]),
    });
    const first = given.next() ?? offer(0);
    nowMs += 1_000;
    given.heard(first, failed('timeout'));
    const second = given.next() ?? offer(0);
    nowMs += answerMs;
    given.heard(second, ranked(second));
    return told;
  }

  it('is at fault where another one answers in less time', () => {
    expect(overtaken(999)).toEqual([[1, 'outrun', T0, T0 + 1_999]]);
  });

  it('is at fault where its twin ranks the rest of a list', () => {
    let nowMs = T0;
    const told: number[] = [];
    const given = candidates([offer(1, { priority: 1 }), offer(2)], {
      now: () => nowMs,
      overtaken: ({ id }) => told.push(id),
    });
    const first = given.next() ?? offer(0);
    nowMs += 1_000;
    given.heard(first, failed('timeout', { isEarly: true }));
    const twin = given.twinOf(first) ?? offer(0);
    nowMs += 50;
    given.heard(twin, ranked(twin));
    given.heard(twin, ranked(twin));

    expect(told).toEqual([1]);
  });

  it('is not where it answers itself, asked again', () => {
    let nowMs = T0;
    const told: number[] = [];
    const given = candidates([offer(1)], {
      now: () => nowMs,
      overtaken: ({ id }) => told.push(id),
    });
    const only = given.next() ?? offer(0);
    nowMs += 1_000;
    given.heard(only, failed('timeout', { isEarly: true }));
    given.again();
    given.next();
    nowMs += 50;
    given.heard(only, ranked(only));

    expect(told).toEqual([]);
  });

  it('is not where another one takes as long, or ranks without a model', () => {
    expect(overtaken(1_000)).toEqual([]);
    expect(overtaken(1, offer(2, { provider: 'local', baseUrl: undefined }))).toEqual([]);
  });
});

describe('the twin of a channel', () => {
  const first = offer(1);

  it('is another channel of the same model and provider, given out once', () => {
    const given = candidates([first, offer(2)]);
    given.next();

    expect([given.twinOf(first)?.id, given.twinOf(first)?.id]).toEqual([2, undefined]);
    expect(given.next()).toBeUndefined();
  });

  it.each<[string, Offer]>([
    ['another provider', offer(2, { provider: 'vllm' })],
    ['another model', { ...offer(2), upstreamModel: 'other' }],
    ['other scores', offer(2, { scores: 'normalized' })],
    ['other settings', offer(2, { settings: { maxDocuments: 7 } })],
    ['another length of what it reads', offer(2, { pairTokens: 7 })],
    ['a switch that is off', offer(2, { status: 2 })],
  ])('is none with %s', (_what, other) => {
    const given = candidates([first, other]);
    given.next();

    expect(given.twinOf(first)).toBeUndefined();
  });
});
