import type { PlaceStore } from '../store.js';
import type { Connection } from './connection.js';
import type { Keys } from './keys.js';
import { listOf, numberOf, run, SCRIPTS } from './scripts.js';

export function openPlaces(connection: Connection, keys: Keys): PlaceStore {
  return {
    async askPlaces(name, { node, most, used, want, forMs }, nowMs) {
      const [may = 0, isContended = 0] = listOf(
        await run(connection, SCRIPTS.askPlaces, keys.places(name), [
          ...[connection.told(nowMs), node, most, used, want, forMs],
        ]),
      ).map(numberOf);
      return { may, isContended: isContended === 1 };
    },
  };
}
