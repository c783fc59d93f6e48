import { spawnSync } from 'node:child_process';
import { closeSync, existsSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { until } from '../support/until.js';
import {
  makeHome,
  runCliHere,
  startProcess,
  type GatewayProcess,
  type Home,
  type KeyRecord,
} from './fleet.js';
import { rerankBody } from './upstreams.js';

/** Linux, by util-linux: from a limit on, writes to files of a process fail as those to a full disk do. */
const canLimit = spawnSync('prlimit', ['--version']).status === 0;

/** Where a SQLite file says which version of the tables it has. */
const USER_VERSION_AT = 60;

let home: Home;

beforeEach(async () => {
  home = await makeHome({ channels: [{ name: 'own', provider: 'local', models: ['m'] }] });
});
afterEach(() => home.remove());

function limitFiles({ pid }: GatewayProcess, most: string): void {
  const { status, stderr } = spawnSync('prlimit', ['--pid', String(pid), `--fsize=${most}:`], {
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(stderr);
}

async function readiness({ url }: GatewayProcess): Promise<string> {
  const response = await fetch(`${url}/readyz`);
  return `${response.status} ${await response.text()}`;
}

describe('a gateway on the embedded store', () => {
  it('says that its disk takes nothing, charges nothing, and goes on when there is room', async () => {
    if (!canLimit) {
      process.stdout.write('prlimit is not here: a full disk was not tried.\n');
      return;
    }
    const gateway = await startProcess(home);
    try {
      const made = await runCliHere(home, ['keys', 'create', '--quota', '1000000']);
      const { key, id } = made as { key: string; id: number };
      expect((await gateway.post(key, rerankBody('m'))).status).toBe(200);
      const record = async (): Promise<KeyRecord> =>
        (await runCliHere(home, ['keys', 'show', String(id)])) as KeyRecord;
      await until('it is charged', async () => (await record()).used_quota > 0);
      const { remain_quota: before } = await record();

      limitFiles(gateway, '1');
      await until('it is not ready', async () => (await readiness(gateway)).startsWith('503'));
      const refused = await gateway.post(key, rerankBody('m'));

      expect(await readiness(gateway)).toMatch(/disk (fails|is full)/);
      expect([refused.status, refused.body.error.code]).toEqual([503, 'store_unavailable']);
      expect((await record()).remain_quota).toBe(before);

      limitFiles(gateway, 'unlimited');
      await until('it is ready', async () => (await readiness(gateway)).startsWith('200'));
      expect((await gateway.post(key, rerankBody('m'))).status).toBe(200);
    } finally {
      gateway.kill('SIGTERM');
      expect((await gateway.exited).code).toBe(0);
    }
  }, 120_000);

  it('does not start on a file that a newer release has written, and says so in one sentence', async () => {
    const first = await startProcess(home);
    first.kill('SIGTERM');
    await first.exited;
    const file = join(home.folder, 'gateway.db');
    expect(existsSync(file)).toBe(true);
    const handle = openSync(file, 'r+');
    writeSync(handle, Buffer.from([0, 0, 0x27, 0x0f]), 0, 4, USER_VERSION_AT);
    closeSync(handle);

    const said = await startProcess(home).then(
      () => 'it started',
      (error: unknown) => String(error),
    );

    const lines = said.split('\n').filter((line) => line.includes('newer release'));
    expect(lines).toHaveLength(1);
    expect(said).not.toMatch(/^ {4}at /m);
  }, 120_000);
});
