import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { mkdtempSync, rmSync } from 'node:fs';
import { spawn, spawnSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { beforeAll, expect, it } from '@jest/globals';
import { build } from './fleet.js';

beforeAll(build);

it.each(['1', '2'])(
  'has made the root account, and shown its password, before it listens: %s process(es)',
  async (workers) => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const folder = mkdtempSync(join(tmpdir(), 'rerank-first-'));
    const env = {
      ...{
        ENV_FILE: '',
        PATH: process.env.PATH,
        DATA_DIR: folder,
        WORKERS: workers,
        HOST: '127.0.0.1',
      },
      PORT: String((taken.address() as AddressInfo).port),
    };

    const child = spawn(process.execPath, ['dist/main.js'], { env });
    const [output, complaint] = await Promise.all([text(child.stdout), text(child.stderr)]);
    const status = child.exitCode;
    const nodes = spawnSync(process.execPath, ['dist/cli.js', 'nodes', 'list'], { env });
    taken.close();
    rmSync(folder, { recursive: true });

    // It could not listen, and nobody has lost the password for it.
    expect(complaint).toMatch(/The gateway cannot start: the port is in use .*\nKeep the password/);
    expect(complaint).toMatch(/The root account was created: root\n {2}password: \w{24}/);
    expect(output).not.toContain('password');
    expect(status).not.toBe(0);
    // Nor does it look like a gateway that has died.
    expect(nodes.stdout.toString()).toMatch(/^No gateway uses /);
  },
  120_000,
);
