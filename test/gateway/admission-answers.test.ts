import { describe, expect, it } from '@jest/globals';
import type { TokenPolicy } from '../../src/core/token.js';
import {
  admit,
  judgeFresh,
  judgeStanding,
  NO_FUNDS,
  type Caller,
} from '../../src/gateway/admission.js';
import { createScope } from '../../src/gateway/scope.js';
import { TokenCache } from '../../src/gateway/token-cache.js';
import {
  StoreUnavailableError,
  type Admission,
  type AdmitRequest,
  type Credential,
} from '../../src/store/store.js';
import { credential } from '../support/credential.js';
import { OPEN_POLICY } from '../support/policy.js';

const T0 = Date.parse('2026-11-01T12:00:00Z');
const HASH = 'a'.repeat(64);
const ADMITTED: Admission = { kind: 'admitted', rate: undefined };
const UNKNOWN: Admission = { kind: 'refused', reason: 'unknown' };

type Answer = () => Promise<Admission>;

/** A node that remembers a key, with a store that answers admissions so, one after the other; the last answer stays. */
function setUp(
  answers: readonly (Admission | Answer)[],
  { stored }: { readonly stored: Credential | undefined } = { stored: credential() },
) {
  const state = { stored, asked: [] as AdmitRequest[], abandoned: [] as string[], refreshed: 0 };
  const store = {
    findToken: () => Promise.resolve(state.stored),
    admit: (request: AdmitRequest) => {
      state.asked.push(request);
      const answer = answers[Math.min(state.asked.length, answers.length) - 1] ?? ADMITTED;
      return typeof answer === 'function' ? answer() : Promise.resolve(answer);
    },
    settle: () => Promise.resolve(undefined),
  };
  const now = () => T0;
  const credentials = new TokenCache({ store, isEmptied: () => false, now });
  const refresh = () => {
    state.refreshed += 1;
    return Promise.resolve();
  };
  const deps = {
    ...{ store, credentials, now },
    channels: { refresh },
    settlements: {
      abandon: ({ reservationId }: AdmitRequest) => state.abandoned.push(reservationId),
    },
    reservationGraceMs: 5_000,
  };
  const caller: Caller = {
    keyHash: HASH,
    credential: credential(),
    addressAllowed: (allowIps) => !allowIps.includes('192.0.2.1'),
  };
  const scope = createScope(T0, 10_000);
  const judged: TokenPolicy[] = [];
  const ask = {
    ...{ caller, scope, reservationId: 'rr_1', amount: 10 },
    judge: (policy: TokenPolicy) => void judged.push(policy),
  };
  return { state, deps, caller, credentials, scope, judged, ask };
}

const away = (didNothing: boolean) => new StoreUnavailableError('away', { didNothing });

describe('an admission', () => {
  it('reserves until its deadline and the grace after it', async () => {
    const { deps, ask, state } = setUp([ADMITTED]);

    const reservation = await admit(deps, ask);

    expect(reservation).toMatchObject({ id: 'rr_1', amount: 10, expiresAtMs: T0 + 15_000 });
    expect(state.asked).toMatchObject([{ version: 1, keyHash: HASH, expiresAtMs: T0 + 15_000 }]);
    expect(state.abandoned).toEqual([]);
  });

  it('judges the key that changed meanwhile, and remembers it', async () => {
    const changed = credential({
      version: 2,
      token: { policy: { ...OPEN_POLICY, tags: ['sea'] } },
    });
    const { deps, ask, state, judged, credentials } = setUp([
      { kind: 'stale', credential: changed },
      ADMITTED,
    ]);

    await admit(deps, ask);

    expect(state.asked.map(({ version }) => version)).toEqual([1, 2]);
    expect(judged.map(({ tags }) => tags)).toEqual([[], ['sea']]);
    expect(credentials.peek(HASH)).toBe(changed);
  });

  it('is refused when the key changes again and again', async () => {
    const { deps, ask, state } = setUp([{ kind: 'stale', credential: credential() }]);

    await expect(admit(deps, ask)).rejects.toMatchObject({
      code: 'overloaded',
      retryAfterMs: 1_000,
    });
    expect(state.asked).toHaveLength(5);
  });

  it('of a key that no longer exists is refused, after a look at the store', async () => {
    const { deps, ask, state } = setUp([UNKNOWN], { stored: undefined });

    await expect(admit(deps, ask)).rejects.toMatchObject({ code: 'invalid_api_key' });
    expect([state.asked.length, state.refreshed]).toEqual([1, 1]);
  });

  it('of a key that has another id by now goes on with the new one, and judges it', async () => {
    const found = credential({ token: { id: 7, policy: { ...OPEN_POLICY, tags: ['sea'] } } });
    const { deps, ask, state, judged } = setUp([UNKNOWN, ADMITTED], { stored: found });

    const reservation = await admit(deps, ask);

    expect(reservation.tokenId).toBe(7);
    expect(state.asked.map(({ tokenId }) => tokenId)).toEqual([1, 7]);
    expect(judged.map(({ tags }) => tags)).toEqual([[], ['sea']]);
  });

  it('does not take a mistake of ours for a refusal', async () => {
    const { deps, ask, state } = setUp([ADMITTED]);
    const mistake = new TypeError('ours');
    const judge = () => {
      throw mistake;
    };

    await expect(admit(deps, { ...ask, judge })).rejects.toBe(mistake);
    expect(state.asked).toEqual([]);
  });

  it('is not asked for by an address that the key leaves out', async () => {
    const { deps, ask, caller, state } = setUp([ADMITTED]);
    caller.credential = credential({
      token: { policy: { ...OPEN_POLICY, allowIps: ['192.0.2.1'] } },
    });
    state.stored = caller.credential;

    await expect(admit(deps, ask)).rejects.toMatchObject({ code: 'ip_not_allowed' });
    expect(state.asked).toEqual([]);
  });
});

describe('an admission whose answer does not come', () => {
  it.each([
    ['may have been made, and is ended', away(false), ['rr_1']],
    ['was not made, and is left alone', away(true), []],
  ])('%s', async (_what, failure, abandoned) => {
    const { deps, ask, state } = setUp([() => Promise.reject(failure)]);

    await expect(admit(deps, ask)).rejects.toMatchObject({
      code: 'store_unavailable',
      retryAfterMs: 1_000,
    });
    expect(state.abandoned).toEqual(abandoned);
  });

  it.each<[string, Admission, readonly string[]]>([
    ['is ended where it was made all the same', ADMITTED, ['rr_1']],
    ['is left alone where it was refused', UNKNOWN, []],
  ])('before its caller leaves %s', async (_what, answer, abandoned) => {
    let comes: (answer: Admission) => void = () => undefined;
    const late = new Promise<Admission>((resolve) => {
      comes = resolve;
    });
    const { deps, ask, state, scope } = setUp([() => late]);
    const admission = admit(deps, ask);
    // The scope listens once the store has been asked.
    await Promise.resolve();

    scope.end('client_gone');
    await expect(admission).rejects.toThrow();
    expect(state.abandoned).toEqual([]);
    comes(answer);
    await late;
    await Promise.resolve();

    expect(state.abandoned).toEqual(abandoned);
  });
});

describe('what the store knows of a key now', () => {
  it.each<[string, Credential | undefined, string]>([
    ['nothing', undefined, 'invalid_api_key'],
    ['a disabled account', credential({ userEnabled: false }), 'user_disabled'],
    ['a disabled key', credential({ token: { enabled: false } }), 'token_disabled'],
    ['an expired key', credential({ token: { expiredTime: T0 / 1000 } }), 'token_expired'],
    [
      'a used-up quota',
      credential({ token: { unlimitedQuota: false, remainQuota: 0 } }),
      'token_quota_exhausted',
    ],
    [
      'another address',
      credential({ token: { policy: { ...OPEN_POLICY, allowIps: ['192.0.2.1'] } } }),
      'ip_not_allowed',
    ],
  ])('is %s, and refuses', async (_what, stored, code) => {
    const { deps, caller } = setUp([], { stored });

    await expect(judgeFresh(deps, caller)).rejects.toMatchObject({ code });
  });

  it('replaces what was remembered if it lets the caller in', async () => {
    const stored = credential({ version: 9 });
    const { deps, caller } = setUp([], { stored });

    await judgeFresh(deps, caller);

    expect(caller.credential).toBe(stored);
  });
});

describe('the standing of a key', () => {
  const limited = credential({ token: { unlimitedQuota: false, remainQuota: 10 } });

  it.each<[string, Credential, number, number, string | undefined]>([
    ['covers what both have', limited, 10, 10, undefined],
    ['does not cover more than the key has', limited, 100, 11, 'token_quota_exhausted'],
    ['does not cover more than the account has', limited, 9, 10, 'insufficient_user_quota'],
    ['is of the account alone where the key is unlimited', credential(), 10, 10, undefined],
    [
      'is none where the key is disabled',
      credential({ token: { enabled: false } }),
      10,
      1,
      'token_disabled',
    ],
  ])('%s', (_what, held, quota, amount, code) => {
    const judge = () => judgeStanding(held, { ...NO_FUNDS, quota }, amount, T0);

    if (code === undefined) expect(judge).not.toThrow();
    else expect(judge).toThrow(expect.objectContaining({ code }));
  });

  it.each([
    ['of the key', 100, 0, 'token_budget_exhausted'],
    ['of the account', 0, 100, 'user_budget_exhausted'],
  ])('does not cover a budget %s that is spent', (_what, ofKey, ofOwner, code) => {
    const spent = (units: number) => ({ spent: units, untilMs: T0 + 60_000 });
    const terms = { budget: 100, budgetPeriod: 'day', budgetTimeZone: 'UTC' } as const;
    const held = credential({
      token: { policy: { ...OPEN_POLICY, ...terms }, budgetUse: spent(ofKey) },
    });
    const owner = { ...NO_FUNDS, quota: 1_000, ...terms, budgetUse: spent(ofOwner) };

    expect(() => judgeStanding(held, owner, 10, T0)).toThrow(
      expect.objectContaining({ code, retryAfterMs: 60_000 }),
    );
  });
});
