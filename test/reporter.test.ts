import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';

type Costs = Readonly<
  Record<string, { readonly failed: readonly string[]; readonly failedAtFirst: readonly string[] }>
>;

const OWN = resolve('test', 'support', 'jest');
const config = {
  ...{ testMatch: ['**/*.test.ts'], transform: {} },
  testEnvironment: join(OWN, 'environment.mjs'),
  testRunner: join(OWN, 'runner.mjs'),
  reporters: [join(OWN, 'reporter.mjs')],
};
let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'reporter-'));
  put('package.json', '{"type":"module"}');
});
afterAll(() => rmSync(folder, { recursive: true }));

function put(name: string, text: string): void {
  writeFileSync(join(folder, name), text);
}

function suite(expectation: string): string {
  return `import { expect, it } from '@jest/globals'; it('is one', () => { ${expectation} });`;
}

/** What is in the file after such a run, and what the run said. */
function run(
  script: string | undefined,
  ...args: string[]
): { readonly costs: Costs; readonly said: string } {
  const { npm_lifecycle_event: _event, ...env } = process.env;
  const all = ['--runInBand', '--config', JSON.stringify({ ...config, rootDir: folder }), ...args];
  const { stdout } = spawnSync(resolve('node_modules', '.bin', 'jest'), all, {
    ...{ cwd: folder, encoding: 'utf8' },
    env: script === undefined ? env : { ...env, npm_lifecycle_event: script },
  });
  const costs = JSON.parse(readFileSync(join(folder, 'test-costs.json'), 'utf8')) as Costs;
  return { costs, said: stdout };
}

it('keeps what failed at first in `npm test`, whatever runs after it, until the next `npm test`', () => {
  put('old.test.ts', suite('expect(1).toBe(1)'));
  run('test');
  rmSync(join(folder, 'old.test.ts'));
  put('good.test.ts', suite('expect(1).toBe(1)'));
  put('bad.test.ts', suite('expect(1).toBe(2)'));

  const first = run('test');
  put('bad.test.ts', suite('expect(1).toBe(1)'));
  const again = run('test', '--onlyFailures');
  put('proxy.ts', suite('expect(1).toBe(1)'));
  const proxy = run('test:proxy', '--testMatch', '<rootDir>/proxy.ts');
  const one = run(undefined, 'bad');

  expect(Object.keys(first.costs).sort()).toEqual(['bad.test.ts', 'good.test.ts']);
  expect(again.said).toMatch(/Failed at first, and passed .*: bad.test.ts › is one/);
  expect(Object.keys(proxy.costs).sort()).toEqual(['bad.test.ts', 'good.test.ts', 'proxy.ts']);
  for (const { costs } of [again, proxy, one]) {
    expect(costs['bad.test.ts']).toMatchObject({
      failed: [],
      failedAtFirst: [expect.stringMatching(/^is one: /)],
    });
  }
  expect(proxy.said + one.said).not.toContain('Failed at first');
  expect(run('test').costs['bad.test.ts']?.failedAtFirst).toEqual([]);
});

it('fails a run for a test of its own without an assertion, and for no other', () => {
  put('idle.test.ts', suite(''));

  expect(run('test').said).toContain('Passed without an assertion: idle.test.ts › is one');
  expect(run(undefined, 'good').said).not.toContain('Passed without an assertion');
});
