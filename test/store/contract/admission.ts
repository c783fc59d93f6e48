import { describe, expect, test } from '@jest/globals';
import { fc } from '../../support/property.js';
import { RATE_WINDOW_MS, takeRate, type RateWindow } from '../../../src/core/rate-limit.js';
import {
  LAPSED_MS,
  type Admission,
  type AdmitRequest,
  type Credential,
  type Store,
} from '../../../src/store/store.js';
import {
  admitRequest,
  createToken,
  createUser,
  freshStore,
  newToken,
  settlement,
  T0,
  T0_SECONDS,
  unique,
  type OpenHarness,
  sha256,
} from './harness.js';
import { OPEN_POLICY } from '../../support/policy.js';

const LATER = T0 + 120_000;

export function describeAdmission(open: OpenHarness): void {
  describe('admission', () => {
    const given = freshStore(open);

    test('finds a token by the hash of its key, and nothing by another hash', async () => {
      const userId = await createUser(given.store);
      const wanted = newToken(userId, {
        policy: {
          models: ['rerank-v1'],
          allowIps: ['10.0.0.0/8'],
          tags: ['eu'],
          defaultModel: 'rerank-v1',
          aliases: { 'rerank-v3.5': 'rerank-v1' },
          fallbacks: ['rerank-v2'],
          rateLimit: 7,
          maxConcurrency: 3,
          dialect: 'tei',
          mayExplain: true,
          replyCache: false,
          replyCacheTtlMs: 60_000,
          budget: 500,
          budgetPeriod: 'day',
          budgetTimeZone: 'Asia/Tokyo',
          labels: 'env=prod,team=search',
        },
      });
      const token = await given.store.createToken(wanted, T0);

      expect(await given.store.findToken(wanted.keyHash)).toEqual({
        token,
        version: expect.any(Number),
        keyHash: wanted.keyHash,
        userEnabled: true,
      });
      expect(await given.store.findToken('0'.repeat(64))).toBeUndefined();
    });

    test('reserves on token and user at once, and marks the token as used', async () => {
      const credential = await createToken(given.store, { remainQuota: 100, userQuota: 500 });

      const admission = await given.store.admit(
        admitRequest(credential, { amount: 30, nowMs: T0 + 5_999 }),
      );

      expect(admission).toEqual({ kind: 'admitted', rate: undefined });
      expect(await balances(given.store, credential)).toEqual({ token: 70, user: 470 });
      const token = await given.store.getToken(credential.token.id, T0 + 5_999);
      expect(token?.accessedTime).toBe(T0_SECONDS + 5);
      expect(token?.usedQuota).toBe(0);
    });

    test('settles a reservation for its own user alone', async () => {
      const credential = await createToken(given.store, { userQuota: 500 });
      const other = await createToken(given.store, { userQuota: 500 });
      const request = admitRequest(credential, { amount: 30 });
      await given.store.admit(request);
      const { userId, id: tokenId } = other.token;

      const foreign = settlement({ ...request, userId, tokenId }, { cost: 5 });
      expect(await given.store.settle(foreign)).toBeUndefined();

      expect((await balances(given.store, other)).user).toBe(500);
      expect((await balances(given.store, credential)).user).toBe(470);
      expect(await given.store.settle(settlement(request, { cost: 5 }))).toBe(5);
      expect((await balances(given.store, credential)).user).toBe(495);
    });

    test('counts no request in the rate that finds no place, though it comes with one that does', async () => {
      const policy = { ...OPEN_POLICY, rateLimit: 10, maxConcurrency: 1 };
      const credential = await createToken(given.store, { policy });
      const requests = [0, 1, 2, 3].map(() => admitRequest(credential));

      const admissions = await Promise.all(requests.map((one) => given.store.admit(one)));
      const admitted = requests.filter((_, at) => admissions[at]?.kind === 'admitted');
      for (const one of admitted) await given.store.settle(settlement(one, { cost: 0 }));

      expect(admitted).toHaveLength(1);
      expect(await given.store.admit(admitRequest(credential))).toMatchObject({
        kind: 'admitted',
        rate: { remaining: 8 },
      });
    });

    test('keeps what one admission took when the next, a moment later, gives back what has expired', async () => {
      const credential = await createToken(given.store, { userQuota: 500, remainQuota: 500 });
      const expiring = admitRequest(credential, { amount: 30, expiresAtMs: T0 + 1_000 });
      await given.store.admit(expiring);

      await Promise.all(
        [T0 + 500, T0 + 2_000].map((nowMs) =>
          given.store.admit(admitRequest(credential, { amount: 10, nowMs })),
        ),
      );

      expect(await balances(given.store, credential)).toEqual({ token: 480, user: 480 });
    });

    test('charges an unlimited token to the user alone', async () => {
      const credential = await createToken(given.store, {
        remainQuota: 0,
        unlimitedQuota: true,
        userQuota: 500,
      });
      const request = admitRequest(credential, { amount: 30 });

      await given.store.admit(request);
      expect(await balances(given.store, credential)).toEqual({ token: 0, user: 470 });

      expect(await given.store.settle(settlement(request, { cost: 50 }))).toBe(50);
      expect(await balances(given.store, credential)).toEqual({ token: 0, user: 450 });
      expect((await given.store.getToken(credential.token.id, T0))?.usedQuota).toBe(50);
    });

    test('refuses a token that is unknown, of another user, or deleted', async () => {
      const credential = await createToken(given.store);
      const other = await createUser(given.store);

      const unknown = { kind: 'refused', reason: 'unknown' };
      expect(await given.store.admit(admitRequest(credential, { tokenId: 9_999 }))).toEqual(
        unknown,
      );
      expect(await given.store.admit(admitRequest(credential, { userId: other }))).toEqual(unknown);
      await given.store.deleteToken(credential.token.id);
      expect(await given.store.admit(admitRequest(credential))).toEqual(unknown);
    });

    test('hands back the token when it has changed since it was judged, and reserves nothing', async () => {
      const credential = await createToken(given.store, { remainQuota: 100 });
      await given.store.updateToken(credential.token.id, { policy: { tags: ['eu'] } }, T0);

      const stale = await given.store.admit(admitRequest(credential));

      if (stale.kind !== 'stale') throw new Error(`expected stale, got ${stale.kind}`);
      expect(stale.credential.token.policy.tags).toEqual(['eu']);
      expect(stale.credential.version).not.toBe(credential.version);
      expect(stale.credential.userEnabled).toBe(true);
      expect((await balances(given.store, credential)).token).toBe(100);
      expect((await given.store.admit(admitRequest(stale.credential))).kind).toBe('admitted');
    });

    test('hands back a changed token with what those before it have taken at the same moment', async () => {
      const before = await createToken(given.store, { remainQuota: 100 });
      await given.store.updateToken(before.token.id, { policy: { tags: ['eu'] } }, T0);
      const now = (await given.store.findToken(before.keyHash)) ?? before;

      const [, stale] = await Promise.all([
        given.store.admit(admitRequest(now, { amount: 30 })),
        given.store.admit(admitRequest(before)),
      ]);

      expect(stale).toMatchObject({ kind: 'stale', credential: { token: { remainQuota: 70 } } });
    });

    test('says with a changed token that its user is disabled', async () => {
      const credential = await createToken(given.store);
      await given.store.updateUser(credential.token.userId, { enabled: false }, T0);
      await given.store.updateToken(credential.token.id, { policy: { tags: ['eu'] } }, T0);

      expect(await given.store.admit(admitRequest(credential))).toMatchObject({
        kind: 'stale',
        credential: { userEnabled: false },
      });
    });

    test('makes no version of a token twice', async () => {
      const versions = new Set<number>();
      for (const store of [await given.fresh(), await given.fresh(), await given.fresh()]) {
        const { token, version, keyHash } = await createToken(store);
        await store.updateToken(token.id, { name: 'renamed' }, T0);
        versions.add(version).add((await store.findToken(keyHash))?.version ?? version);
      }

      expect(versions.size).toBe(6);
    });

    test('lets nobody in with the key of another token that had the same id', async () => {
      const credential = await createToken(given.store);
      const foreign = { ...credential, keyHash: sha256('a key that was lost') };

      const outdated = await given.store.admit(admitRequest(foreign, { version: 1 }));
      const current = await given.store.admit(admitRequest(foreign, { version: 1 }));

      expect([outdated, current]).toEqual([
        { kind: 'refused', reason: 'unknown' },
        { kind: 'refused', reason: 'unknown' },
      ]);
    });

    test('gives back what has expired of all tokens of the user, whichever is asked for', async () => {
      const first = await createToken(given.store, { userQuota: 100, remainQuota: 100 });
      const { userId } = first.token;
      const others = await Promise.all(
        [1, 2, 3].map(() => createToken(given.store, { userId, remainQuota: 100 })),
      );
      for (const credential of [first, ...others]) {
        const asked = admitRequest(credential, { amount: 25 });
        expect(await given.store.admit(asked)).toMatchObject({ kind: 'admitted' });
      }

      const early = await given.store.admit(admitRequest(first, { amount: 1 }));
      const late = await given.store.admit(
        admitRequest(first, { amount: 100, nowMs: T0 + 60_000 }),
      );

      expect(early).toMatchObject({ kind: 'refused', reason: 'user_quota' });
      expect(late).toMatchObject({ kind: 'admitted' });
      for (const { token } of others) {
        expect(await given.store.getToken(token.id, T0 + 60_001)).toMatchObject({
          remainQuota: 100,
        });
      }
    });

    test('keeps the version while traffic and settlements go on', async () => {
      const credential = await createToken(given.store);
      const request = admitRequest(credential);

      await given.store.admit(request);
      await given.store.settle(settlement(request, { cost: 3 }));

      expect((await given.store.admit(admitRequest(credential))).kind).toBe('admitted');
    });

    test('refuses at once when the user is disabled, whatever the caller has in memory', async () => {
      const credential = await createToken(given.store);
      await given.store.updateUser(credential.token.userId, { enabled: false }, T0);

      expect(await given.store.admit(admitRequest(credential))).toEqual({
        kind: 'refused',
        reason: 'user_disabled',
      });
    });

    test.each([
      ['disabled', { enabled: false, expiredTime: T0_SECONDS, remainQuota: 0 }],
      ['expired', { expiredTime: T0_SECONDS, remainQuota: 0 }],
      ['token_quota', { remainQuota: 9 }],
      ['user_quota', { userQuota: 9 }],
    ] as const)('refuses with %s when that is the first reason', async (reason, token) => {
      const credential = await createToken(given.store, token);

      expect(await given.store.admit(admitRequest(credential, { amount: 10 }))).toEqual({
        kind: 'refused',
        reason,
      });
    });

    test('lets a request for nothing through on the last unit, and not on none', async () => {
      const last = await createToken(given.store, { remainQuota: 1, userQuota: 0 });
      const none = await createToken(given.store, { remainQuota: 0 });

      expect((await given.store.admit(admitRequest(last, { amount: 0 }))).kind).toBe('admitted');
      expect(await given.store.admit(admitRequest(none, { amount: 0 }))).toEqual({
        kind: 'refused',
        reason: 'token_quota',
      });
    });

    test('expires a token in the very millisecond that its time begins', async () => {
      const credential = await createToken(given.store, { expiredTime: T0_SECONDS + 1 });

      const before = await given.store.admit(admitRequest(credential, { nowMs: T0 + 999 }));
      const after = await given.store.admit(admitRequest(credential, { nowMs: T0 + 1_000 }));

      expect(before.kind).toBe('admitted');
      expect(after).toEqual({ kind: 'refused', reason: 'expired' });
    });

    test('gives fifty callers on two connections quota for ten', async () => {
      const credential = await createToken(given.store, { remainQuota: 100, userQuota: 1_000 });
      const second = await given.reopen();

      const admissions = await Promise.all(
        Array.from({ length: 50 }, (_, index) =>
          (index % 2 === 0 ? given.store : second).admit(admitRequest(credential, { amount: 10 })),
        ),
      );

      expect(admissions.filter(({ kind }) => kind === 'admitted')).toHaveLength(10);
      expect(reasons(admissions)).toEqual(new Set(['token_quota']));
      expect(await balances(given.store, credential)).toEqual({ token: 0, user: 900 });
    });

    test('takes hundreds of requests of one moment once each, and their settlements', async () => {
      const credential = await createToken(given.store, { remainQuota: 1_000, userQuota: 1_000 });
      const requests = Array.from({ length: 600 }, () => admitRequest(credential, { amount: 1 }));
      const balances = async () => [
        (await given.store.getToken(credential.token.id, T0))?.remainQuota,
        (await given.store.getUser(credential.token.userId, T0))?.quota,
      ];

      const admissions = await Promise.all(requests.map((one) => given.store.admit(one)));
      expect(admissions.filter(({ kind }) => kind === 'admitted')).toHaveLength(600);
      expect(await balances()).toEqual([400, 400]);

      const charged = await Promise.all(
        requests.map((one) => given.store.settle(settlement(one, { cost: 0 }))),
      );
      expect(new Set(charged)).toEqual(new Set([0]));
      expect(await balances()).toEqual([1_000, 1_000]);
    });

    test('holds one balance for all tokens of a user', async () => {
      const first = await createToken(given.store, { userQuota: 100 });
      const second = await createToken(given.store, { userId: first.token.userId });
      const other = await given.reopen();

      const admissions = await Promise.all(
        Array.from({ length: 40 }, (_, index) =>
          index % 2 === 0
            ? given.store.admit(admitRequest(first, { amount: 10 }))
            : other.admit(admitRequest(second, { amount: 10 })),
        ),
      );

      expect(admissions.filter(({ kind }) => kind === 'admitted')).toHaveLength(10);
      expect(reasons(admissions)).toEqual(new Set(['user_quota']));
    });

    test('settles for less: the rest goes back, what was spent is counted on both', async () => {
      const credential = await createToken(given.store, { remainQuota: 100, userQuota: 500 });
      const request = admitRequest(credential, { amount: 30 });
      await given.store.admit(request);

      const charged = await given.store.settle(settlement(request, { cost: 12, served: true }));

      expect(charged).toBe(12);
      expect(await balances(given.store, credential)).toEqual({ token: 88, user: 488 });
      const user = await given.store.getUser(credential.token.userId, T0);
      const token = await given.store.getToken(credential.token.id, T0);
      expect([user?.usedQuota, user?.requestCount, token?.usedQuota]).toEqual([12, 1, 12]);
    });

    test('costs nothing and counts no request when the call failed', async () => {
      const credential = await createToken(given.store, { remainQuota: 100, userQuota: 500 });
      const request = admitRequest(credential, { amount: 30 });
      await given.store.admit(request);

      expect(await given.store.settle(settlement(request, { cost: 0, served: false }))).toBe(0);

      expect(await balances(given.store, credential)).toEqual({ token: 100, user: 500 });
      const user = await given.store.getUser(credential.token.userId, T0);
      expect([user?.usedQuota, user?.requestCount]).toEqual([0, 0]);
    });

    test.each([
      ['the token', { remainQuota: 40, userQuota: 500 }, 40, { token: 0, user: 460 }],
      ['the user', { remainQuota: 500, userQuota: 35 }, 35, { token: 465, user: 0 }],
      ['neither', { remainQuota: 500, userQuota: 500 }, 60, { token: 440, user: 440 }],
    ] as const)(
      'charges more than was reserved as far as both balances reach, bounded by %s',
      async (_, quotas, charged, left) => {
        const credential = await createToken(given.store, quotas);
        const request = admitRequest(credential, { amount: 30 });
        await given.store.admit(request);

        expect(await given.store.settle(settlement(request, { cost: 60 }))).toBe(charged);

        expect(await balances(given.store, credential)).toEqual(left);
      },
    );

    test('settles once, also when two connections settle at the same time', async () => {
      const credential = await createToken(given.store, { remainQuota: 100, userQuota: 500 });
      const request = admitRequest(credential, { amount: 30 });
      await given.store.admit(request);
      const second = await given.reopen();

      const charged = await Promise.all([
        given.store.settle(settlement(request, { cost: 10, served: true })),
        second.settle(settlement(request, { cost: 10, served: true })),
        given.store.settle(settlement(request, { cost: 10, served: true })),
      ]);

      expect(charged.filter((amount) => amount === 10)).toHaveLength(1);
      expect(charged.filter((amount) => amount === undefined)).toHaveLength(2);
      expect(await balances(given.store, credential)).toEqual({ token: 90, user: 490 });
      expect((await given.store.getUser(credential.token.userId, T0))?.requestCount).toBe(1);
    });

    test('settles nothing that was never reserved', async () => {
      const credential = await createToken(given.store, { remainQuota: 100, userQuota: 500 });

      const charged = await given.store.settle(
        settlement(admitRequest(credential, { amount: 30 }), { cost: 10 }),
      );

      expect(charged).toBeUndefined();
      expect(await balances(given.store, credential)).toEqual({ token: 100, user: 500 });
    });

    test('gives back what expired, and charges it when it is settled after all, once', async () => {
      const credential = await createToken(given.store, { remainQuota: 100, userQuota: 500 });
      const request = admitRequest(credential, { amount: 30 });
      await given.store.admit(request);

      expect((await given.store.getToken(credential.token.id, T0 + 59_999))?.remainQuota).toBe(70);
      expect((await given.store.getToken(credential.token.id, T0 + 60_000))?.remainQuota).toBe(100);
      expect((await given.store.getUser(credential.token.userId, T0 + 60_000))?.quota).toBe(500);

      const settle = () =>
        given.store.settle(settlement(request, { cost: 10, served: true, nowMs: LATER }));
      expect(await settle()).toBe(10);
      expect(await settle()).toBeUndefined();
      expect(await balances(given.store, credential, LATER)).toEqual({ token: 90, user: 490 });
      const user = await given.store.getUser(credential.token.userId, LATER);
      expect([user?.usedQuota, user?.requestCount]).toEqual([10, 1]);
    });

    test('charges what was given back as far as the balance reaches', async () => {
      const credential = await createToken(given.store, { remainQuota: 30, userQuota: 500 });
      const request = admitRequest(credential, { amount: 30 });
      await given.store.admit(request);
      await given.store.admit(admitRequest(credential, { amount: 25, nowMs: LATER }));

      expect(await given.store.settle(settlement(request, { cost: 30, nowMs: LATER }))).toBe(5);
    });

    test('neither takes nor frees a place for what was given back', async () => {
      const policy = { ...OPEN_POLICY, maxConcurrency: 1 };
      const credential = await createToken(given.store, {
        remainQuota: 90,
        userQuota: 500,
        policy,
      });
      const admit = async (request: AdmitRequest): Promise<unknown> => {
        const admission = await given.store.admit(request);
        return admission.kind === 'refused' ? admission.reason : admission.kind;
      };
      const later = (): AdmitRequest => admitRequest(credential, { amount: 10, nowMs: LATER });
      const [lapsed, second, third] = [admitRequest(credential, { amount: 10 }), later(), later()];
      await given.store.admit(lapsed);

      expect([await admit(second), await admit(third)]).toEqual(['admitted', 'concurrency']);
      await given.store.settle(settlement(second, { cost: 10, nowMs: LATER }));
      expect(await admit(third)).toBe('admitted');
      await given.store.settle(settlement(lapsed, { cost: 10, nowMs: LATER }));
      expect(await admit(later())).toBe('concurrency');
    });

    test('knows what was given back for ten minutes', async () => {
      const credential = await createToken(given.store, { remainQuota: 100, userQuota: 500 });
      const requests = [
        admitRequest(credential, { amount: 30 }),
        admitRequest(credential, { amount: 30 }),
      ];
      for (const request of requests) await given.store.admit(request);
      const [first, second] = requests as [AdmitRequest, AdmitRequest];
      await given.store.getUser(credential.token.userId, LATER);
      const untilMs = LATER + LAPSED_MS;

      await given.store.getUser(credential.token.userId, untilMs - 1);
      expect(await given.store.settle(settlement(first, { cost: 10, nowMs: untilMs }))).toBe(10);
      await given.store.getUser(credential.token.userId, untilMs);
      expect(
        await given.store.settle(settlement(second, { cost: 10, nowMs: untilMs })),
      ).toBeUndefined();
      expect(await balances(given.store, credential, untilMs)).toEqual({ token: 90, user: 490 });
    });

    test('gives back what expired when a key is found at a time', async () => {
      const credential = await createToken(given.store, { remainQuota: 30, userQuota: 500 });
      await given.store.admit(admitRequest(credential, { amount: 30 }));
      const left = async (nowMs?: number): Promise<number | undefined> =>
        (await given.store.findToken(credential.keyHash, nowMs))?.token.remainQuota;

      expect(await left(T0 + 59_999)).toBe(0);
      expect(await left()).toBe(0);
      expect(await left(T0 + 60_000)).toBe(30);
      expect(await balances(given.store, credential, T0 + 60_000)).toEqual({
        token: 30,
        user: 500,
      });
      expect(await given.store.findToken('0'.repeat(64), T0)).toBeUndefined();
    });

    test('settles late as long as nobody has given the reservation back', async () => {
      const credential = await createToken(given.store, { remainQuota: 100, userQuota: 500 });
      const request = admitRequest(credential, { amount: 30 });
      await given.store.admit(request);

      expect(await given.store.settle(settlement(request, { cost: 10, nowMs: LATER }))).toBe(10);

      expect(await balances(given.store, credential, LATER)).toEqual({ token: 90, user: 490 });
    });

    test('gives expired reservations of the user back before it judges a new request', async () => {
      const credential = await createToken(given.store, { remainQuota: 30, userQuota: 30 });
      await given.store.admit(admitRequest(credential, { amount: 30 }));

      const early = await given.store.admit(admitRequest(credential, { amount: 30 }));
      const late = await given.store.admit(admitRequest(credential, { amount: 30, nowMs: LATER }));

      expect(early).toEqual({ kind: 'refused', reason: 'token_quota' });
      expect(late.kind).toBe('admitted');
      expect(await balances(given.store, credential, LATER)).toEqual({ token: 0, user: 0 });
    });

    test('shows true balances in lists once a reservation has expired', async () => {
      const credential = await createToken(given.store, { remainQuota: 100, userQuota: 500 });
      await given.store.admit(admitRequest(credential, { amount: 30 }));

      const tokens = await given.store.listTokens({ offset: 0, limit: 10 }, LATER);
      const users = await given.store.listUsers({ offset: 0, limit: 10 }, LATER);

      expect(tokens.items.map(({ remainQuota }) => remainQuota)).toEqual([100]);
      expect(users.items.map(({ quota }) => quota)).toEqual([500]);
    });

    test.each([
      ['less', 20],
      ['more', 40],
    ])(
      'settles on the user when the token was deleted meanwhile, for %s than was reserved',
      async (_, cost) => {
        const credential = await createToken(given.store, { remainQuota: 100, userQuota: 500 });
        const request = admitRequest(credential, { amount: 30 });
        await given.store.admit(request);
        await given.store.deleteToken(credential.token.id);

        expect(await given.store.settle(settlement(request, { cost, served: true }))).toBe(cost);

        const user = await given.store.getUser(credential.token.userId, T0);
        expect([user?.quota, user?.usedQuota, user?.requestCount]).toEqual([500 - cost, cost, 1]);
      },
    );

    test('gives the user back what expired of a token that was deleted', async () => {
      const credential = await createToken(given.store, { userQuota: 500 });
      await given.store.admit(admitRequest(credential, { amount: 30 }));
      await given.store.deleteToken(credential.token.id);

      expect((await given.store.getUser(credential.token.userId, LATER))?.quota).toBe(500);
    });

    test('settles in the kind that the token had when it was admitted', async () => {
      const limited = await createToken(given.store, { remainQuota: 100, userQuota: 500 });
      const unlimited = await createToken(given.store, {
        remainQuota: 100,
        unlimitedQuota: true,
        userQuota: 500,
      });
      const first = admitRequest(limited, { amount: 30 });
      const second = admitRequest(unlimited, { amount: 30 });
      await given.store.admit(first);
      await given.store.admit(second);
      await given.store.updateToken(limited.token.id, { unlimitedQuota: true }, T0);
      await given.store.updateToken(unlimited.token.id, { unlimitedQuota: false }, T0);

      await given.store.settle(settlement(first, { cost: 10 }));
      await given.store.settle(settlement(second, { cost: 10 }));

      expect(await balances(given.store, limited)).toEqual({ token: 90, user: 490 });
      expect(await balances(given.store, unlimited)).toEqual({ token: 100, user: 490 });
    });

    test('bounds requests in flight on all connections together', async () => {
      const credential = await createToken(given.store, {
        policy: { ...OPEN_POLICY, maxConcurrency: 3 },
      });
      const second = await given.reopen();
      const requests = Array.from({ length: 20 }, () => admitRequest(credential));

      const admissions = await Promise.all(
        requests.map((request, index) => (index % 2 === 0 ? given.store : second).admit(request)),
      );

      expect(admissions.filter(({ kind }) => kind === 'admitted')).toHaveLength(3);
      expect(reasons(admissions)).toEqual(new Set(['concurrency']));
    });

    test('frees a place when a request is settled or expires', async () => {
      const credential = await createToken(given.store, {
        policy: { ...OPEN_POLICY, maxConcurrency: 1 },
      });
      const first = admitRequest(credential);
      await given.store.admit(first);
      expect((await given.store.admit(admitRequest(credential))).kind).toBe('refused');

      await given.store.settle(settlement(first, { cost: 0 }));
      await given.store.settle(settlement(first, { cost: 0 }));

      expect((await given.store.admit(admitRequest(credential))).kind).toBe('admitted');
      expect((await given.store.admit(admitRequest(credential))).kind).toBe('refused');
      const late = await given.store.admit(admitRequest(credential, { nowMs: LATER }));
      expect(late.kind).toBe('admitted');
    });

    test('frees places that expire shortly after each other', async () => {
      const policy = { ...OPEN_POLICY, maxConcurrency: 1 };
      const credential = await createToken(given.store, { policy });

      for (const nowMs of [T0, T0 + 20, T0 + 40]) {
        const request = admitRequest(credential, { nowMs, expiresAtMs: nowMs + 10 });
        expect((await given.store.admit(request)).kind).toBe('admitted');
      }
    });

    test('frees all the places of requests that are settled together, time after time', async () => {
      const policy = { ...OPEN_POLICY, maxConcurrency: 2 };
      const credential = await createToken(given.store, { policy });

      for (let round = 0; round < 3; round += 1) {
        const requests = [admitRequest(credential), admitRequest(credential)];
        const admissions = await Promise.all(requests.map((one) => given.store.admit(one)));
        expect(admissions.map(({ kind }) => kind)).toEqual(['admitted', 'admitted']);
        expect(await given.store.admit(admitRequest(credential))).toMatchObject({
          reason: 'concurrency',
        });
        await Promise.all(requests.map((one) => given.store.settle(settlement(one, { cost: 1 }))));
      }
    });

    test('does not count a request against the rate when it is refused for another reason', async () => {
      const credential = await createToken(given.store, {
        policy: { ...OPEN_POLICY, maxConcurrency: 1, rateLimit: 2 },
      });
      const first = admitRequest(credential);

      expect(await given.store.admit(first)).toMatchObject({ rate: { limit: 2, remaining: 1 } });
      expect(await given.store.admit(admitRequest(credential))).toEqual({
        kind: 'refused',
        reason: 'concurrency',
      });
      await given.store.settle(settlement(first, { cost: 0 }));

      expect(await given.store.admit(admitRequest(credential))).toMatchObject({
        kind: 'admitted',
        rate: { limit: 2, remaining: 0, resetMs: 60_000 },
      });
    });

    test('reserves nothing when the rate refuses, and says when to come again', async () => {
      const credential = await createToken(given.store, {
        remainQuota: 100,
        userQuota: 500,
        policy: { ...OPEN_POLICY, rateLimit: 1 },
      });
      await given.store.admit(admitRequest(credential, { amount: 10, nowMs: T0 + 1_000 }));

      const refused = await given.store.admit(
        admitRequest(credential, { amount: 10, nowMs: T0 + 2_000 }),
      );

      if (refused.kind !== 'refused' || refused.reason !== 'rate') {
        throw new Error(`expected a refusal by rate, got ${refused.kind}`);
      }
      expect(refused.rate).toEqual({ limit: 1, remaining: 0, resetMs: 58_000 });
      expect(await balances(given.store, credential, T0 + 2_000)).toEqual({ token: 90, user: 490 });
      const again = await given.store.admit(
        admitRequest(credential, { nowMs: T0 + 2_000 + refused.retryAfterMs }),
      );
      expect(again.kind).toBe('admitted');
    });

    test('decides every rate as the rule in core does, at the edges of windows too, and when the clock goes back', async () => {
      const step = fc.oneof(
        fc.nat(2_000),
        fc.nat(70_000),
        fc.constantFrom(0, RATE_WINDOW_MS - 1, RATE_WINDOW_MS, 2 * RATE_WINDOW_MS),
        fc.constantFrom(-1, -RATE_WINDOW_MS / 2, -RATE_WINDOW_MS),
      );
      await fc.assert(
        fc.asyncProperty(
          fc.integer({ min: 1, max: 6 }),
          fc.array(step, { minLength: 1, maxLength: 30 }),
          async (rateLimit, steps) => {
            const credential = await createToken(given.store, {
              policy: { ...OPEN_POLICY, rateLimit },
            });
            let expected: RateWindow = { window: 0, current: 0, previous: 0 };
            let nowMs = T0;
            for (const elapsedMs of steps) {
              nowMs += elapsedMs;
              const decision = takeRate(expected, rateLimit, nowMs);

              const admission = await given.store.admit(
                admitRequest(credential, { amount: 0, nowMs }),
              );

              if (decision.allowed) {
                expected = decision.next;
                expect(admission).toEqual({ kind: 'admitted', rate: decision.state });
              } else {
                expect(admission).toEqual({
                  kind: 'refused',
                  reason: 'rate',
                  retryAfterMs: decision.retryAfterMs,
                  rate: decision.state,
                });
              }
            }
          },
        ),
        { numRuns: 25 },
      );
    });

    test('keeps reservations and balances when it is opened again', async () => {
      const credential = await createToken(given.store, { remainQuota: 100, userQuota: 500 });
      const request = admitRequest(credential, { amount: 30 });
      await given.store.admit(request);
      await given.store.close();

      const again = await given.reopen();

      expect(await balances(again, credential)).toEqual({ token: 70, user: 470 });
      expect(await again.settle(settlement(request, { cost: 10 }))).toBe(10);
      expect(await balances(again, credential)).toEqual({ token: 90, user: 490 });
    });

    test('refuses, once closed, as a store that cannot be reached', async () => {
      const credential = await createToken(given.store);
      await given.store.close();

      const unreachable = { name: 'StoreUnavailableError' };
      await expect(given.store.ping()).rejects.toMatchObject(unreachable);
      await expect(given.store.admit(admitRequest(credential))).rejects.toMatchObject(unreachable);
    });

    test('adds up after any history: granted − spent − reserved = remaining, on token and user', async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(historyStep, { minLength: 5, maxLength: 40 }), async (steps) => {
          await replay(given.store, steps);
        }),
        { numRuns: 25 },
      );
    });
  });
}

async function balances(
  store: Store,
  { token }: Credential,
  nowMs = T0,
): Promise<{ token: number | undefined; user: number | undefined }> {
  const found = await store.getToken(token.id, nowMs);
  const user = await store.getUser(token.userId, nowMs);
  return { token: found?.remainQuota, user: user?.quota };
}

function reasons(admissions: readonly Admission[]): Set<string> {
  return new Set(
    admissions.flatMap((admission) => (admission.kind === 'refused' ? [admission.reason] : [])),
  );
}

const pick = fc.nat(100);
const historyStep = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('admit'), token: pick, by: fc.nat(60) }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('settle'), token: pick, by: fc.nat(90) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('wait'), token: pick, by: fc.nat(50) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constantFrom('grantToken', 'grantUser'),
      token: pick,
      by: fc.integer({ min: -60, max: 90 }),
    }),
  },
);

interface OpenReservation {
  readonly token: number;
  readonly request: ReturnType<typeof admitRequest>;
}

/** Runs a history against the store and a ledger beside it; `by` is an amount, a cost, seconds or a change. */
async function replay(
  store: Store,
  steps: readonly { readonly kind: string; readonly token: number; readonly by: number }[],
): Promise<void> {
  const first = await createToken(store, { remainQuota: 200, userQuota: 300 });
  const { userId } = first.token;
  const tokens = [
    first,
    await createToken(store, { userId, remainQuota: 150 }),
    await createToken(store, { userId, remainQuota: 0, unlimitedQuota: true }),
  ];
  const granted = { tokens: [200, 150, 0], user: 300 };
  const spent = [0, 0, 0];
  let held: OpenReservation[] = [];
  let nowMs = T0;

  for (const step of steps) {
    const index = step.token % tokens.length;
    const credential = await current(store, tokens, index);
    if (step.kind === 'admit') {
      const request = admitRequest(credential, { amount: step.by, nowMs });
      const { kind } = await store.admit(request);
      held = held.filter(({ request: { expiresAtMs } }) => expiresAtMs > nowMs);
      if (kind === 'admitted') held.push({ token: index, request });
    } else if (step.kind === 'settle') {
      const settled = held[step.token % Math.max(1, held.length)];
      if (settled !== undefined) {
        const charged = await store.settle(settlement(settled.request, { cost: step.by, nowMs }));
        spent[settled.token] = (spent[settled.token] ?? 0) + (charged ?? 0);
        held = held.filter((entry) => entry !== settled);
      }
    } else if (step.kind === 'wait') {
      nowMs += step.by * 1_000;
    } else if (step.kind === 'grantToken') {
      const { kind } = await store.updateToken(
        credential.token.id,
        { quota: { add: step.by } },
        nowMs,
      );
      if (kind === 'updated') granted.tokens[index] = (granted.tokens[index] ?? 0) + step.by;
    } else {
      const { kind } = await store.updateUser(userId, { quota: { add: step.by } }, nowMs);
      if (kind === 'updated') granted.user += step.by;
    }

    const user = await store.getUser(userId, nowMs);
    held = held.filter(({ request: { expiresAtMs } }) => expiresAtMs > nowMs);
    const reserved = tokens.map((_, at) =>
      held
        .filter(({ token }) => token === at)
        .reduce((sum, { request }) => sum + request.amount, 0),
    );
    const totalSpent = spent.reduce((sum, amount) => sum + amount, 0);
    const totalReserved = reserved.reduce((sum, amount) => sum + amount, 0);
    expect(user?.quota).toBe(granted.user - totalSpent - totalReserved);
    expect(user?.quota).toBeGreaterThanOrEqual(0);
    expect(user?.usedQuota).toBe(totalSpent);
    for (const [at, { token }] of tokens.entries()) {
      const found = await store.getToken(token.id, nowMs);
      const taken = token.unlimitedQuota ? 0 : (spent[at] ?? 0) + (reserved[at] ?? 0);
      expect(found?.remainQuota).toBe((granted.tokens[at] ?? 0) - taken);
      expect(found?.remainQuota).toBeGreaterThanOrEqual(0);
      expect(found?.usedQuota).toBe(spent[at]);
    }
  }
}

/** The credential with the version that is in force. */
async function current(
  store: Store,
  tokens: readonly Credential[],
  index: number,
): Promise<Credential> {
  const known = tokens[index];
  if (known === undefined) throw new Error(`there is no token ${index}`);
  const answer = await store.admit(
    admitRequest(known, { version: -1, amount: 0, reservationId: unique('probe') }),
  );
  if (answer.kind !== 'stale') throw new Error(`expected stale, got ${answer.kind}`);
  return answer.credential;
}
