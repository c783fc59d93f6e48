import { describe, expect, it } from '@jest/globals';
import { CHANNEL_DEFAULTS } from '../../src/core/channel-members.js';
import type { Channel } from '../../src/core/channel.js';
import { OPEN_POLICY, type Token } from '../../src/core/token.js';
import {
  channelRevision,
  codeRevision,
  tokenRevision,
  userRevision,
} from '../../src/management/revision.js';
import type { RedemptionCode, User } from '../../src/store/store.js';

const channel = {
  ...{ ...CHANNEL_DEFAULTS, name: 'eu', provider: 'cohere', baseUrl: 'http://a', tag: 'eu' },
  ...{ models: { moon: 'm' }, settings: { a: 1 }, status: 1, credentialNames: ['apiKey'] },
} as unknown as Channel & { readonly credentialNames: readonly string[] };
const token = {
  ...{ id: 1, name: 'a key', enabled: true, expiredTime: -1, unlimitedQuota: true },
  ...{ remainQuota: 5, usedQuota: 5, policy: OPEN_POLICY },
} as unknown as Token;
const user = {
  ...{ username: 'ann', email: 'a@example.com', displayName: 'Ann', role: 1, enabled: true },
  ...{ quota: 5, usedQuota: 5 },
} as unknown as User;
const code = { name: 'a code', quota: 5, expiredTime: 0, status: 'enabled' } as RedemptionCode;

/** A thing, a change of it, and whether its revision is another one afterwards. */
const changes = <T extends object>(of: (item: T) => string, item: T, change: object): boolean =>
  of(item) !== of({ ...item, ...change });

describe('a revision', () => {
  it.each([
    ...[{ name: 'b' }, { provider: 'tei' }, { baseUrl: 'b' }, { models: {} }, { settings: {} }],
    ...[{ tag: undefined }, { status: 2 }, { credentialNames: [] }, { weight: 9 }],
  ])('is another after a change of a channel: %j', (change) => {
    expect(changes(channelRevision, channel, change)).toBe(true);
  });

  it.each([
    ...[{ name: 'b' }, { enabled: false }, { expiredTime: 5 }, { unlimitedQuota: false }],
    { policy: { ...OPEN_POLICY, rateLimit: 1 } },
  ])('is another after a change of a key: %j', (change) => {
    expect(changes(tokenRevision, token, change)).toBe(true);
  });

  it.each([
    ...[{ username: 'b' }, { email: undefined }, { displayName: '' }, { role: 5 }],
    { enabled: false },
  ])('is another after a change of an account: %j', (change) => {
    expect(changes(userRevision, user, change)).toBe(true);
  });

  it.each([{ name: 'b' }, { quota: 6 }, { expiredTime: 5 }, { status: 'disabled' }])(
    'is another after a change of a code: %j',
    (change) => {
      expect(changes(codeRevision, code, change)).toBe(true);
    },
  );

  it('is the same whatever traffic and the gateway itself do, and in whatever order it is read', () => {
    const { name, ...rest } = channel;
    const seen = [
      changes(channelRevision, channel, { status: 3 }),
      changes(tokenRevision, token, { remainQuota: 1, usedQuota: 9 }),
      changes(userRevision, user, { quota: 1, usedQuota: 9 }),
      channelRevision({ ...rest, name }) !== channelRevision(channel),
    ];

    expect(seen).toEqual([false, false, false, false]);
  });
});
