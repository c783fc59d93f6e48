import { describe, expect, test } from '@jest/globals';
import { fc } from '../../support/property.js';
import { takeRate, type RateWindow } from '../../../src/core/rate-limit.js';
import type { Session } from '../../../src/store/store.js';
import { createUser, freshStore, sha256, T0, unique, type OpenHarness } from './harness.js';

const HOUR = 3_600_000;

function newSession(userId: number, given: Partial<Session> = {}): Session {
  return {
    idHash: sha256(unique('session')),
    userId,
    kind: 'session',
    createdAtMs: T0,
    expiresAtMs: T0 + HOUR,
    endsAtMs: T0 + 10 * HOUR,
    usedAtMs: given.createdAtMs ?? T0,
    address: '192.0.2.1',
    agent: 'a browser: 1.0 (of ours)',
    source: 'who vouched for it',
    ...given,
  };
}

export function describeSessions(open: OpenHarness): void {
  describe('sessions', () => {
    const given = freshStore(open);

    test('finds a session across connections and slides its expiry with use', async () => {
      const session = newSession(await createUser(given.store));
      await given.store.createSession(session);
      const again = await given.reopen();

      const used = await again.findSession(session.idHash, T0 + HOUR - 1, HOUR);

      const slid = { ...session, expiresAtMs: T0 + 2 * HOUR - 1, usedAtMs: T0 + HOUR - 1 };
      expect(used).toEqual(slid);
      expect(await given.store.findSession(session.idHash, T0 + 2 * HOUR - 2, HOUR)).toEqual({
        ...session,
        expiresAtMs: T0 + 3 * HOUR - 2,
        usedAtMs: T0 + 2 * HOUR - 2,
      });
    });

    test('notes the use of sessions and access tokens to a minute, and where they were made from', async () => {
      const userId = await createUser(given.store);
      const [session, token] = [newSession(userId), newSession(userId, { kind: 'access_token' })];
      for (const each of [session, token]) await given.store.createSession(each);

      for (const { idHash } of [session, token]) {
        await given.store.findSession(idHash, T0 + 90_000, HOUR);
        await given.store.findSession(idHash, T0 + 149_999, HOUR);
      }

      const { address, agent } = session;
      for (const shown of await given.store.listSessions(userId, T0)) {
        expect(shown).toMatchObject({ usedAtMs: T0 + 90_000, address, agent });
      }
      const later = await given.store.findSession(token.idHash, T0 + 150_000, HOUR);
      expect(later).toEqual({ ...token, usedAtMs: T0 + 150_000 });
      const { address: _, agent: __, source: ___, ...bare } = newSession(userId);
      await given.store.createSession(bare);
      const found = await given.store.findSession(bare.idHash, T0, HOUR);
      expect(found).toMatchObject({ address: '', agent: '', usedAtMs: T0 });
    });

    test('ends a session that was not used in time', async () => {
      const session = newSession(await createUser(given.store));
      await given.store.createSession(session);

      expect(await given.store.findSession(session.idHash, T0 + HOUR, HOUR)).toBeUndefined();
    });

    test('slides no further than the end', async () => {
      const session = newSession(await createUser(given.store), { endsAtMs: T0 + HOUR + 1 });
      await given.store.createSession(session);

      expect(await given.store.findSession(session.idHash, T0 + 10, HOUR)).toMatchObject({
        expiresAtMs: T0 + HOUR + 1,
      });
      expect(await given.store.findSession(session.idHash, T0 + HOUR + 1, HOUR)).toBeUndefined();
    });

    test('does not slide an access token', async () => {
      const token = newSession(await createUser(given.store), { kind: 'access_token' });
      await given.store.createSession(token);

      expect(await given.store.findSession(token.idHash, T0 + 10, HOUR)).toEqual(token);
      expect(await given.store.findSession(token.idHash, T0 + HOUR, HOUR)).toBeUndefined();
    });

    test('finds nothing by an id that was never given', async () => {
      expect(await given.store.findSession(sha256('nothing'), T0, HOUR)).toBeUndefined();
      expect(await given.store.deleteSession(sha256('nothing'))).toBe(false);
    });

    test('ends one session and leaves the others', async () => {
      const userId = await createUser(given.store);
      const [first, second] = [newSession(userId), newSession(userId)];
      await given.store.createSession(first);
      await given.store.createSession(second);

      expect(await given.store.deleteSession(first.idHash)).toBe(true);

      expect(await given.store.deleteSession(first.idHash)).toBe(false);
      expect(await given.store.findSession(first.idHash, T0, HOUR)).toBeUndefined();
      expect(await given.store.findSession(second.idHash, T0, HOUR)).toBeDefined();
    });

    test('makes a login by another one as long as that one lives, in the place of those of its kind', async () => {
      const userId = await createUser(given.store);
      const session = newSession(userId);
      const other = newSession(userId);
      const [first, second, third] = [1, 2, 3].map(() =>
        newSession(userId, { kind: 'access_token' }),
      ) as [Session, Session, Session];
      for (const each of [session, other, first]) await given.store.createSession(each);

      expect(await given.store.deriveSession(second, session.idHash)).toBe(true);
      expect(await given.store.findSession(first.idHash, T0, HOUR)).toBeUndefined();
      expect(await given.store.findSession(second.idHash, T0, HOUR)).toEqual(second);
      expect(await given.store.findSession(other.idHash, T0, HOUR)).toBeDefined();

      await given.store.deleteUserSessions(userId);
      expect(await given.store.deriveSession(third, session.idHash)).toBe(false);
      expect(await given.store.findSession(third.idHash, T0, HOUR)).toBeUndefined();
    });

    test('makes no login by one of another user', async () => {
      const [userId, otherId] = [await createUser(given.store), await createUser(given.store)];
      const session = newSession(otherId);
      const kept = newSession(userId, { kind: 'access_token' });
      const wanted = newSession(userId, { kind: 'access_token' });
      for (const each of [session, kept]) await given.store.createSession(each);

      expect(await given.store.deriveSession(wanted, session.idHash)).toBe(false);

      expect(await given.store.findSession(wanted.idHash, T0, HOUR)).toBeUndefined();
      expect(await given.store.findSession(kept.idHash, T0, HOUR)).toBeDefined();
    });

    test('leaves one access token alive of many that are made at the same time', async () => {
      const userId = await createUser(given.store);
      const other = await given.reopen();
      const first = newSession(userId, { kind: 'access_token' });
      await given.store.createSession(first);
      const wanted = Array.from({ length: 10 }, () => newSession(userId, { kind: 'access_token' }));

      const made = await Promise.all(
        wanted.map((token, index) =>
          (index % 2 === 0 ? given.store : other).deriveSession(token, first.idHash),
        ),
      );

      expect(made.filter((isMade) => isMade)).toHaveLength(1);
      const found = await Promise.all(
        wanted.map(({ idHash }) => given.store.findSession(idHash, T0, HOUR)),
      );
      expect(found.map((each) => each !== undefined)).toEqual(made);
    });

    test('lists the live ones of one user, newest first', async () => {
      const userId = await createUser(given.store);
      const old = newSession(userId, { expiresAtMs: T0 + 1 });
      const token = newSession(userId, { kind: 'access_token', createdAtMs: T0 + 5 });
      const session = newSession(userId, { createdAtMs: T0 + 9 });
      for (const each of [token, session, old, newSession(await createUser(given.store))]) {
        await given.store.createSession(each);
      }

      const listed = await given.store.listSessions(userId, T0 + 10);

      expect(listed).toEqual([session, token]);
      expect(await given.store.listSessions(userId, T0 + HOUR)).toEqual([]);
    });

    test('ends all sessions of a user, or those of one kind, and no one else’s', async () => {
      const [userId, otherId] = [await createUser(given.store), await createUser(given.store)];
      const session = newSession(userId);
      const token = newSession(userId, { kind: 'access_token' });
      const foreign = newSession(otherId);
      for (const each of [session, token, foreign]) await given.store.createSession(each);

      expect(await given.store.deleteUserSessions(userId, 'access_token')).toBe(1);
      expect(await given.store.findSession(token.idHash, T0, HOUR)).toBeUndefined();
      expect(await given.store.findSession(session.idHash, T0, HOUR)).toBeDefined();
      expect(await given.store.deleteUserSessions(userId)).toBe(1);
      expect(await given.store.findSession(session.idHash, T0, HOUR)).toBeUndefined();
      expect(await given.store.deleteUserSessions(userId)).toBe(0);
      expect(await given.store.findSession(foreign.idHash, T0, HOUR)).toBeDefined();
    });
  });

  describe('one-time codes', () => {
    const given = freshStore(open);

    test('are taken once, also when many try at the same time', async () => {
      const userId = await createUser(given.store);
      const other = await given.reopen();
      await given.store.putOneTimeCode(userId, 'right', T0, 600_000);

      const taken = await Promise.all(
        Array.from({ length: 20 }, (_, index) =>
          (index % 2 === 0 ? given.store : other).takeOneTimeCode(userId, 'right', T0, 5),
        ),
      );

      expect(taken.filter((isTaken) => isTaken)).toHaveLength(1);
    });

    test('end when their time is up', async () => {
      const userId = await createUser(given.store);
      await given.store.putOneTimeCode(userId, 'right', T0, 600_000);

      expect(await given.store.takeOneTimeCode(userId, 'right', T0 + 600_000, 5)).toBe(false);
    });

    test('survive wrong tries up to the bound, and none beyond', async () => {
      const userId = await createUser(given.store);
      const tries = async (count: number): Promise<void> => {
        await given.store.putOneTimeCode(userId, 'right', T0, 600_000);
        for (let index = 0; index < count; index += 1) {
          expect(await given.store.takeOneTimeCode(userId, 'wrong', T0, 5)).toBe(false);
        }
      };

      await tries(4);
      expect(await given.store.takeOneTimeCode(userId, 'right', T0, 5)).toBe(true);
      await tries(5);
      expect(await given.store.takeOneTimeCode(userId, 'right', T0, 5)).toBe(false);
    });

    test('are replaced by the next one, with all its tries', async () => {
      const userId = await createUser(given.store);
      await given.store.putOneTimeCode(userId, 'first', T0, 600_000);
      await given.store.takeOneTimeCode(userId, 'wrong', T0, 2);
      await given.store.putOneTimeCode(userId, 'second', T0, 600_000);

      expect(await given.store.takeOneTimeCode(userId, 'first', T0, 2)).toBe(false);
      expect(await given.store.takeOneTimeCode(userId, 'second', T0, 2)).toBe(true);
    });

    test('belong to one user', async () => {
      const [userId, otherId] = [await createUser(given.store), await createUser(given.store)];
      await given.store.putOneTimeCode(userId, 'right', T0, 600_000);

      expect(await given.store.takeOneTimeCode(otherId, 'right', T0, 5)).toBe(false);
      expect(await given.store.takeOneTimeCode(userId, 'right', T0, 5)).toBe(true);
    });
  });

  describe('limits', () => {
    const given = freshStore(open);

    test('let through as many as allowed, on two connections at the same time', async () => {
      const other = await given.reopen();

      const taken = await Promise.all(
        Array.from({ length: 30 }, (_, index) =>
          (index % 2 === 0 ? given.store : other).takeLimit('login:ada', 10, 60_000, T0),
        ),
      );

      expect(taken.filter((limit) => limit.allowed)).toHaveLength(10);
      expect(await given.store.takeLimit('login:bob', 10, 60_000, T0)).toEqual({
        allowed: true,
        remaining: 9,
        retryAfterMs: 0,
      });
    });

    test('begin anew once they are cleared, and those of other names do not', async () => {
      for (const name of ['one', 'other']) await given.store.takeLimit(name, 1, HOUR, T0);

      await given.store.clearLimit('one');
      await given.store.clearLimit('never counted');

      expect(await given.store.takeLimit('one', 1, HOUR, T0)).toMatchObject({ allowed: true });
      expect(await given.store.takeLimit('other', 1, HOUR, T0)).toMatchObject({ allowed: false });
    });

    test('count on in a window that has begun, though the clock is set back a little', async () => {
      await given.store.takeLimit('login:ada', 1, 60_000, T0 + 60_000);

      const late = await given.store.takeLimit('login:ada', 1, 60_000, T0 + 59_000);

      expect(late.allowed).toBe(false);
    });

    test('decide as the rule in core does, for any window and any times', async () => {
      const steps = fc.array(fc.nat({ max: 12_000 }), { minLength: 1, maxLength: 30 });
      await fc.assert(
        fc.asyncProperty(
          fc.integer({ min: 1, max: 6 }),
          // The counters of a window end by the server's clock: none may end while the steps are taken.
          fc.integer({ min: 10_000, max: 20_000 }),
          fc.nat({ max: 10_000 }),
          steps,
          async (limit, windowMs, start, waits) => {
            const name = unique('limit');
            let last: RateWindow = { window: 0, current: 0, previous: 0 };
            let nowMs = T0 + start;
            for (const wait of waits) {
              nowMs += wait;
              const expected = takeRate(last, limit, nowMs, windowMs);
              if (expected.allowed) last = expected.next;
              expect(await given.store.takeLimit(name, limit, windowMs, nowMs)).toEqual({
                allowed: expected.allowed,
                remaining: expected.state.remaining,
                retryAfterMs: expected.allowed ? 0 : expected.retryAfterMs,
              });
            }
          },
        ),
        { numRuns: 25 },
      );
    });
  });

  describe('idempotency', () => {
    const given = freshStore(open);
    const reply = { status: 201, body: '{"success":true,"message":"grüße"}' };

    test('gives a key to one of many, and the reply to everybody who comes later', async () => {
      const other = await given.reopen();
      const claims = await Promise.all(
        Array.from({ length: 10 }, (_, index) =>
          (index % 2 === 0 ? given.store : other).claimIdempotent('key', 'print', T0, 1_000),
        ),
      );
      expect(claims.filter((claim) => claim.kind === 'fresh')).toHaveLength(1);
      expect(claims.filter((claim) => claim.kind === 'running')).toHaveLength(9);

      await given.store.completeIdempotent('key', 'print', reply, T0, 60_000);

      const later = await other.claimIdempotent('key', 'print', T0 + 59_999, 1_000);
      expect(later).toEqual({ kind: 'done', ...reply });
    });

    test('says when a key comes with another request', async () => {
      await given.store.claimIdempotent('key', 'print', T0, 1_000);
      expect(await given.store.claimIdempotent('key', 'other', T0, 1_000)).toEqual({
        kind: 'mismatch',
      });

      await given.store.completeIdempotent('key', 'print', reply, T0, 60_000);
      expect(await given.store.claimIdempotent('key', 'other', T0, 1_000)).toEqual({
        kind: 'mismatch',
      });
    });

    test('forgets a reply after its time', async () => {
      await given.store.claimIdempotent('key', 'print', T0, 1_000);
      await given.store.completeIdempotent('key', 'print', reply, T0, 60_000);

      expect(await given.store.claimIdempotent('key', 'other', T0 + 60_000, 1_000)).toEqual({
        kind: 'fresh',
      });
      // Nor is it the reply to what is under way now.
      expect(await given.store.claimIdempotent('key', 'other', T0 + 60_001, 1_000)).toEqual({
        kind: 'running',
      });
    });

    test('frees a claim that was not completed in time', async () => {
      await given.store.claimIdempotent('key', 'print', T0, 1_000);

      expect(await given.store.claimIdempotent('key', 'print', T0 + 999, 1_000)).toEqual({
        kind: 'running',
      });
      expect(await given.store.claimIdempotent('key', 'other', T0 + 1_000, 1_000)).toEqual({
        kind: 'fresh',
      });
    });

    test('keeps the first reply to a request that was answered twice', async () => {
      await given.store.claimIdempotent('key', 'print', T0, 1_000);
      await given.store.completeIdempotent('key', 'print', reply, T0, 60_000);

      await given.store.completeIdempotent('key', 'print', { status: 500, body: '' }, T0, 60_000);

      expect(await given.store.claimIdempotent('key', 'print', T0 + 1, 1_000)).toEqual({
        kind: 'done',
        ...reply,
      });
    });

    test('does not let a claim that ran out spoil the next one', async () => {
      await given.store.claimIdempotent('key', 'slow', T0, 1_000);
      await given.store.claimIdempotent('key', 'next', T0 + 1_000, 1_000);

      await given.store.completeIdempotent('key', 'slow', reply, T0 + 1_500, 60_000);
      await given.store.releaseIdempotent('key', 'slow');

      expect(await given.store.claimIdempotent('key', 'next', T0 + 1_500, 1_000)).toEqual({
        kind: 'running',
      });
    });

    test('is fresh again after a failure, and keeps a reply that was given', async () => {
      await given.store.claimIdempotent('key', 'print', T0, 1_000);
      await given.store.releaseIdempotent('key', 'print');
      expect(await given.store.claimIdempotent('key', 'print', T0, 1_000)).toEqual({
        kind: 'fresh',
      });

      await given.store.completeIdempotent('key', 'print', reply, T0, 60_000);
      await given.store.releaseIdempotent('key', 'print');
      expect(await given.store.claimIdempotent('key', 'print', T0, 1_000)).toMatchObject({
        kind: 'done',
      });
    });
  });
}
