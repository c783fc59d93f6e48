import { describe, expect, it } from '@jest/globals';
import { GatewayError } from '../../src/core/errors.js';
import type { Token } from '../../src/core/token.js';
import type { AdmissionDeps, Caller } from '../../src/gateway/admission.js';
import { Door } from '../../src/gateway/door.js';
import type { Credential } from '../../src/store/store.js';
import { credential } from '../support/credential.js';
import { OPEN_POLICY } from '../support/policy.js';

const T0 = 1_700_000_000_000;

/** A door at a clock that the test turns, before a store that says what the test says. */
function setUp(remembered: Credential) {
  const state = { nowMs: T0, stored: remembered as Credential | undefined, asked: 0 };
  const unused = (): never => {
    throw new Error('the door asks for this');
  };
  const deps: Pick<AdmissionDeps, 'credentials' | 'now'> = {
    credentials: {
      findFresh: () => {
        state.asked += 1;
        return Promise.resolve(state.stored);
      },
    } as unknown as AdmissionDeps['credentials'],
    now: () => state.nowMs,
  };
  const door = new Door({
    ...deps,
    store: undefined as unknown as AdmissionDeps['store'],
    channels: { refresh: unused },
    settlements: { abandon: unused },
    reservationGraceMs: 0,
  });
  const caller: Caller = {
    keyHash: remembered.keyHash,
    credential: remembered,
    addressAllowed: (list) => list.includes('192.0.2.7'),
  };
  const judge = async (inFlight = 1): Promise<string> => {
    try {
      await door.judge(caller, inFlight);
      return 'in';
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      return error.code;
    }
  };
  return { state, door, caller, judge };
}

const limited = (policy: Partial<Token['policy']>): Credential =>
  credential({ token: { policy: { ...OPEN_POLICY, ...policy } } });

describe('the door', () => {
  it('lets a key in without asking anybody if nothing is known against it', () => {
    const { door, caller, state } = setUp(credential());

    expect(door.judge(caller, 1)).toBeUndefined();
    expect(state.asked).toBe(0);
  });

  it.each<[string, Credential, string]>([
    ['is disabled', credential({ token: { enabled: false } }), 'token_disabled'],
    ['has expired', credential({ token: { expiredTime: T0 / 1000 - 1 } }), 'token_expired'],
    [
      'has no quota left',
      credential({ token: { unlimitedQuota: false, remainQuota: 0 } }),
      'token_quota_exhausted',
    ],
    ['is of a disabled account', credential({ userEnabled: false }), 'user_disabled'],
    ['may be used elsewhere only', limited({ allowIps: ['192.0.2.8'] }), 'ip_not_allowed'],
  ])('refuses a key that %s, by what the store says now', async (_, known, code) => {
    const { judge, state } = setUp(known);

    expect(await judge()).toBe(code);
    state.stored = credential();
    expect(await judge()).toBe('in');
  });

  it('refuses a key whose budget is used up, until it renews or is raised', async () => {
    const budget = { budget: 100, budgetPeriod: 'day', budgetTimeZone: 'UTC' } as const;
    const policy = { ...OPEN_POLICY, ...budget };
    const used = (spent: number): Credential =>
      credential({ token: { policy, budgetUse: { spent, untilMs: T0 + 30_000 } } });
    const { door, judge, caller, state } = setUp(used(0));
    const held = (): void =>
      door.remember(
        caller,
        new GatewayError('token_budget_exhausted', 'Used up.', { retryAfterMs: 30_000 }),
      );

    held();
    state.stored = used(100);
    expect(await judge()).toBe('token_budget_exhausted');
    state.nowMs += 30_000;
    expect(await judge()).toBe('in');
    state.nowMs = T0;
    held();
    state.stored = used(99);
    expect(await judge()).toBe('in');
  });

  it('refuses a key that is no longer there', async () => {
    const { judge, state } = setUp(credential({ token: { enabled: false } }));
    state.stored = undefined;

    expect(await judge()).toBe('invalid_api_key');
  });

  it.each([
    ['places', { maxConcurrency: 2 }, 'too_many_concurrent_requests'],
    ['requests a minute', { rateLimit: 2 }, 'rate_limited'],
  ] as const)('lets no more in on this node than the key has %s', async (_, policy, code) => {
    const { judge } = setUp(limited(policy));

    expect([await judge(1), await judge(2), await judge(3)]).toEqual(['in', 'in', code]);
  });

  it('lets more in once the store says that the key may', async () => {
    const { judge, state } = setUp(limited({ maxConcurrency: 2 }));
    state.stored = limited({ maxConcurrency: 5 });

    expect(await judge(3)).toBe('in');
  });

  it('holds back a key that was just refused for its rate, until that has passed', async () => {
    const { door, caller, judge, state } = setUp(limited({ rateLimit: 10 }));
    const error = new GatewayError('rate_limited', 'slow down', { retryAfterMs: 5_000 });
    door.remember(caller, error);

    expect(await judge()).toBe('rate_limited');
    state.nowMs += 4_999;
    expect(await judge()).toBe('rate_limited');
    state.nowMs += 1;
    expect(await judge()).toBe('in');
    state.asked = 0;
    expect(await judge()).toBe('in');
    expect(state.asked).toBe(0);
  });

  it.each([5_000, 90_000_000])('says how much is left of a wait of %d ms', async (waitMs) => {
    const { door, caller, state } = setUp(limited({ rateLimit: 10 }));
    const headers = { 'RateLimit-Limit': '10', 'RateLimit-Reset': '31' };
    door.remember(
      caller,
      new GatewayError('rate_limited', 'slow down', { retryAfterMs: waitMs, headers }),
    );
    state.nowMs += 2_000;

    await expect(door.judge(caller, 1)).rejects.toMatchObject({
      retryAfterMs: waitMs - 2_000,
      headers: { 'RateLimit-Limit': '10', 'RateLimit-Reset': '29' },
    });
  });

  it('forgets a refusal of a time to come, as after a clock that was set back', async () => {
    const { door, caller, judge, state } = setUp(limited({ rateLimit: 10 }));
    door.remember(caller, new GatewayError('rate_limited', 'slow down', { retryAfterMs: 5_000 }));
    state.nowMs -= 3_600_000;

    expect(await judge()).toBe('in');
  });

  it('forgets a refusal when the key was changed', async () => {
    const { door, caller, judge, state } = setUp(limited({ rateLimit: 10 }));
    door.remember(caller, new GatewayError('rate_limited', 'slow down', { retryAfterMs: 5_000 }));
    state.stored = { ...limited({ rateLimit: 100 }), version: 2 };

    expect(await judge()).toBe('in');
  });

  it('holds nobody back for longer than a minute, or for what is not up to the key', async () => {
    const { door, caller, judge, state } = setUp(credential());
    door.remember(caller, new GatewayError('upstream_error', 'no', { retryAfterMs: 5_000 }));
    expect(await judge()).toBe('in');
    expect(state.asked).toBe(0);

    door.remember(caller, new GatewayError('rate_limited', 'no', { retryAfterMs: 3_600_000 }));
    state.nowMs += 60_000;
    expect(await judge()).toBe('in');
  });
});
