import { NO_SHARES, takeShare, type ShareState } from '../../core/share.js';
import type { ShareStore } from '../store.js';
import type { Database } from './database.js';

export function openShares(database: Database): ShareStore {
  const find = database.prepare<ShareState>(
    'SELECT share_window AS window, current, previous FROM shares WHERE name = ?',
  );
  const put = database.prepare<never>(
    `INSERT OR REPLACE INTO shares (name, share_window, current, previous, expires_at_ms) VALUES (?, ?, ?, ?, ?)`,
  );
  const giveBack = database.prepare<never>(
    'UPDATE shares SET current = max(0, current - ?) WHERE name = ? AND share_window > ?',
  );
  const removeOld = database.prepare<never>('DELETE FROM shares WHERE expires_at_ms <= ?');

  return {
    takeShare: (name, ask, nowMs) =>
      database.write(() => {
        const { next, answer } = takeShare(find.get(name) ?? NO_SHARES, ask, nowMs);
        if (answer.kind === 'refused') return answer;
        const { span } = ask;
        const expiresAtMs = span.kind === 'sliding' ? nowMs + 2 * span.ms : next.window;
        removeOld.run(nowMs);
        put.run(name, next.window, next.current, next.previous, expiresAtMs);
        return answer;
      }),

    returnShare: (name, units, nowMs) =>
      database.write(() => {
        giveBack.run(units, name, nowMs);
      }),
  };
}
