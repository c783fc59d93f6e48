import { once } from 'node:events';
import { spawn } from 'node:child_process';
import {
  chmodSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { Secret } from '../../src/core/secret.js';
import { openDriver, type Driver } from '../../src/store/sqlite/driver.js';
import { migrate } from '../../src/store/sqlite/schema.js';
import { openSqliteStore, type SqliteStoreOptions } from '../../src/store/sqlite/sqlite-store.js';
import type { Store } from '../../src/store/store.js';
import { usageEntry } from '../support/events.js';
import {
  admitRequest,
  createToken,
  newChannel,
  newToken,
  sha256,
  T0,
  VAULT,
} from './contract/harness.js';

const AUDIT_ENTRY = {
  ...{ atMs: T0, actorId: 1, actor: 'root', action: 'tag.disable', target: 'tag:eu' },
  ...{ detail: {}, address: undefined },
};

let folder: string;
let toClose: { close(): unknown }[];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sqlite-file-'));
  toClose = [];
});

afterEach(async () => {
  for (const opened of toClose) await opened.close();
  rmSync(folder, { recursive: true });
});

function openStore(given: Partial<SqliteStoreOptions> = {}): Store {
  const store = openSqliteStore({ file: join(folder, 'gateway.db'), vault: VAULT, ...given });
  toClose.push(store);
  return store;
}

function openOther(): Driver {
  const driver = openDriver(join(folder, 'gateway.db'));
  toClose.push(driver);
  return driver;
}

describe('the file of the SQLite store', () => {
  test('keeps no rows of sessions that have ended once the next one begins', async () => {
    const store = openStore();
    const session = (name: string, createdAtMs: number) => ({
      ...{ idHash: sha256(name), userId: 1, kind: 'session' as const, createdAtMs },
      ...{ expiresAtMs: createdAtMs + 1_000, endsAtMs: createdAtMs + 1_000 },
    });
    await store.createSession(session('first', T0));
    await store.createSession(session('second', T0 + 500));

    await store.createSession(session('third', T0 + 1_000));

    const rows = openOther().prepare('SELECT id_hash FROM sessions ORDER BY created_at_ms').all([]);
    expect(rows).toEqual([{ id_hash: sha256('second') }, { id_hash: sha256('third') }]);
  });

  test('keeps no rows of limits that have ended once the next one is taken', async () => {
    const store = openStore();
    await store.takeLimit('first', 5, 1_000, T0);
    await store.takeLimit('second', 5, 60_000, T0);

    await store.takeLimit('third', 5, 1_000, T0 + 2_000);

    const rows = openOther().prepare('SELECT name FROM limits ORDER BY name').all([]);
    expect(rows).toEqual([{ name: 'second' }, { name: 'third' }]);
  });

  test('keeps nothing of an account that is deleted, but what it did', async () => {
    const store = openStore();
    const { token } = await createToken(store);
    const driver = openOther();
    const tables = driver
      .prepare("SELECT name FROM sqlite_master WHERE type = 'table' AND name <> 'users'")
      .all([]) as { readonly name: string }[];
    const columnsOf = (table: string) =>
      driver.prepare(`PRAGMA table_info(${table})`).all([]) as {
        readonly name: string;
        readonly type: string;
      }[];
    const owned = tables
      .map(({ name }) => name)
      .filter((table) => {
        return columnsOf(table).some(({ name }) => name === 'user_id');
      });
    const count = (table: string): number => {
      const counting = driver.prepare(`SELECT count(*) AS rows FROM ${table} WHERE user_id = ?`);
      return (counting.get([token.userId]) as { readonly rows: number }).rows;
    };
    // A row of the account in each of them, whatever else it says.
    for (const table of owned.filter((name) => name !== 'tokens')) {
      const columns = columnsOf(table);
      const values = columns.map(({ name, type }) =>
        name === 'user_id' ? token.userId : type === 'TEXT' ? 'x' : 1,
      );
      const names = columns.map(({ name }) => name).join();
      const places = columns.map(() => '?').join();
      driver.prepare(`INSERT INTO ${table} (${names}) VALUES (${places})`).run(values);
    }
    for (const table of owned) expect([table, count(table)]).toEqual([table, 1]);

    await store.deleteUser(token.userId);

    const left = owned.filter((table) => count(table) > 0);
    expect(left).toEqual(['usage_log', 'refused_log']);
  });

  test('is made with its folder, for its owner alone', async () => {
    const inner = join(folder, 'data', 'gateway');
    const store = openStore({ file: join(inner, 'gateway.db') });
    await createToken(store);

    const modes = readdirSync(inner).map((name) => statSync(join(inner, name)).mode & 0o777);

    expect(modes.length).toBeGreaterThanOrEqual(2);
    expect(new Set(modes)).toEqual(new Set([0o600]));
    expect(statSync(inner).mode & 0o777).toBe(0o700);
    expect(statSync(join(folder, 'data')).mode & 0o777).toBe(0o700);
  });

  test('leaves the mode of a folder that is there', () => {
    chmodSync(folder, 0o755);

    openStore();

    expect(statSync(folder).mode & 0o777).toBe(0o755);
  });

  test('is refused, and not touched, when a newer release has written it', async () => {
    await openStore().close();
    const other = openOther();
    other.exec('PRAGMA user_version = 999');

    expect(() => openStore()).toThrow(/written by a newer release \(schema 999, this one knows \d/);

    expect(other.prepare('PRAGMA user_version').get([])).toMatchObject({ user_version: 999 });
  });

  test('on a full disk is opened all the same, and says so where it must be upgraded first', () => {
    openStore();
    const driver = openOther();
    const onFullDisk: Driver = {
      prepare: (sql) => driver.prepare(sql),
      close: () => undefined,
      exec(sql) {
        if (/^(BEGIN|COMMIT|ROLLBACK)/.test(sql)) driver.exec(sql);
        else {
          // SQLite ends the transaction by itself.
          driver.exec('ROLLBACK');
          throw Object.assign(new Error('database or disk is full'), { errcode: 13 });
        }
      },
    };

    expect(() => migrate(onFullDisk, 'its file')).not.toThrow();
    driver.exec('PRAGMA user_version = 1');
    expect(() => migrate(onFullDisk, 'its file')).toThrow('database or disk is full');
  });

  test('gets columns for members of usage entries that its release did not know', async () => {
    await openStore().close();
    const older = openOther();
    older.exec('ALTER TABLE usage_log DROP COLUMN provider');
    older.exec('ALTER TABLE usage_log DROP COLUMN search_units');
    older.exec(`INSERT INTO usage_log (at_ms, request_id, user_id, token_id, token_name, model, attempts,
      documents, input_tokens, quota, duration_ms, outcome)
      VALUES (1, 'old', 1, 1, 'k', 'm', 1, 2, 3, 4, 5.5, 'ok')`);
    older.close();

    const { items } = await openStore().listUsage({ offset: 0, limit: 1 });

    expect(items).toMatchObject([
      { requestId: 'old', documents: 2, searchUnits: 0, provider: undefined },
    ]);
  });

  test('lets others have their turn while a log is searched, page by page', async () => {
    const store = openStore();
    // Some of the same millisecond, where one step ends.
    const entries = Array.from({ length: 25_000 }, (_, index) =>
      usageEntry({
        atMs: T0 + Math.floor(index / 7),
        outcome: index % 5_000 === 0 ? 'rare' : 'ok',
      }),
    );
    await store.appendUsage(entries, 100_000);
    const order: string[] = [];
    setImmediate(() => order.push('others'));

    const rare = await store.listUsage({ outcome: 'rare', offset: 0, limit: 10 });
    order.push('search');
    const ids = rare.items.map(({ id }) => id);
    const [, second] = ids;
    const query = { outcome: 'rare', limit: 2 };
    const pages = [
      await store.listUsage({ ...query, offset: 1 }),
      await store.listUsage({ ...query, offset: 1, count: false }),
      await store.listUsage({ ...query, offset: 0, before: second ?? 0 }),
    ];
    const all = await store.listUsage({ ...query, outcome: 'ok', offset: 9_000, limit: 15_990 });

    expect(order).toEqual(['others', 'search']);
    expect(ids).toEqual([20_001, 15_001, 10_001, 5_001, 1]);
    expect(rare.total).toBe(5);
    expect(pages.map(({ items, total }) => [items.map(({ id }) => id), total])).toEqual([
      [[15_001, 10_001], 5],
      [[15_001, 10_001], 4],
      [[10_001, 5_001], 3],
    ]);
    expect([all.total, new Set(all.items.map(({ id }) => id)).size]).toEqual([24_995, 15_990]);
  });

  test('keeps as many rankings as it may, and the latest of them', async () => {
    const store = openStore();
    for (const name of ['one', 'two', 'three']) await store.keepReply(name, name, T0, 1_000, 2);

    const found = ['one', 'two', 'three'].map((name) => store.findReply(name, T0));
    expect((await Promise.all(found)).map((reply) => reply?.text)).toEqual([
      ...[undefined, 'two', 'three'],
    ]);
  });

  test('reaches a bound that was lowered a lot in steps, and drops what is old in steps', async () => {
    const store = openStore();
    const total = async (): Promise<number> =>
      (await store.listUsage({ offset: 0, limit: 0 })).total;
    const entries = Array.from({ length: 5_000 }, (_, index) => usageEntry({ atMs: T0 + index }));
    await store.appendUsage(entries, 10_000);
    const totals: number[] = [];
    for (let later = 5_000; later < 5_005; later += 1) {
      await store.appendUsage([usageEntry({ atMs: T0 + later })], 1_500);
      totals.push(await total());
    }
    const order: string[] = [];
    const trimming = store.trimLogs(T0 + 4_990).then(() => order.push('trimmed'));
    await store.appendAudit(AUDIT_ENTRY, 10).then(() => order.push('written'));
    await trimming;

    expect(totals).toEqual([3_999, 2_998, 1_997, 1_500, 1_500]);
    expect(order).toEqual(['written', 'trimmed']);
    expect(await total()).toBe(15);
  });

  test('counts an entry once where one step of a sum ends and the next begins', async () => {
    const store = openStore();
    await store.appendUsage([usageEntry({ atMs: T0 }), usageEntry({ atMs: T0 + 1 })], 20_000);
    openOther().prepare('UPDATE usage_log SET id = 10001 WHERE id = 2').run([]);

    expect(await store.usageStats({})).toMatchObject({ requests: 2 });
  });

  test('is refused by name when it is something else', () => {
    writeFileSync(
      join(folder, 'gateway.db'),
      'this is a letter, and no database at all\n'.repeat(200),
    );

    expect(() => openStore()).toThrow(join(folder, 'gateway.db'));
  });

  test('does not contain upstream credentials in the clear', async () => {
    const store = openStore();
    const name = 'a channel to be found';
    const credentials = { apiKey: new Secret('a needle in the haystack') };
    await store.createChannel(newChannel({ name, credentials }));

    const bytes = readdirSync(folder)
      .map((entry) => readFileSync(join(folder, entry), 'latin1'))
      .join();

    expect(bytes).toContain(name);
    expect(bytes).not.toContain('needle');
  });

  test('lets a writer wait for another process, and the event loop run meanwhile', async () => {
    const store = openStore();
    const credential = await createToken(store);
    const other = openOther();
    other.exec('BEGIN IMMEDIATE');

    const admission = store.admit(admitRequest(credential));
    const first = await Promise.race([admission, Promise.resolve('the loop ran')]);
    const found = await store.getPasswordHash(credential.token.userId);
    other.exec('COMMIT');

    expect(first).toBe('the loop ran');
    expect(found).toBeDefined();
    expect((await admission).kind).toBe('admitted');
  });

  test('gives up when another process does not let go, and works again when it does', async () => {
    const store = openStore({ busyTimeoutMs: 5 });
    const credential = await createToken(store);
    const other = openOther();
    other.exec('BEGIN IMMEDIATE');

    const refused = await Promise.allSettled([
      store.admit(admitRequest(credential)),
      store.admit(admitRequest(credential)),
    ]);
    other.exec('COMMIT');

    expect(refused).toMatchObject([
      { status: 'rejected', reason: { name: 'StoreUnavailableError' } },
      { status: 'rejected', reason: { name: 'StoreUnavailableError' } },
    ]);
    expect((await store.admit(admitRequest(credential))).kind).toBe('admitted');
  });

  test('fails a write that cannot be done alone, not the ones that came with it', async () => {
    const store = openStore();
    const credential = await createToken(store, { remainQuota: 100 });
    const { userId } = credential.token;
    const same = admitRequest(credential, { amount: 10 });

    const outcomes = await Promise.allSettled([
      store.admit(same),
      store.admit(admitRequest(credential, { amount: 10 })),
      store.admit(same),
      store.createToken(newToken(userId), T0),
    ]);

    expect(outcomes.map(({ status }) => status)).toEqual([
      'fulfilled',
      'fulfilled',
      'rejected',
      'fulfilled',
    ]);
    expect((await store.getToken(credential.token.id, T0))?.remainQuota).toBe(80);
  });

  test('finishes the writes that are under way when it is closed', async () => {
    const store = openStore();
    const credential = await createToken(store, { remainQuota: 100 });

    const admissions = Array.from({ length: 5 }, () => store.admit(admitRequest(credential)));
    await store.close();

    for (const admission of admissions) expect((await admission).kind).toBe('admitted');
    const again = openStore();
    expect((await again.getToken(credential.token.id, T0))?.remainQuota).toBe(50);
  });

  test('holds one quota for several processes, and keeps what one that was killed had reserved', async () => {
    const store = openStore();
    const wanted = { remainQuota: 1_000, keyHash: sha256('shared') };
    const { token } = await createToken(store, wanted);
    const file = join(folder, 'gateway.db');

    const drains = [20, Infinity, Infinity].map((killAt) => drain(file, wanted.keyHash, killAt));
    await Promise.all(drains.map(({ ready }) => ready));
    const [killed = 0, ...finished] = await Promise.all(drains.map(({ go }) => go()));

    const taken = finished.reduce((sum, count) => sum + count, killed);
    expect(killed).toBeGreaterThanOrEqual(20);
    // The one that was killed may have reserved four more than it came to tell.
    expect(taken).toBeGreaterThanOrEqual(996);
    expect(taken).toBeLessThanOrEqual(1_000);
    expect((await store.getToken(token.id, T0))?.remainQuota).toBe(0);
    expect((await store.getToken(token.id, T0 + 60_000))?.remainQuota).toBe(1_000);
  });
});

/** Reserves one unit after another in a process of its own; `go` resolves to how many. `killAt` kills it when it has so many. */
function drain(
  file: string,
  keyHash: string,
  killAt: number,
): { readonly ready: Promise<unknown>; readonly go: () => Promise<number> } {
  const program = fileURLToPath(new URL('../support/drain-quota.ts', import.meta.url));
  const child = spawn(process.execPath, ['--import', 'tsx', program, file, keyHash, String(T0)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const go = (): Promise<number> => {
    let count = 0;
    child.stdout.on('data', (marks: Buffer) => {
      count += marks.length;
      if (count >= killAt) child.kill('SIGKILL');
    });
    child.stdin.end('go');
    return new Promise((resolve, reject) => {
      child.on('error', reject);
      child.on('close', (code, signal) => {
        if (code === 0 || signal === 'SIGKILL') resolve(count);
        else reject(new Error(`the process ended with ${code ?? signal ?? 'nothing'}`));
      });
    });
  };
  return { ready: once(child.stdout, 'data'), go };
}

test.each([
  ['removed', (file: string) => rmSync(file)],
  ['replaced', (file: string) => renameSync(`${file}.other`, file)],
])('a file that is %s while it is open counts as emptied', async (_how, change) => {
  const store = openStore();
  const file = join(folder, 'gateway.db');
  writeFileSync(`${file}.other`, '');
  const hear = () =>
    store.syncNode({
      ...{ nodeId: 'one', version: 0, serial: 1, heardSerial: 0 },
      ...{ nowMs: T0, ttlMs: 60_000 },
    });

  expect((await hear()).memory).toBe('kept');
  change(file);

  expect((await hear()).memory).toBe('emptied');
});
