import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { Command } from 'commander';
import { COMMANDS } from '../../src/cli/commands.js';
import { runCli } from '../../src/cli/program.js';
import type { CliIo } from '../../src/cli/session.js';

/** What the command line refuses before it looks for settings or a store. */
async function run(
  ...args: string[]
): Promise<{ readonly code: number; readonly out: string; readonly error: string }> {
  let out = '';
  let error = '';
  const code = await runCli(args, {
    // Whoever gets as far as the settings ends with another exit code.
    env: { CONFIG: '/nowhere/gateway.yaml' },
    user: 'alice',
    now: () => 0,
    writeOut: (output) => (out += output),
    writeError: (output) => (error += output),
    ask: undefined,
    readInput: () => Promise.resolve(''),
  });
  return { code, out, error };
}

const KEY_COMMANDS = [['create'], ['update', 'search']];

describe('an option that takes a list', () => {
  it.each([
    ['--models', 'all'],
    ['--ips', 'any'],
    ['--tags', 'any'],
  ])('of a key, %s, has %s for no limit and refuses an empty value', async (option, word) => {
    for (const command of KEY_COMMANDS) {
      for (const value of ['', ' ', ',']) {
        const { code, error } = await run('keys', ...command, option, value);

        expect(code).toBe(2);
        expect(error).toContain(`${word} for no limit`);
      }
      expect(await run('keys', ...command, option, word)).toMatchObject({ code: 78 });
    }
    const { out } = await run('keys', 'update', '--help');
    expect(out.replaceAll(/\s+/g, ' ')).toMatch(
      new RegExp(`${option} <\\w+> [^<]* ${word} for no limit`),
    );
  });

  it('of addresses refuses IPv4 in IPv6 form with a prefix that holds more than IPv4', async () => {
    for (const command of KEY_COMMANDS) {
      const refused = await run('keys', ...command, '--ips', '::1,::ffff:10.0.0.0/64');
      const taken = await run('keys', ...command, '--ips', '::1,::ffff:10.0.0.0/104');

      expect(refused.code).toBe(2);
      expect(refused.error).toContain('"::ffff:10.0.0.0/64" is IPv4 in IPv6 form');
      expect(taken.code).toBe(78);
    }
  });

  it('of a channel refuses an empty value', async () => {
    const { code, error } = await run('channels', 'update', 'search', '--models', '');

    expect(code).toBe(2);
    expect(error).toContain('Give names separated by commas.');
  });
});

describe('the commands of the program', () => {
  it('are those that the modules add', async () => {
    const program = new Command();
    const adders = new Set<(program: Command, io: CliIo) => void>();
    for (const { load } of COMMANDS) adders.add((await load()).addCommands);
    for (const add of adders) add(program, { now: () => 0 } as CliIo);

    const added = program.commands.map((command) => command.name());
    expect(added.toSorted()).toEqual(COMMANDS.map(({ name }) => name).toSorted());
  });

  it('are all in its help, under their names and those for short', async () => {
    const { code, out } = await run('--help');

    expect(code).toBe(0);
    for (const { name, alias } of COMMANDS) {
      expect(out).toContain(`  ${alias === undefined ? name : `${name}|${alias}`} `);
    }
  });

  it('load neither the store nor the checks of settings before one runs', () => {
    const packages = new Set<string>();
    const files = new Set<string>();
    function follow(file: URL): void {
      if (files.has(file.href)) return;
      files.add(file.href);
      const code = readFileSync(file, 'utf8');
      for (const [, from = ''] of code.matchAll(
        /^(?:import|export) (?!type )[^;']*? from '([^']+)';/gm,
      )) {
        if (from.startsWith('.')) follow(new URL(from.replace(/js$/, 'ts'), file));
        else if (!from.startsWith('node:')) packages.add(from);
      }
    }
    follow(new URL('../../src/cli.ts', import.meta.url));

    expect([...packages]).toEqual(['commander']);
  });

  it('have help by `help` as by --help, at any depth', async () => {
    const help = await run('help', 'keys', 'create');

    expect(help).toEqual(await run('keys', 'create', '--help'));
    expect(help.out).toContain('Usage: rerank-gateway keys create');
    expect(await run('help', 'keys')).toEqual(await run('keys', '--help'));
  });
});

describe('wrong usage', () => {
  it.each([
    [['keys', 'show'], "missing required argument 'key'"],
    [['keys', 'create', '--quota', '1.5'], "option '--quota <amount>' argument '1.5' is invalid."],
    [['keys', 'create', '--colour', 'red'], "unknown option '--colour'"],
    [['keys', 'create', '--name'], "option '--name <name>' argument missing"],
    [['keys', 'crate'], "unknown command 'crate'\n(Did you mean create?)"],
    [['keys', 'create', '--quota', '10', '--unlimited'], 'cannot be used with'],
    [['channels', 'create', '--name', 'x'], 'required option'],
    [['keys'], '--help'],
    [[], '--help'],
  ])('of %j is told to scripts in JSON alone, and to people in words', async (args, message) => {
    const words = await run(...args);
    expect(words).toMatchObject({ code: 2, out: '' });
    expect(words.error).toContain(message);
    expect(words.error).not.toContain('"error"');

    // An option without its value would take the next word for it.
    for (const line of [
      ['--json', ...args],
      ...(args.at(-1) === '--name' ? [] : [[...args, '--json']]),
    ]) {
      const { code, out, error } = await run(...line);
      expect({ code, out }).toEqual({ code: 2, out: '' });
      expect(JSON.parse(error)).toEqual({
        error: { code: 'invalid_request', message: expect.stringContaining(message) },
      });
      expect(error).not.toContain('error: ');
    }
  });

  it('is no matter of asking for help', async () => {
    const { code, out, error } = await run('--json', 'keys', 'create', '--help');

    expect({ code, error }).toEqual({ code: 0, error: '' });
    expect(out).toContain('--quota <amount>');
  });
});

describe('a span of an overview', () => {
  it('is from a minute to as long as statistics go', async () => {
    for (const last of ['0m', '37d', '999999y', '1', 'never']) {
      const { code, error } = await run('overview', '--last', last);

      expect(code).toBe(2);
      expect(error).toContain('Give a time');
    }
    for (const last of ['1m', '36d']) {
      expect(await run('overview', '--last', last)).toMatchObject({ code: 78 });
    }
  });
});
