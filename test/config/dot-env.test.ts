import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { withDotEnv } from '../../src/config/dot-env.js';
import { build } from '../system/fleet.js';

let folder = '';

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'dot-env-'));
});

afterEach(() => {
  rmSync(folder, { recursive: true });
});

function write(text: string, name = '.env'): string {
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
}

describe('the file .env', () => {
  it('gives the variables that the environment does not have', () => {
    write(
      '\uFEFFA=1\r\n# comment\n\nexport B = "two # words"\nC=\'x\ny\' # after\nD=$A # not filled in\n',
    );

    expect(withDotEnv({ A: 'real', E: undefined }, folder)).toEqual({
      A: 'real',
      B: 'two # words',
      C: 'x\ny',
      D: '$A',
      E: undefined,
    });
  });

  it('leaves a variable empty that is there and empty', () => {
    write('KEY=from the file');

    expect(withDotEnv({ KEY: '' }, folder)).toEqual({ KEY: '' });
  });

  it('need not be there, unless ENV_FILE names it', () => {
    const missing = join(folder, 'none.env');

    expect(withDotEnv({ A: '1' }, folder)).toEqual({ A: '1' });
    expect(() => withDotEnv({ ENV_FILE: missing }, folder)).toThrow(
      `${missing}: cannot be read (ENOENT)`,
    );
  });

  it('may be another one, or none', () => {
    write('A=standard');
    const other = write('A=other', 'other.env');

    expect(withDotEnv({ ENV_FILE: other }, folder).A).toBe('other');
    expect(withDotEnv({ ENV_FILE: '' }, folder).A).toBeUndefined();
  });

  it('is refused with the line of every mistake, and without a word of what it says', () => {
    write('GOOD=1\nhush hush\n2ND=hush\nKEY: hush\nOPEN="hush\nLAST=1\n');

    let message = '';
    try {
      withDotEnv({}, folder);
    } catch (error) {
      message = String(error);
    }

    expect(message.split('\n').slice(1)).toEqual([
      `  ${join(folder, '.env')}:2: must be NAME=value, or a comment after #`,
      `  ${join(folder, '.env')}:3: must be NAME=value, or a comment after #`,
      `  ${join(folder, '.env')}:4: must be NAME=value, or a comment after #`,
      `  ${join(folder, '.env')}:5: starts with " but is never closed`,
    ]);
    expect(message).not.toContain('hush');
  });

  it('that is a folder, as a mount of what is not there makes it, is told', () => {
    mkdirSync(join(folder, '.env'));

    expect(() => withDotEnv({}, folder)).toThrow('.env: cannot be read (EISDIR)');
  });
});

describe.each([
  ['the gateway', ['dist/main.js', '--print-config']],
  ['a command', ['dist/cli.js', 'config', 'print']],
])('%s, started as people start it', (_, [program = '', ...args]) => {
  beforeAll(build);

  function start(env: Readonly<Record<string, string>> = {}): ReturnType<typeof spawnSync> {
    return spawnSync(process.execPath, [resolve(program), ...args], {
      cwd: folder,
      env: { PATH: process.env.PATH, ...env },
      encoding: 'utf8',
    });
  }

  it('reads .env in its folder, after the environment', () => {
    write('PORT=4711\nREDIS_PREFIX=file:\n');

    const { stdout, stderr } = start({ REDIS_PREFIX: 'real:' });

    expect(stderr).toBe('');
    expect(stdout).toContain('port: 4711');
    expect(stdout).toContain('redis_prefix: "real:"');
  });

  it('ends with 78 and the line where .env is wrong', () => {
    write('PORT 4711');

    const { status, stderr } = start();

    expect(status).toBe(78);
    expect(stderr).toBe(
      'There is 1 mistake in the settings:\n  .env:1: must be NAME=value, or a comment after #\n',
    );
  });
});
