import type { ShareStore } from '../store.js';
import type { Connection } from './connection.js';
import type { Keys } from './keys.js';
import { listOf, numberOf, run, SCRIPTS } from './scripts.js';

export function openShares(connection: Connection, keys: Keys): ShareStore {
  return {
    async takeShare(name, { most, want, least, span }, nowMs) {
      const [units, ms] = listOf(
        await run(connection, SCRIPTS.takeShare, keys.share(name), [
          ...[connection.told(nowMs), most, want, least],
          ...(span.kind === 'sliding' ? ['sliding', span.ms] : ['until', span.atMs]),
        ]),
      ).map(numberOf);
      return units === undefined || units === 0
        ? { kind: 'refused', retryAfterMs: ms ?? 1 }
        : { kind: 'granted', units, forMs: ms ?? 0 };
    },

    async returnShare(name, units, nowMs) {
      await run(connection, SCRIPTS.returnShare, keys.share(name), [connection.told(nowMs), units]);
    },
  };
}
