import { describe, expect, it } from '@jest/globals';
import {
  allowsModel,
  isExpired,
  keyHint,
  NEVER_EXPIRES,
  newApiKey,
  TOKEN_DISABLED,
  TOKEN_ENABLED,
  TOKEN_EXHAUSTED,
  TOKEN_EXPIRED,
  tokenStatus,
  type Token,
} from '../../src/core/token.js';
import { NOTHING_USED } from '../../src/core/budget.js';
import { OPEN_POLICY } from '../support/policy.js';

const NOW_SECONDS = 1_800_000_000;
const NOW = NOW_SECONDS * 1000;

const TOKEN: Token = {
  id: 1,
  userId: 2,
  name: 'token',
  enabled: true,
  keyHint: 'sk-abcd…wxyz',
  createdTime: 0,
  accessedTime: 0,
  expiredTime: NEVER_EXPIRES,
  remainQuota: 100,
  unlimitedQuota: false,
  usedQuota: 0,
  budgetUse: NOTHING_USED,
  policy: OPEN_POLICY,
};

const OFF = { enabled: false };
const PAST = { expiredTime: NOW_SECONDS - 1 };
const EMPTY = { remainQuota: 0 };

describe('tokenStatus', () => {
  it.each<[Partial<Token>, number]>([
    [{}, TOKEN_ENABLED],
    [{ expiredTime: NOW_SECONDS + 1 }, TOKEN_ENABLED],
    [{ remainQuota: 1 }, TOKEN_ENABLED],
    [{ ...EMPTY, unlimitedQuota: true }, TOKEN_ENABLED],
    [EMPTY, TOKEN_EXHAUSTED],
    [{ remainQuota: -1 }, TOKEN_EXHAUSTED],
    [PAST, TOKEN_EXPIRED],
    [{ ...PAST, unlimitedQuota: true }, TOKEN_EXPIRED],
    [{ ...PAST, ...EMPTY }, TOKEN_EXPIRED],
    [OFF, TOKEN_DISABLED],
    [{ ...OFF, unlimitedQuota: true }, TOKEN_DISABLED],
    [{ ...OFF, ...PAST, ...EMPTY }, TOKEN_DISABLED],
  ])('of %j is %d', (set, status) => {
    expect(tokenStatus({ ...TOKEN, ...set }, NOW)).toBe(status);
  });
});

describe('isExpired', () => {
  it.each([
    [NEVER_EXPIRES, NOW, false],
    [0, NOW, true],
    [NOW_SECONDS, NOW - 1, false],
    [NOW_SECONDS, NOW, true],
    [NOW_SECONDS, NOW + 1, true],
  ])('of %d at %d ms is %j', (expiredTime, nowMs, expired) => {
    expect(isExpired(expiredTime, nowMs)).toBe(expired);
  });
});

describe('allowsModel', () => {
  it.each([
    [undefined, 'moon', true],
    [['moon'], 'moon', true],
    [['sun', 'moon'], 'moon', true],
    [['sun'], 'moon', false],
    [['moon-2'], 'moon', false],
    [['moon'], 'moon-2', false],
    [['Moon'], 'moon', false],
    [[], 'moon', false],
  ])('of the list %j for %s is %j', (models, model, allowed) => {
    expect(allowsModel({ ...OPEN_POLICY, models }, model)).toBe(allowed);
  });
});

describe('newApiKey', () => {
  it.each([
    ['the first and the last characters', [0, 25, 26, 51, 52, 61], 'AZaz09'.repeat(8)],
    ['bytes above the alphabet from its start again', [62, 247], 'A9'.repeat(24)],
    ['nothing of the bytes that would favour some', [248, 255, 1, 250], 'B'.repeat(48)],
  ])('takes %s', (_, bytes, characters) => {
    const repeated = (count: number) =>
      Uint8Array.from({ length: count }, (_value, index) => bytes[index % bytes.length] ?? 0);

    expect(newApiKey(repeated)).toBe(`sk-${characters}`);
  });
});

describe('keyHint', () => {
  it.each([
    ['sk-abcdefghijklmnop', 'sk-abcd…mnop'],
    ['abcdefghijklmnop', 'sk-abcd…mnop'],
  ])('of %s is %s', (key, hint) => {
    expect(keyHint(key)).toBe(hint);
  });
});
