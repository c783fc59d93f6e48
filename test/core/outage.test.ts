import { describe, expect, it } from '@jest/globals';
import {
  certaintyOf,
  isEnough,
  nextTryMs,
  outageText,
  tallied,
  type OutageReason,
  type Tally,
} from '../../src/core/outage.js';
import type { FaultKind } from '../../src/core/retry.js';

const T0 = 1_700_000_000_000;
const RULE = { failures: 3, windowMs: 60_000 };

describe('what a failure says for certain', () => {
  it.each<[OutageReason | undefined, FaultKind, number | undefined, string]>([
    ['credentials_refused', 'misconfigured', 401, 'no api key supplied'],
    ['credentials_refused', 'misconfigured', 401, ''],
    ['credentials_refused', 'misconfigured', 403, 'Forbidden'],
    [
      'credentials_refused',
      'misconfigured',
      400,
      'API key not valid. Please pass a valid API key.',
    ],
    [
      'credentials_refused',
      'misconfigured',
      200,
      'AuthFailure: The provided credentials are not valid',
    ],
    ['no_credit', 'misconfigured', 402, ''],
    ['no_credit', 'misconfigured', 401, 'Your account balance is insufficient'],
    ['no_credit', 'misconfigured', 429, 'You exceeded your current quota, please check your plan'],
    ['no_credit', 'misconfigured', 400, 'Arrearage: access denied'],
    [
      'no_credit',
      'misconfigured',
      429,
      'limited to 1000 API calls per month: monthly limit reached',
    ],
    // A model is not all that a key is for.
    [undefined, 'misconfigured', 403, 'This key has no access to model rerank-x'],
    [undefined, 'misconfigured', 404, 'model not found'],
    [undefined, 'misconfigured', 403, 'This key may not use models of this kind'],
    [undefined, 'misconfigured', 404, ''],
    [undefined, 'misconfigured', 501, 'not implemented'],
    // Nobody has answered.
    [
      undefined,
      'misconfigured',
      undefined,
      'the private key of the service account cannot be read',
    ],
    [undefined, 'busy', 429, 'rate limit reached'],
    [undefined, 'transient', 500, 'authentication backend failed'],
    [undefined, 'timeout', undefined, ''],
    [undefined, 'rejected', 400, 'insufficient balance'],
  ])('%s: %s %s %j', (certain, kind, status, message) => {
    expect(certaintyOf({ kind, status, message })).toBe(certain);
  });
});

describe('how often it must be said', () => {
  const after = (said: readonly [OutageReason, number][]): Tally | undefined => {
    let tally: Tally | undefined;
    for (const [reason, atMs] of said) tally = tallied(tally, reason, T0 + atMs, RULE);
    return tally;
  };

  it.each<[boolean, string, readonly [OutageReason, number][]]>([
    [
      false,
      'twice',
      [
        ['no_credit', 0],
        ['no_credit', 1],
      ],
    ],
    [
      true,
      'three times',
      [
        ['no_credit', 0],
        ['no_credit', 1],
        ['no_credit', 59_999],
      ],
    ],
    [
      false,
      'the third time too late',
      [
        ['no_credit', 0],
        ['no_credit', 1],
        ['no_credit', 60_000],
      ],
    ],
    [
      false,
      'not the same',
      [
        ['no_credit', 0],
        ['no_credit', 1],
        ['credentials_refused', 2],
        ['no_credit', 3],
      ],
    ],
  ])('%s: %s', (enough, _what, said) => {
    const tally = after(said);
    expect(tally !== undefined && isEnough(tally, RULE)).toBe(enough);
  });

  it('is never enough where the rule is off', () => {
    const tally = { reason: 'no_credit', count: 1_000, sinceMs: T0 } as const;
    expect(isEnough(tally, { ...RULE, failures: 0 })).toBe(false);
  });
});

it.each([
  [0, 0, 900],
  [0, 1, 1_000],
  [1, 1, 2_000],
  [3, 1, 8_000],
  [4, 1, 10_000],
  [400, 0, 9_000],
])('after %d failures, by chance %d, the next try is due in %d ms', (failures, chance, waitMs) => {
  expect(nextTryMs(failures, { firstMs: 1_000, longestMs: 10_000 }, () => chance)).toBe(waitMs);
});

it('is told in words, with those of the upstream', () => {
  const outage = { reason: 'no_credit', message: 'top up', sinceMs: T0 } as const;

  expect(outageText(outage)).toBe('its account is out of credit: top up');
  expect(outageText({ ...outage, message: '' })).toBe('its account is out of credit');
});
