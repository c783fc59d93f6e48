import { judgeOneTimeCode, USED_STEP_MS } from '../sessions.js';
import type { IdempotencyClaim, NewSession, Session, SessionStore } from '../store.js';
import { putCode } from './accounts.js';
import { change, fieldsOf, type Step } from './change.js';
import type { Connection } from './connection.js';
import type { Keys } from './keys.js';
import { listOf, numberOf, pairsOf, run, SCRIPTS, textOf, type Reply } from './scripts.js';

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

  const places = (userId: number): [records: string, known: string] => [
    keys.userSessions(userId),
    keys.userLogins(userId),
  ];

  /** The writes that end sessions of a user. */
  const removals = (userId: number, ids: readonly string[]): Step[] => {
    const [records, known] = places(userId);
    return ids.flatMap((id): Step[] => [
      ['HDEL', records, id],
      ['HDEL', known, id, `${id}:used`],
    ]);
  };

  /** Resolves to the ids of the sessions that it ended, or `undefined` if the one that it is made by has ended. */
  function write(session: NewSession, by: string | undefined): Promise<string[] | undefined> {
    const { idHash, userId, kind, createdAtMs, expiresAtMs, endsAtMs } = session;
    const { address = '', agent = '', source = '' } = session;
    const [records, known] = places(userId);
    const looks = [['HGETALL', records]] as const;
    return change<string[] | undefined>(connection, looks, createdAtMs, ([found], nowMs) => {
      const all = pairsOf(found).map(([id, record]) => ({ id, record: record.split(':') }));
      const live = all.filter(({ record }) => Number(record[2]) > nowMs);
      if (by !== undefined && !live.some(({ id }) => id === by)) return { result: undefined };
      const ended = by === undefined ? [] : live.filter(({ record }) => record[0] === kind);
      const gone = [...all.filter((each) => !live.includes(each)), ...ended];
      // The caller's clock may be behind.
      const times = [createdAtMs, expiresAtMs, endsAtMs].map((ms) => ms + nowMs - createdAtMs);
      const writes: Step[] = [
        ...removals(
          userId,
          gone.map(({ id }) => id),
        ),
        ['HSET', records, idHash, [kind, ...times].join(':')],
        ['HSET', known, idHash, JSON.stringify({ address, agent, source })],
      ];
      return { result: ended.map(({ id }) => id), writes };
    });
  }

  async function create(session: NewSession, by?: string): Promise<boolean> {
    const { idHash, userId, createdAtMs, endsAtMs } = session;
    const lifeMs = Math.max(1, endsAtMs - createdAtMs);
    await answer(client.set(keys.session(idHash), `${userId}`, 'PX', lifeMs));
    const ended = await write(session, by);
    // These keys now lead nowhere.
    for (const gone of ended ?? [idHash]) await answer(client.del(keys.session(gone)));
    return ended !== undefined;
  }

  return {
    async createSession(session) {
      await create(session);
    },

    deriveSession: create,

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
        .filter(({ expiresAtMs }) => expiresAtMs > nowMs)
        .sort((a, b) => b.createdAtMs - a.createdAtMs || (a.idHash < b.idHash ? -1 : 1));
    },

    async deleteUserSessions(userId, kind) {
      const looks = [['HGETALL', keys.userSessions(userId)]] as const;
      const ended = await change(connection, looks, 0, ([found]) => {
        const ids = pairsOf(found)
          .filter(([, record]) => kind === undefined || record.split(':')[0] === kind)
          .map(([id]) => id);
        return { result: ids, writes: removals(userId, ids) };
      });
      for (const idHash of ended) await answer(client.del(keys.session(idHash)));
      return ended.length;
    },

    putOneTimeCode(userId, codeHash, nowMs, lifeMs) {
      const key = keys.userOneTimeCode(userId);
      return putCode(connection, key, nowMs, lifeMs, { hash: codeHash, attempts: 0 });
    },

    takeOneTimeCode(userId, codeHash, nowMs, maxAttempts) {
      const key = keys.userOneTimeCode(userId);
      return change(connection, [['HGETALL', key]], nowMs, ([fields], now) => {
        const { hash, expires, attempts } = fieldsOf(fields);
        if (hash === undefined) return { result: false };
        const kept = {
          codeHash: hash,
          expiresAtMs: Number(expires),
          attempts: Number(attempts ?? 0),
        };
        const outcome = judgeOneTimeCode(kept, codeHash, now, maxAttempts);
        const write: Step = outcome === 'wrong' ? ['HINCRBY', key, 'attempts', 1] : ['DEL', key];
        return { result: outcome === 'taken', writes: [write] };
      });
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
  const stored = JSON.parse(textOf(origin ?? '{}')) as Partial<Session>;
  const { address = '', agent = '', source = '' } = stored;
  return {
    idHash,
    userId,
    // Written from a Session.
    kind: textOf(kind) as Session['kind'],
    createdAtMs: numberOf(created),
    expiresAtMs: numberOf(expires),
    endsAtMs: numberOf(ends),
    usedAtMs: numberOf(used ?? created),
    ...{ address, agent, source },
  };
}
