import { once } from 'node:events';
import { writeSync } from 'node:fs';
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.js';
import { createVault } from '../../src/store/vault.js';

/**
 * A process that says `ready`, and once it is told to go reserves one unit after another of a token, four at a time, writes a
 * mark for each, and ends when none is left. Arguments: the database file, the hash of the key, the time.
 */
const [, , file = '', keyHash = '', time = ''] = process.argv;
const nowMs = Number(time);
const store = openSqliteStore({ file, vault: createVault(undefined), busyTimeoutMs: 20_000 });
const credential = await store.findToken(keyHash);
if (credential === undefined) throw new Error('the token is not there');
const { token, version } = credential;
writeSync(1, 'ready');
await once(process.stdin, 'data');
process.stdin.destroy();

for (let count = 0, left = true; left; count += 4) {
  const admissions = await Promise.all(
    [0, 1, 2, 3].map((index) =>
      store.admit({
        tokenId: token.id,
        userId: token.userId,
        version,
        keyHash,
        reservationId: `${process.pid}-${count + index}`,
        amount: 1,
        nowMs,
        expiresAtMs: nowMs + 60_000,
      }),
    ),
  );
  const admitted = admissions.filter(({ kind }) => kind === 'admitted').length;
  writeSync(1, '.'.repeat(admitted));
  left = admitted === 4;
}
await store.close();
