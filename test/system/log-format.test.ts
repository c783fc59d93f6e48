import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { build, PROGRAM } from './fleet.js';

/** A program on a terminal of its own: `script` of util-linux, or that of BSD and macOS. */
function onTerminal(command: readonly string[]): string[] {
  if (process.platform !== 'linux') return ['script', '-q', '/dev/null', ...command];
  return ['script', '--quiet', '--command', `exec ${command.join(' ')}`, '/dev/null'];
}

describe('the log of a start', () => {
  let folder = '';
  let child: ChildProcess | undefined;

  beforeAll(build);

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'rerank-log-'));
  });

  afterEach(async () => {
    child?.kill('SIGTERM');
    if (child?.exitCode === null) await once(child, 'exit');
    rmSync(folder, { recursive: true, force: true });
  });

  /** The line that says where the gateway listens, as standard output has it. */
  async function listening(command: readonly string[], format: string): Promise<string> {
    const [program = '', ...args] = command;
    const settings = { DATA_DIR: folder, HOST: '127.0.0.1', PORT: '0', LOG_FORMAT: format };
    const env = { ENV_FILE: '', PATH: process.env.PATH, TERM: 'xterm', ...settings };
    const started = spawn(program, args, { env, stdio: ['ignore', 'pipe', 'ignore'] });
    child = started;
    let said = '';
    for await (const chunk of started.stdout) {
      said += String(chunk);
      const line = said.split('\n').find((each) => each.includes('listening') && each !== '');
      if (line !== undefined && said.includes(`${line}\n`)) return line;
    }
    throw new Error(`it ended: ${said}`);
  }

  it('is a JSON line where nobody reads along', async () => {
    expect(JSON.parse(await listening(PROGRAM, 'auto'))).toMatchObject({ msg: 'listening' });
  }, 60_000);

  it('is for people where the settings say so', async () => {
    const line = await listening(PROGRAM, 'pretty');

    expect(line).toMatch(/^\[\d\d:\d\d:\d\d\.\d{3}\] INFO \(\d+\): listening \{"port":\d+,/);
  }, 60_000);

  it('is for people, and coloured, on a terminal', async () => {
    // The colour of its level begins with an escape.
    expect(await listening(onTerminal(PROGRAM), 'auto')).toContain('\u001b[32mINFO');
  }, 60_000);

  it('keeps serving when nobody reads what it says, and ends when asked to', async () => {
    const settings = { DATA_DIR: folder, HOST: '127.0.0.1', PORT: '0', LOG_FORMAT: 'json' };
    const env = { ENV_FILE: '', PATH: process.env.PATH, ...settings };
    const [program = '', ...args] = PROGRAM;
    const started = spawn(program, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
    child = started;
    started.stderr.destroy();
    const port = await new Promise<number>((resolve, reject) => {
      let said = '';
      started.stdout.on('data', (chunk) => {
        said += String(chunk);
        const found = /"port":(\d+).*"listening"/.exec(said)?.[1];
        if (found !== undefined) resolve(Number(found));
      });
      started.once('exit', (code) => reject(new Error(`it ended with ${String(code)}: ${said}`)));
    });
    started.stdout.destroy();

    const reply = await fetch(`http://127.0.0.1:${port}/healthz`);
    started.kill('SIGTERM');
    const [code] = (await once(started, 'exit')) as [number | null];

    expect([reply.status, code]).toEqual([200, 0]);
  }, 60_000);
});
