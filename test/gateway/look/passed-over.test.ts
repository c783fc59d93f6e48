import { describe, expect, it } from '@jest/globals';
import { documentsOf } from '../../../src/bytes/index.js';
import { textDocuments } from '../../../src/core/text-documents.js';
import type { Availability, HealthReport } from '../../../src/gateway/channels/state.js';
import { passedOverBy } from '../../../src/gateway/look/passed-over.js';
import { offer } from '../../support/offers.js';
import { OPEN_POLICY } from '../../support/policy.js';

const T0 = Date.UTC(2026, 0, 2, 3, 4, 5);

const HEALTHY: HealthReport = {
  ...{ inFlight: 0, breaker: 'closed', outUntilMs: 0, reason: '' },
};

/** Why a channel that may have four attempts at once is passed over. */
async function whyBusy(
  availability: Exclude<Availability, { kind: 'ready' }>,
  health: Partial<HealthReport> = {},
  channel: Parameters<typeof offer>[1] = {},
) {
  const passed = await passedOverBy(
    {
      store: { listAudit: () => Promise.reject(new Error('nobody is asked who did it')) },
      healthOf: () => ({ ...HEALTHY, ...health }),
    },
    {
      request: {
        ...{ model: 'm', query: 'q', documents: textDocuments(['a']), topN: 1 },
        ...{ returnDocuments: false, options: {} },
      },
      policy: OPEN_POLICY,
    },
    { model: 'm', tag: undefined },
    { channels: [], switches: new Map() } as never,
    offer(1, { maxConcurrency: 4, ...channel }),
    { kind: 'busy', availability },
  );
  return [passed.because, passed.message];
}

describe('a channel that is passed over because it is busy', () => {
  it.each([
    ['here', { inFlight: 4 }, {}, 'It has 4 attempts under way, which is as many as it may have.'],
    [
      'on all nodes together',
      { inFlight: 1 },
      {},
      'All nodes together have 4 attempts under way, as many as it may have; this one has 1.',
    ],
    [
      'by what it was found to take',
      { inFlight: 2 },
      { adaptiveConcurrency: true },
      'It has 2 attempts under way, which is as many as it may have.',
    ],
    [
      'with the attempt that tests it',
      { inFlight: 1, breaker: 'half_open' },
      {},
      'Its circuit is half open, and the one attempt that tests it is under way.',
    ],
  ] as const)('says that it is full %s', async (_where, health, channel, message) => {
    expect(await whyBusy({ kind: 'full' }, health, channel)).toEqual(['full', message]);
  });

  it('says that the provider refuses its keys, and not that it is overloaded', async () => {
    const until = { kind: 'until', atMs: T0 } as const;

    expect(await whyBusy({ ...until, isRefused: true })).toEqual([
      'cooling',
      'The provider refuses its keys; the first is tried again at 2026-01-02T03:04:05.000Z.',
    ]);
    expect(await whyBusy(until)).toEqual([
      'cooling',
      'It reported that it is overloaded, and is paused until 2026-01-02T03:04:05.000Z.',
    ]);
  });

  it('names the limit that is used up, and until when', async () => {
    const until = { kind: 'until', atMs: T0, limit: 'requests_per_minute' } as const;

    const [because, message] = await whyBusy(until, {}, { requestsPerMinute: 60 });

    expect(because).toBe('at_limit');
    expect(message).toContain('60');
    expect(message).toContain('2026-01-02T03:04:05');
  });
});

it('a channel that is passed over for too many documents says how many it takes with images', async () => {
  const one = offer(1);
  const image = 'https://example.com/moon.png';
  const documents = documentsOf(Array(3).fill({ image, source: { image } }));
  const why = (asked: typeof documents) =>
    passedOverBy(
      {
        store: { listAudit: () => Promise.reject(new Error('not asked')) },
        healthOf: () => HEALTHY,
      },
      {
        request: {
          ...{ model: 'm', query: 'q', documents: asked, topN: 1 },
          ...{ returnDocuments: false, options: {} },
        },
        policy: OPEN_POLICY,
      },
      { model: 'm', tag: undefined },
      { channels: [], switches: new Map() } as never,
      { ...one, room: { ...one.room, documents: 2, documentsWithImages: 1 } },
      { kind: 'misfit', misfit: { limit: 'documents' } as never },
    );

  expect((await why(documents)).message).toContain('takes 1 documents at most');
  expect((await why(textDocuments(['a', 'b', 'c']))).message).toContain(
    'takes 2 documents at most',
  );
});
