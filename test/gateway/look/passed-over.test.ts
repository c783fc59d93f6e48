import { describe, expect, it } from '@jest/globals';
import { documentsOf, type Documents } from '../../../src/bytes/index.js';
import type { Channel, TagSwitch } from '../../../src/core/channel.js';
import type { Misfit, Room } from '../../../src/core/eligibility.js';
import { textDocuments } from '../../../src/core/text-documents.js';
import type { Availability, HealthReport } from '../../../src/gateway/channels/state.js';
import { passedOverBy, servesOthers } from '../../../src/gateway/look/passed-over.js';
import { offer } from '../../support/offers.js';
import { OPEN_POLICY } from '../../support/policy.js';

const T0 = Date.UTC(2026, 0, 2, 3, 4, 5);

const HEALTHY: HealthReport = {
  ...{ inFlight: 0, breaker: 'closed', outUntilMs: 0, reason: '' },
};

const TARGET = { model: 'm', tag: undefined };
const NO_SWITCHES = { version: 1, channels: [], locked: new Set<number>(), switches: [] };
const NOT_ASKED = {
  store: { listAudit: () => Promise.reject(new Error('nobody is asked who did it')) },
  healthOf: () => HEALTHY,
};
const REQUEST = {
  ...{ model: 'm', query: 'qq', documents: textDocuments(['a']), topN: 1 },
  ...{ returnDocuments: false, options: {} },
};
const LIMITED: Partial<Channel> = {
  ...{
    requestsPerMinute: 60,
    tokensPerMinute: 61,
    tag: 'eu',
    budget: 1_250_000,
    budgetPeriod: 'week',
  },
  ...{ keyRequestsPerMinute: 62, keyTokensPerMinute: 63, budgetPeriod: 'week' },
};

/** Why a channel that may have four attempts at once is passed over. */
async function whyBusy(
  availability: Exclude<Availability, { kind: 'ready' }>,
  health: Partial<HealthReport> = {},
  channel: Parameters<typeof offer>[1] = {},
) {
  const passed = await passedOverBy(
    { ...NOT_ASKED, healthOf: () => ({ ...HEALTHY, ...health }) },
    { request: REQUEST, policy: OPEN_POLICY },
    TARGET,
    NO_SWITCHES,
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

  it('says why its circuit is open, and until when', async () => {
    const open = { breaker: 'open', reason: '3 timeouts' } as const;

    expect(await whyBusy({ kind: 'until', atMs: T0 }, open)).toEqual([
      'cooling',
      'Its circuit is open (3 timeouts): it is paused until 2026-01-02T03:04:05.000Z.',
    ]);
  });

  it.each([
    ['requests_per_minute', 'at_limit', 'sent it the 60 calls that it takes in a minute'],
    ['tokens_per_minute', 'at_limit', 'sent it the 61 tokens that it takes in a minute'],
    ['key_requests_per_minute', 'at_limit', 'the 62 calls that each of its keys takes in a minute'],
    ['key_tokens_per_minute', 'at_limit', 'the 63 tokens that each of its keys takes in a minute'],
    ['budget', 'over_budget', 'Its budget of $2.50 for this week is used up'],
    ['tag_budget', 'over_budget', 'The budget of its tag "eu" is used up'],
  ] as const)('names the limit %s, and until when', async (limit, kind, what) => {
    const [because, message] = await whyBusy({ kind: 'until', atMs: T0, limit }, {}, LIMITED);

    expect(because).toBe(kind);
    expect(message).toContain(`${what}: it is passed over until 2026-01-02T03:04:05.000Z.`);
  });
});

/** Why a channel with that room is passed over for a request of a query and texts, or documents. */
async function whyMisfit(
  limit: Misfit['limit'],
  room: Partial<Room>,
  documents: Documents = textDocuments(['three', 'seven..', 'nine.....']),
) {
  const one = offer(1);
  const passed = await passedOverBy(
    NOT_ASKED,
    { request: { ...REQUEST, documents }, policy: OPEN_POLICY },
    TARGET,
    NO_SWITCHES,
    { ...one, room: { ...one.room, ...room } },
    { kind: 'misfit', misfit: { limit } as Misfit },
  );
  return [passed.because, passed.message];
}

describe('a channel that is passed over because a request does not fit it', () => {
  it('says how many documents it takes, with images or without', async () => {
    const image = 'https://example.com/moon.png';
    const images = documentsOf(Array(3).fill({ image, source: { image } }));
    const room = { documents: 2, documentsWithImages: 1 };

    expect(await whyMisfit('documents', room, images)).toEqual([
      'too_many_documents',
      'It takes 1 documents at most; the request has 3.',
    ]);
    expect((await whyMisfit('documents', room))[1]).toContain('takes 2 documents at most');
    expect(await whyMisfit('images', room)).toEqual(['no_images', 'It does not take images.']);
  });

  it.each([
    [
      { queryCharacters: 1, documentCharacters: 8, requestCharacters: 22 },
      'It takes a query of 1 characters at most (here 2), a document of 8 characters at most (here 9), a request of 22 characters at most (here 23).',
    ],
    [
      { queryCharacters: 2, documentCharacters: 9, requestCharacters: 22 },
      'It takes a request of 22 characters at most (here 23).',
    ],
    // What it exceeds is counted in tokens or bytes: characters are not the cause.
    [
      { queryCharacters: 2, documentCharacters: 9, requestCharacters: 23, requestTokens: 3 },
      'The texts are too long for it.',
    ],
  ])('names the lengths that the request exceeds: %j', async (room, message) => {
    expect(await whyMisfit('length', room)).toEqual(['too_long', message]);
  });
});

describe('a channel that is passed over because it is off', () => {
  const outage = { reason: 'no_credit', message: 'Pay first.', sinceMs: T0 } as const;
  const byRoot = { atMs: T0, actor: 'root', detail: { status: 2, reason: 'broken' } };
  const eu = { tag: 'eu', disabled: true, reason: 'audit', changedTime: T0 / 1000 };
  const since = T0 / 1000;

  it.each<[string, Partial<Channel>, TagSwitch[], object[], string, object]>([
    [
      'by the gateway',
      { status: 3, outage },
      [],
      [],
      'It was disabled automatically at 2026-01-02T03:04:05.000Z: its account is out of credit: Pay first.',
      { because: 'auto_disabled', by: 'gateway', since },
    ],
    [
      'by hand',
      { status: 2 },
      [],
      [{ ...byRoot, detail: { weight: 2 } }, byRoot],
      'It was disabled by root at 2026-01-02T03:04:05.000Z: broken',
      { because: 'disabled', by: 'root', since },
    ],
    [
      'by hand, before the oldest entry of the audit log',
      { status: 2 },
      [],
      [],
      'It is disabled.',
      { because: 'disabled' },
    ],
    [
      'with its tag',
      { tag: 'eu' },
      [{ ...eu, changedBy: 'ops' }],
      [],
      'Its tag "eu" was switched off by ops at 2026-01-02T03:04:05.000Z: audit',
      { because: 'tag_disabled', by: 'ops', since },
    ],
    [
      'with its tag, by nobody who is known',
      { tag: 'eu' },
      [{ ...eu, reason: '', changedBy: undefined }],
      [],
      'Its tag "eu" was switched off at 2026-01-02T03:04:05.000Z.',
      { because: 'tag_disabled', since },
    ],
  ])('says who did it, when and why: %s', async (_how, channel, switches, items, message, more) => {
    const passed = await passedOverBy(
      { ...NOT_ASKED, store: { listAudit: () => Promise.resolve({ items, total: 0 } as never) } },
      { request: REQUEST, policy: OPEN_POLICY },
      TARGET,
      { ...NO_SWITCHES, switches },
      offer(1, channel),
      { kind: 'switched_off' },
    );

    expect(passed).toEqual({
      ...{ id: 1, name: 'channel 1', provider: 'tei', tag: channel.tag, message, ...more },
    });
  });
});

it('a channel of other models is passed over with the names of five', () => {
  const served = (...models: string[]) =>
    servesOthers(
      offer(1, { models: Object.fromEntries(['m', ...models].map((m) => [m, m])) }).route.channel,
    );

  expect(served('b', 'c', 'd', 'e').message).toBe('It serves m, b, c, d, e.');
  expect(served('b', 'c', 'd', 'e', 'f', 'g').message).toBe('It serves m, b, c, d, e and 2 more.');
});
