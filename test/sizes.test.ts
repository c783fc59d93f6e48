import { expect, it } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

interface Lint {
  readonly overrides: readonly {
    readonly files: readonly string[];
    readonly rules?: Readonly<Record<string, unknown>>;
  }[];
}

const RULES = ['max-lines', 'max-lines-per-function', 'complexity'];
const LINT = JSON.parse(readFileSync('.oxlintrc.json', 'utf8')) as Lint;
const EXCEPTIONS = LINT.overrides.flatMap(({ files, rules = {} }) =>
  RULES.filter((rule) => rules[rule] === 'off' && !files.some((file) => file.includes('*'))).map(
    (rule) => ({ rule, files }),
  ),
);

it.each(EXCEPTIONS)('each file that $rule excepts still needs it', ({ rule, files }) => {
  const folder = mkdtempSync(join(tmpdir(), 'sizes-'));
  try {
    const limits = LINT.overrides.find(({ files: [pattern] }) => pattern === 'src/**/*.{ts,tsx}');
    const config = join(folder, 'lint.json');
    const categories = { correctness: 'off' };
    writeFileSync(config, JSON.stringify({ categories, rules: { [rule]: limits?.rules?.[rule] } }));

    expect(new Set(reported(['-c', config, ...files]))).toEqual(new Set(files));
  } finally {
    rmSync(folder, { recursive: true });
  }
});

/** The files in which oxlint finds something, which makes it fail. */
function reported(args: readonly string[]): string[] {
  const lint = join('node_modules', 'oxlint', 'bin', 'oxlint');
  try {
    execFileSync(process.execPath, [lint, '--format', 'json', ...args], { encoding: 'utf8' });
  } catch (error) {
    const { diagnostics } = JSON.parse(String((error as { stdout: unknown }).stdout)) as {
      readonly diagnostics: readonly { readonly filename: string }[];
    };
    return diagnostics.map(({ filename }) => filename);
  }
  return [];
}
