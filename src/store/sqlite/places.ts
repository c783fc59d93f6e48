import { askPlaces, type PlaceHolder } from '../../core/places.js';
import type { PlaceStore } from '../store.js';
import type { Database } from './database.js';

export function openPlaces(database: Database): PlaceStore {
  const find = database.prepare<PlaceHolder>(
    'SELECT node, held, until_ms AS untilMs, short_until_ms AS shortUntilMs, short_since_ms AS shortSinceMs FROM places WHERE name = ?',
  );
  const remove = database.prepare<never>('DELETE FROM places WHERE name = ?');
  const put = database.prepare<never>(
    'INSERT INTO places (name, node, held, until_ms, short_until_ms, short_since_ms) VALUES (?, ?, ?, ?, ?, ?)',
  );

  return {
    askPlaces: (name, ask, nowMs) =>
      database.write(() => {
        const { next, answer } = askPlaces(find.all(name), ask, nowMs);
        remove.run(name);
        for (const { node, held, untilMs, shortUntilMs, shortSinceMs } of next) {
          put.run(name, node, held, untilMs, shortUntilMs, shortSinceMs);
        }
        return answer;
      }),
  };
}
