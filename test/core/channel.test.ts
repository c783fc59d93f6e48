import { describe, expect, it } from '@jest/globals';
import {
  chancesOf,
  effectiveStatus,
  isSameAccount,
  nextChannel,
  statusOnceDeclared,
  type Candidate,
  type Channel,
  type ChannelStatus,
} from '../../src/core/channel.js';
import { CHANNEL_DEFAULTS } from '../../src/core/channel-members.js';
import { Secret } from '../../src/core/secret.js';

const candidate = (id: number, priority: number, weight: number): Candidate => ({
  id,
  priority,
  weight,
});

describe('nextChannel', () => {
  it('exhausts the highest priority before the next one', () => {
    const candidates = [candidate(1, 0, 1), candidate(2, 5, 1), candidate(3, 5, 1)];
    const tried = new Set<number>();
    const order: number[] = [];

    for (;;) {
      const next = nextChannel(candidates, tried, () => 0.99);
      if (next === undefined) break;
      tried.add(next.id);
      order.push(next.id);
    }

    expect(order).toEqual([3, 2, 1]);
  });

  it('draws by weight', () => {
    const candidates = [candidate(1, 0, 1), candidate(2, 0, 3)];

    const drawn = [0, 0.24, 0.26, 0.99].map(
      (point) => nextChannel(candidates, new Set(), () => point)?.id,
    );

    expect(drawn).toEqual([1, 1, 2, 2]);
  });

  it('takes weight 0 only when nothing else is left in the tier', () => {
    const candidates = [candidate(1, 0, 0), candidate(2, 0, 1)];

    expect(nextChannel(candidates, new Set(), () => 0)?.id).toBe(2);
    expect(nextChannel(candidates, new Set([2]), () => 0)?.id).toBe(1);
  });

  it('draws evenly among several of weight 0', () => {
    const candidates = [candidate(1, 0, 0), candidate(2, 0, 0), candidate(3, 0, 0)];

    const drawn = [0, 0.34, 0.99].map(
      (point) => nextChannel(candidates, new Set(), () => point)?.id,
    );

    expect(drawn).toEqual([1, 2, 3]);
  });

  it('has nothing when all were tried', () => {
    expect(nextChannel([candidate(1, 0, 1)], new Set([1]), () => 0)).toBeUndefined();
  });
});

describe('effectiveStatus', () => {
  const off = new Map([
    ['eu', { tag: 'eu', disabled: true, reason: 'incident', changedTime: 0, changedBy: 'root' }],
  ]);

  it.each([
    [{ status: 1 as const, tag: 'us' }, { live: true }],
    [{ status: 1 as const, tag: undefined }, { live: true }],
    [
      { status: 1 as const, tag: 'eu' },
      { live: false, because: 'tag_disabled', reason: 'incident' },
    ],
    [
      { status: 2 as const, tag: 'eu' },
      { live: false, because: 'disabled' },
    ],
    [
      { status: 3 as const, tag: undefined },
      { live: false, because: 'auto_disabled' },
    ],
  ])('of %j is %j', (channel, expected) => {
    expect(effectiveStatus(channel, off)).toEqual(expected);
  });
});

describe('chancesOf', () => {
  it.each([
    ['their share of the weight', [1, 3, 0], [0.25, 0.75, 0]],
    ['equal ones without weights', [0, 0], [0.5, 0.5]],
  ])('gives channels %s', (_what, weights, chances) => {
    expect(chancesOf(weights.map((weight, at) => candidate(at, 0, weight)))).toEqual(chances);
  });
});

describe('isSameAccount', () => {
  const channel: Channel = {
    ...CHANNEL_DEFAULTS,
    id: 1,
    name: 'one',
    provider: 'cohere',
    baseUrl: 'https://one.test',
    credentials: { apiKey: new Secret('k1') },
    models: { moon: 'moon' },
    tag: undefined,
    status: 1,
    settings: { region: 'eu' },
    origin: 'store',
  };

  it.each<[string, Partial<Channel>, boolean]>([
    ['name, models and status', { id: 2, name: 'two', models: {}, status: 2 }, true],
    ['provider', { provider: 'jina' }, false],
    ['address', { baseUrl: 'https://two.test' }, false],
    ['key', { credentials: { apiKey: new Secret('k2') } }, false],
    ['settings', { settings: { region: 'us' } }, false],
  ])('of channels that differ in %s', (_what, change, expected) => {
    expect(isSameAccount(channel, { ...channel, ...change })).toBe(expected);
  });
});

describe('statusOnceDeclared', () => {
  it.each<[string, ChannelStatus, ChannelStatus | undefined, ChannelStatus, ChannelStatus]>([
    ['follows the declaration', 1, 1, 2, 2],
    ['stays as somebody set it', 2, 1, 1, 2],
    ['stays as somebody set it against a changed declaration', 1, 2, 1, 1],
    ['stays disabled by the gateway', 3, 1, 1, 3],
    ['follows a declaration that changed since the gateway disabled it', 3, 1, 2, 2],
    ['follows one that is new since the gateway disabled it', 3, undefined, 1, 1],
  ])('%s', (_what, before, declaredBefore, declared, expected) => {
    expect(statusOnceDeclared(before, declaredBefore, declared)).toBe(expected);
  });
});
