import { USED_STEP_MS } from '../sessions.js';
import type { IdempotencyClaim, NewSession, Session, SessionStore } from '../store.js';
import type { Connection } from './connection.js';
import type { Keys } from './keys.js';
import { listOf, numberOf, run, SCRIPTS, textOf, type Reply } from './scripts.js';

/**
 * Sessions are stored with their user, so that all of them end in one step; a key per session id leads there. Times are
 * arguments, and expiry in Redis only removes what nobody can find any longer.
 */
export function openSessions(connection: Connection, keys: Keys): SessionStore {
  return { ...openLogins(connection, keys), ...openLimits(connection, keys) };
}

type LoginMethods =
  | 'createSession'
  | 'deriveSession'
  | 'findSession'
  | 'deleteSession'
  | 'listSessions'
  | 'deleteUserSessions'
  | 'putOneTimeCode'
  | 'takeOneTimeCode';

function openLogins(connection: Connection, keys: Keys): Pick<SessionStore, LoginMethods> {
  const { client, answer } = connection;

  async function ownerOf(idHash: string): Promise<number | undefined> {
    const userId = await answer(client.get(keys.session(idHash)));
    return userId === null ? undefined : Number(userId);
  }

  const places = (userId: number): string[] => [keys.userSessions(userId), keys.userLogins(userId)];

  async function create(session: NewSession, ...by: string[]): Promise<boolean> {
    const { idHash, userId, kind, createdAtMs, expiresAtMs, endsAtMs } = session;
    const { address = '', agent = '' } = session;
    const lifeMs = Math.max(1, endsAtMs - createdAtMs);
    await answer(client.set(keys.session(idHash), `${userId}`, 'PX', lifeMs));
    const ended = await run(connection, SCRIPTS.writeSession, places(userId), [
      ...[idHash, kind, createdAtMs, expiresAtMs, endsAtMs, connection.told(createdAtMs)],
      JSON.stringify({ address, agent }),
      ...by,
    ]);
    // These keys now lead nowhere.
    const gone = ended === null ? [idHash] : listOf(ended).map(textOf);
    for (const each of gone) await answer(client.del(keys.session(each)));
    return ended !== null;
  }

  return {
    async createSession(session) {
      await create(session);
    },

    deriveSession: (session, by) => create(session, by, session.kind),

    async findSession(idHash, nowMs, slideMs) {
      const userId = await ownerOf(idHash);
      if (userId === undefined) return undefined;
      const reply = await run(connection, SCRIPTS.useSession, places(userId), [
        ...[idHash, connection.told(nowMs), slideMs, USED_STEP_MS],
      ]);
      if (reply === null) return undefined;
      const [kind, created, expires, ends, used, origin] = listOf(reply);
      return sessionOf(idHash, userId, [kind, created, expires, ends], used, origin);
    },

    async deleteSession(idHash) {
      const userId = await ownerOf(idHash);
      if (userId === undefined) return false;
      const deleted = await answer(client.hdel(keys.userSessions(userId), idHash));
      await answer(client.hdel(keys.userLogins(userId), idHash, `${idHash}:used`));
      await answer(client.del(keys.session(idHash)));
      return deleted > 0;
    },

    async listSessions(userId, nowMs) {
      const [records, known] = await Promise.all([
        answer(client.hgetall(keys.userSessions(userId))),
        answer(client.hgetall(keys.userLogins(userId))),
      ]);
      return Object.entries(records)
        .map(([idHash, record]) =>
          sessionOf(idHash, userId, record.split(':'), known[`${idHash}:used`], known[idHash]),
        )
        .filter(({ expiresAtMs, endsAtMs }) => expiresAtMs > nowMs && endsAtMs > nowMs)
        .sort((a, b) => b.createdAtMs - a.createdAtMs || (a.idHash < b.idHash ? -1 : 1));
    },

    async deleteUserSessions(userId, kind) {
      const ended = listOf(
        await run(connection, SCRIPTS.deleteSessions, places(userId), [kind ?? '']),
      );
      for (const idHash of ended) await answer(client.del(keys.session(textOf(idHash))));
      return ended.length;
    },

    async putOneTimeCode(userId, codeHash, nowMs, lifeMs) {
      await run(connection, SCRIPTS.putCode, keys.userOneTimeCode(userId), [
        ...[connection.told(nowMs), lifeMs, 'hash', codeHash, 'attempts', 0],
      ]);
    },

    async takeOneTimeCode(userId, codeHash, nowMs, maxAttempts) {
      const taken = await run(connection, SCRIPTS.takeOneTimeCode, keys.userOneTimeCode(userId), [
        ...[codeHash, connection.told(nowMs), maxAttempts],
      ]);
      return taken === 1;
    },
  };
}

function openLimits(connection: Connection, keys: Keys): Omit<SessionStore, LoginMethods> {
  return {
    async takeLimit(name, limit, windowMs, nowMs) {
      const [allowed, remaining, retryAfterMs] = listOf(
        await run(connection, SCRIPTS.countLimit, keys.limit(name), [
          limit,
          windowMs,
          connection.told(nowMs),
        ]),
      );
      return {
        allowed: allowed === 1,
        remaining: numberOf(remaining),
        retryAfterMs: numberOf(retryAfterMs),
      };
    },

    async clearLimit(name) {
      await connection.answer(connection.client.del(keys.limit(name)));
    },

    async claimIdempotent(key, fingerprint, nowMs, claimMs): Promise<IdempotencyClaim> {
      const [kind, status, body] = listOf(
        await run(connection, SCRIPTS.holdIdempotent, keys.idempotency(key), [
          ...[fingerprint, connection.told(nowMs), claimMs],
        ]),
      );
      if (kind === 'done') return { kind, status: numberOf(status), body: textOf(body) };
      // Otherwise the script returns one of these.
      return { kind: textOf(kind) as 'fresh' | 'running' | 'mismatch' };
    },

    async completeIdempotent(key, fingerprint, { status, body }, nowMs, keepMs) {
      await run(connection, SCRIPTS.keepIdempotent, keys.idempotency(key), [
        ...[fingerprint, status, body, connection.told(nowMs), keepMs],
      ]);
    },

    async releaseIdempotent(key, fingerprint) {
      await run(connection, SCRIPTS.releaseIdempotent, keys.idempotency(key), [fingerprint]);
    },
  };
}

/** `used` and `origin` are missing in what older releases wrote. */
function sessionOf(
  idHash: string,
  userId: number,
  [kind, created, expires, ends]: readonly (Reply | undefined)[],
  used: Reply | undefined,
  origin: Reply | undefined,
): Session {
  const { address = '', agent = '' } = JSON.parse(textOf(origin ?? '{}')) as Partial<Session>;
  return {
    idHash,
    userId,
    // Written from a Session.
    kind: textOf(kind) as Session['kind'],
    createdAtMs: numberOf(created),
    expiresAtMs: numberOf(expires),
    endsAtMs: numberOf(ends),
    usedAtMs: numberOf(used ?? created),
    ...{ address, agent },
  };
}
