import { takeRate, type RateWindow } from '../../core/rate-limit.js';
import { judgeOneTimeCode, SESSIONS, USED_STEP_MS, type OneTimeCode } from '../sessions.js';
import type { IdempotencyClaim, NewSession, Session, SessionStore } from '../store.js';
import type { Database } from './database.js';
import { insertInto } from './rows.js';

interface IdempotencyRow {
  readonly fingerprint: string;
  /** Null while the request is running. */
  readonly status: number | null;
  readonly body: string | null;
}

export function openSessions(database: Database): SessionStore {
  return {
    ...openLogins(database),
    ...openOneTimeCodes(database),
    ...openLimits(database),
    ...openIdempotency(database),
  };
}

function openLogins(
  database: Database,
): Pick<
  SessionStore,
  | 'createSession'
  | 'deriveSession'
  | 'findSession'
  | 'deleteSession'
  | 'listSessions'
  | 'deleteUserSessions'
> {
  const find = database.prepare<object>(
    'SELECT * FROM sessions WHERE id_hash = ? AND expires_at_ms > ?',
  );
  const findOfUser = database.prepare<object>(
    `SELECT * FROM sessions WHERE user_id = ? AND expires_at_ms > ?
     ORDER BY created_at_ms DESC, id_hash`,
  );
  const use = database.prepare<never>(
    'UPDATE sessions SET expires_at_ms = ?, used_at_ms = ? WHERE id_hash = ?',
  );
  const remove = database.prepare<never>('DELETE FROM sessions WHERE id_hash = ?');
  const removeExpired = database.prepare<never>('DELETE FROM sessions WHERE expires_at_ms <= ?');
  const removeOfUser = database.prepare<never>('DELETE FROM sessions WHERE user_id = ?');
  const removeOfKind = database.prepare<never>(
    'DELETE FROM sessions WHERE user_id = ? AND kind = ?',
  );

  function create(session: NewSession): void {
    const { createdAtMs: usedAtMs } = session;
    removeExpired.run(usedAtMs);
    const columns = SESSIONS.toRow({ address: '', agent: '', source: '', ...session, usedAtMs });
    insertInto(database, 'sessions', columns, 'id_hash');
  }

  return {
    createSession: (session) => database.write(() => create(session)),

    deriveSession: (session, by) =>
      database.write(() => {
        const { userId, kind, createdAtMs } = session;
        const row = find.get(by, createdAtMs);
        if (row === undefined || sessionOf(row).userId !== userId) return false;
        removeOfKind.run(userId, kind);
        create(session);
        return true;
      }),

    findSession: (idHash, nowMs, slideMs) =>
      database.write(() => {
        const row = find.get(idHash, nowMs);
        if (row === undefined) return undefined;
        const session = sessionOf(row);
        const isNoted = nowMs - session.usedAtMs < USED_STEP_MS;
        if (session.kind !== 'session' && isNoted) return session;
        const slid = session.kind === 'session' ? nowMs + slideMs : session.expiresAtMs;
        const expiresAtMs = Math.min(slid, session.endsAtMs);
        const usedAtMs = isNoted ? session.usedAtMs : nowMs;
        use.run(expiresAtMs, usedAtMs, idHash);
        return { ...session, expiresAtMs, usedAtMs };
      }),

    deleteSession: (idHash) => database.write(() => remove.run(idHash) > 0),

    listSessions: (userId, nowMs) =>
      database.read(() => findOfUser.all(userId, nowMs).map(sessionOf)),

    deleteUserSessions: (userId, kind) =>
      database.write(() =>
        kind === undefined ? removeOfUser.run(userId) : removeOfKind.run(userId, kind),
      ),
  };
}

function openOneTimeCodes(
  database: Database,
): Pick<SessionStore, 'putOneTimeCode' | 'takeOneTimeCode'> {
  const put = database.prepare<never>(
    'INSERT OR REPLACE INTO one_time_codes (user_id, code_hash, expires_at_ms) VALUES (?, ?, ?)',
  );
  const find = database.prepare<OneTimeCode>(
    'SELECT code_hash AS codeHash, expires_at_ms AS expiresAtMs, attempts FROM one_time_codes WHERE user_id = ?',
  );
  const count = database.prepare<never>(
    'UPDATE one_time_codes SET attempts = attempts + 1 WHERE user_id = ?',
  );
  const remove = database.prepare<never>('DELETE FROM one_time_codes WHERE user_id = ?');

  return {
    putOneTimeCode: (userId, codeHash, nowMs, lifeMs) =>
      database.write(() => {
        put.run(userId, codeHash, nowMs + lifeMs);
      }),

    takeOneTimeCode: (userId, codeHash, nowMs, maxAttempts) =>
      database.write(() => {
        const kept = find.get(userId);
        if (kept === undefined) return false;
        const outcome = judgeOneTimeCode(kept, codeHash, nowMs, maxAttempts);
        if (outcome === 'wrong') count.run(userId);
        else remove.run(userId);
        return outcome === 'taken';
      }),
  };
}

function openLimits(database: Database): Pick<SessionStore, 'takeLimit' | 'clearLimit'> {
  const find = database.prepare<RateWindow>(
    'SELECT rate_window AS window, rate_current AS current, rate_previous AS previous FROM limits WHERE name = ?',
  );
  const put = database.prepare<never>(
    `INSERT OR REPLACE INTO limits (name, rate_window, rate_current, rate_previous, expires_at_ms)
     VALUES (?, ?, ?, ?, ?)`,
  );
  const removeExpired = database.prepare<never>('DELETE FROM limits WHERE expires_at_ms <= ?');
  const remove = database.prepare<never>('DELETE FROM limits WHERE name = ?');

  return {
    clearLimit: (name) =>
      database.write(() => {
        remove.run(name);
      }),

    takeLimit: (name, limit, windowMs, nowMs) =>
      database.write(() => {
        removeExpired.run(nowMs);
        const last = find.get(name) ?? { window: 0, current: 0, previous: 0 };
        const decision = takeRate(last, limit, nowMs, windowMs);
        if (!decision.allowed) {
          return { allowed: false, remaining: 0, retryAfterMs: decision.retryAfterMs };
        }
        const { window, current, previous } = decision.next;
        // Two windows later none of it counts any more.
        put.run(name, window, current, previous, (window + 2) * windowMs);
        return { allowed: true, remaining: decision.state.remaining, retryAfterMs: 0 };
      }),
  };
}

function openIdempotency(
  database: Database,
): Pick<SessionStore, 'claimIdempotent' | 'completeIdempotent' | 'releaseIdempotent'> {
  const find = database.prepare<IdempotencyRow>('SELECT * FROM idempotency WHERE key = ?');
  const claim = database.prepare<never>(
    'INSERT INTO idempotency (key, fingerprint, expires_at_ms) VALUES (?, ?, ?)',
  );
  // An expired claim that is still free completes; one that another request has taken stays unchanged.
  const complete = database.prepare<never>(
    `INSERT INTO idempotency (key, fingerprint, status, body, expires_at_ms) VALUES (?, ?, ?, ?, ?)
     ON CONFLICT (key) DO UPDATE
       SET status = excluded.status, body = excluded.body, expires_at_ms = excluded.expires_at_ms
       WHERE fingerprint = excluded.fingerprint AND idempotency.status IS NULL`,
  );
  const release = database.prepare<never>(
    'DELETE FROM idempotency WHERE key = ? AND fingerprint = ? AND status IS NULL',
  );
  const removeExpired = database.prepare<never>('DELETE FROM idempotency WHERE expires_at_ms <= ?');

  return {
    claimIdempotent: (key, fingerprint, nowMs, claimMs) =>
      database.write((): IdempotencyClaim => {
        removeExpired.run(nowMs);
        const row = find.get(key);
        if (row === undefined) {
          claim.run(key, fingerprint, nowMs + claimMs);
          return { kind: 'fresh' };
        }
        if (row.fingerprint !== fingerprint) return { kind: 'mismatch' };
        if (row.status === null) return { kind: 'running' };
        return { kind: 'done', status: row.status, body: row.body ?? '' };
      }),

    completeIdempotent: (key, fingerprint, { status, body }, nowMs, keepMs) =>
      database.write(() => {
        complete.run(key, fingerprint, status, body, nowMs + keepMs);
      }),

    releaseIdempotent: (key, fingerprint) =>
      database.write(() => {
        release.run(key, fingerprint);
      }),
  };
}

function sessionOf(row: object): Session {
  const session = SESSIONS.fromRow(row);
  // What older releases wrote has not been used since.
  return { ...session, usedAtMs: Math.max(session.usedAtMs, session.createdAtMs) };
}
