import { describe, expect, it } from '@jest/globals';
import { runCli } from '../src/cli/program.js';

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

  it('of a channel refuses an empty value', async () => {
    const { code, error } = await run('channels', 'update', 'search', '--models', '');

    expect(code).toBe(2);
    expect(error).toContain('Give names between commas.');
  });
});
