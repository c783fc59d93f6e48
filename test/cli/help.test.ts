import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Command } from 'commander';
import { COMMANDS } from '../../src/cli/commands.js';
import { addHelp } from '../../src/cli/help.js';
import { EXAMPLES } from '../../src/cli/help-examples.js';
import { runCli } from '../../src/cli/program.js';
import type { CliIo } from '../../src/cli/session.js';

/** The program with all commands; instead of running, each notes that its words were understood. */
async function everything(): Promise<{
  readonly commands: ReadonlyMap<string, Command>;
  readonly understands: (line: readonly string[]) => Promise<string | undefined>;
}> {
  const program = new Command('rerank-gateway').exitOverride();
  program.option('--config <path>').option('--json').option('--url <url>');
  const adders = new Set<(program: Command, io: CliIo) => void>();
  for (const { load } of COMMANDS) adders.add((await load()).addCommands);
  for (const add of adders) add(program, { now: () => Date.now() } as CliIo);
  const commands = new Map<string, Command>();
  let understood: string | undefined;
  const walk = (command: Command, words: readonly string[]): void => {
    command.exitOverride().configureOutput({ writeErr: () => undefined });
    for (const sub of command.commands) walk(sub, [...words, sub.name()]);
    if (command.commands.length > 0 && !['import', 'spend'].includes(words.join(''))) return;
    commands.set(words.join(' '), command);
    command.action(() => {
      understood = words.join(' ');
    });
  };
  walk(program, []);
  addHelp(program, []);
  return {
    commands,
    async understands(line) {
      understood = undefined;
      await program.parseAsync(line, { from: 'user' });
      return understood;
    },
  };
}

function helpOf(command: Command): string {
  let text = '';
  command.configureOutput({ writeOut: (more) => (text += more) });
  command.outputHelp();
  return text;
}

/** The words of a line as a shell takes them apart; what it does with files is left out. */
function wordsOf(line: string): string[] {
  const [, rest = ''] = /rerank-gateway ([^>|<]*)/.exec(line) ?? [];
  return [...rest.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map(
    ([, single, double, plain]) => single ?? double ?? plain ?? '',
  );
}

const NAMES = /\b(?:[a-z]+[a-z0-9]*_[a-z_]+|[a-z]+[A-Z][A-Za-z]+)\b/g;
/** Settings in files, a product, and part of an address. */
const KNOWN = /^(?:cache_ttl_ms|attempt_timeout_ms|vLLM|return_full_object)$/;

describe('the help of every command', () => {
  it('has examples, which the program understands', async () => {
    const { commands, understands } = await everything();
    for (const [words, command] of commands) {
      const [, after = ''] = helpOf(command).split(/\nExamples?:\n/);
      const lines = after.split('\n').filter((line) => line.includes('rerank-gateway '));

      expect([words, lines.length > 0]).toEqual([words, true]);
      const understood = new Map<string, string | undefined>();
      for (const line of lines) understood.set(line, await understands(wordsOf(line)));
      for (const [line, as] of understood) expect([line, as]).toEqual([line, expect.any(String)]);
      // Some show what comes after, too; `logs --follow` is short for `logs all --follow`.
      expect([...understood.values()]).toContain(words);
    }
  });

  it('has no examples for commands that do not exist', async () => {
    const { commands } = await everything();

    expect(Object.keys(EXAMPLES).filter((words) => !commands.has(words))).toEqual([]);
  });

  it('names options as they are typed, and none as the API spells its members', async () => {
    const { commands } = await everything();
    const wrong = [...commands].flatMap(([words, command]) => {
      const texts = [command.description(), ...command.options.map((option) => option.description)];
      return texts
        .flatMap((text) => text.match(NAMES) ?? [])
        .filter((name) => !KNOWN.test(name))
        .map((name) => `${words}: ${name}`);
    });

    expect(wrong).toEqual([]);
  });

  it('begins with the common options, and groups the others', async () => {
    const { commands } = await everything();
    const create = commands.get('keys create');
    if (create === undefined) throw new Error('there is no keys create');
    const help = helpOf(create);

    const places = ['--name', '--quota', '\nLimits:', '--budget', '\nRarely needed:', '--dialect'];
    const found = places.map((text) => help.indexOf(text));
    expect(found.every((at) => at > 0)).toBe(true);
    expect(help.indexOf('--name')).toBeLessThan(help.indexOf('\nLimits:'));
    expect(help.indexOf('\nRarely needed:')).toBeLessThan(help.indexOf('--dialect'));
  });
});

describe('completion', () => {
  const folder = mkdtempSync(join(tmpdir(), 'completion-'));
  beforeAll(async () => {
    writeFileSync(join(folder, 'bash'), await scriptFor('bash'));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  async function scriptFor(shell: string): Promise<string> {
    let out = '';
    await runCli(['completion', shell], {
      ...{ env: {}, user: 'alice', now: Date.now, ask: undefined },
      writeOut: (text) => (out += text),
      writeError: () => undefined,
      readInput: () => Promise.resolve(''),
    });
    return out;
  }

  /** What bash offers for the last word. */
  function offers(...words: string[]): string[] {
    const script = `source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _rerank_gateway; printf '%s\\n' "\${COMPREPLY[@]}"`;
    const args = ['--norc', '-c', script, 'bash', join(folder, 'bash'), 'rerank-gateway', ...words];
    return execFileSync('bash', args, { encoding: 'utf8' }).trim().split('\n');
  }

  it('offers commands, options and their values in bash', () => {
    expect(offers('ke')).toEqual(['keys']);
    expect(offers('key', '')).toEqual(expect.arrayContaining(['create', 'list', 'roll']));
    expect(offers('--json', 'keys', 'create', '--quo')).toEqual(['--quota']);
    expect(offers('keys', 'list', '--status', 'e')).toEqual(['enabled', 'expired', 'exhausted']);
    expect(offers('keys', 'list', '--ur')).toEqual(['--url']);
    expect(offers('completion', 'f')).toEqual(['fish']);
    // A name is for people to know.
    expect(offers('keys', 'list', '--user', '')).toEqual(['']);
  });

  it.each(['zsh', 'fish'])('prints a script that %s reads, where there is one', async (shell) => {
    const file = join(folder, shell);
    const script = await scriptFor(shell);
    // Options of the program itself are offered after every command.
    if (shell === 'fish') expect(script).toMatch(/^complete -c rerank-gateway -l json /m);
    writeFileSync(file, script);
    const { error, status, stderr } = spawnSync(shell, ['-n', file], { encoding: 'utf8' });
    if (error !== undefined) expect(error).toMatchObject({ code: 'ENOENT' });
    else expect([status, stderr]).toEqual([0, '']);
    if (error !== undefined || shell === 'zsh') return;
    const offered = (line: string): string =>
      execFileSync(shell, ['-c', `source ${file}; complete -C '${line}'`], { encoding: 'utf8' });
    expect(offered('rerank-gateway key cr')).toMatch(/^create\t/);
    expect(offered('rerank-gateway --url http://x keys list --sta')).toMatch(/^--status\t/);
    expect(offered('rerank-gateway completion z')).toMatch(/^zsh/);
  });
});
