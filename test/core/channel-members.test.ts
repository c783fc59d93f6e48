import { describe, expect, it } from '@jest/globals';
import {
  CHANNEL_DEFAULTS,
  CHANNEL_MEMBERS,
  limitsKeys,
  windowMistake,
} from '../../src/core/channel-members.js';
import { memberMistake, type MemberSpec } from '../../src/core/members.js';

describe('the members of a channel', () => {
  it.each(Object.entries<MemberSpec>(CHANNEL_MEMBERS))(
    'have defaults that %s may have, and text that reads as one sentence',
    (name, spec) => {
      expect(memberMistake(spec, CHANNEL_DEFAULTS[name as keyof typeof CHANNEL_DEFAULTS])).toBe(
        undefined,
      );
      expect(spec.help).toMatch(/^[A-Z].*\.$/);
      // What is undefined needs a word for people.
      expect(spec.default ?? spec.unset).toBeDefined();
    },
  );
});

describe('windows of a channel', () => {
  it.each([
    [undefined, undefined, undefined],
    [20, undefined, undefined],
    [20, 19, undefined],
    [20, 20, expect.stringContaining('overlap')],
    [undefined, 10, expect.stringContaining('window_size')],
  ])('of %s documents, each %s on', (windowSize, windowStride, expected) => {
    expect(windowMistake({ windowSize, windowStride })).toEqual(expected);
  });
});

describe('the keys of a channel', () => {
  it.each([
    ['nothing', {}, false],
    ['calls in flight', { keyMaxConcurrency: 1 }, true],
    ['requests', { keyRequestsPerMinute: 1 }, true],
    ['tokens', { keyTokensPerMinute: 1 }, true],
    ['what is limited for the channel alone', { maxConcurrency: 1, requestsPerMinute: 1 }, false],
  ])('have limits of their own where it limits %s', (_what, given, expected) => {
    expect(limitsKeys({ ...CHANNEL_DEFAULTS, ...given })).toBe(expected);
  });
});
