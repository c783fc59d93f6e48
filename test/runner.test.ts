import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';

/**
 * The text of a suite, which is written to a file and given to the runner. Each test is named for how it is to end; the runner must
 * also tell which were skipped and which are planned: nothing of ours is.
 */
const SUITE = `
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';

const ok = () => { expect(1).toBe(1); };
it('passed: 1 assertion', ok);
it('failed: an expectation', () => { expect({ a: 1 }).toEqual({ a: 2 }); });
it('failed: a rejection', async () => { await Promise.reject(new Error('told')); });
it('failed: a time limit', async () => { await new Promise(() => undefined); }, 50);
it('failed: a rejection that nobody handles', () => { void Promise.reject(new Error('told')); ok(); });
it('passed: a rejection that is handled', async () => { await expect(Promise.reject(new Error('told'))).rejects.toThrow('told'); });
it('failed: an error in a timer', async () => {
  setTimeout(() => { throw new Error('told'); });
  await new Promise((done) => { setTimeout(done, 20); });
});
it('failed: fewer assertions than promised', () => { expect.assertions(2); ok(); });
it.skip('pending: skipped', ok);
it.todo('todo: planned');
describe('failed:', () => {
  beforeAll(() => { throw new Error('told'); });
  it('a hook', ok);
});
it('passed: timers of its own, which it leaves', () => { jest.useFakeTimers(); ok(); });
`;
const SUITES = {
  'a.test.ts': SUITE,
  'after-all.test.ts': `
    import { afterAll, expect, it } from '@jest/globals';
    afterAll(() => { throw new Error('told'); });
    it('passed: before it', async () => {
      await new Promise((done) => { setTimeout(done, 1); });
      expect(1).toBe(1);
    });`,
  'import.test.ts': `import { nothing } from './nowhere.js'; nothing();`,
  'none.test.ts': `export {};`,
};

interface Outcome {
  readonly success: boolean;
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly assertionResults: readonly {
      readonly fullName: string;
      readonly status: string;
      readonly numPassingAsserts: number;
    }[];
  }[];
}

let folder: string;
let outcome: Outcome;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'runner-'));
  await writeFile(join(folder, 'package.json'), '{"type":"module"}');
  for (const [name, text] of Object.entries(SUITES)) await writeFile(join(folder, name), text);
  const own = resolve('test', 'support', 'jest');
  const config = {
    rootDir: folder,
    testMatch: ['**/*.test.ts'],
    transform: {},
    testEnvironment: join(own, 'environment.mjs'),
    testRunner: join(own, 'runner.mjs'),
    testTimeout: 5_000,
  };
  const jest = resolve('node_modules', '.bin', 'jest');
  outcome = await new Promise((done) => {
    execFile(
      jest,
      ['--json', '--runInBand', '--forceExit', '--config', JSON.stringify(config)],
      (_failed, said) => done(JSON.parse(said) as Outcome),
    );
  });
});

afterAll(() => rm(folder, { recursive: true }));

function suite(name: string): Outcome['testResults'][number] | undefined {
  return outcome.testResults.find((result) => result.name.endsWith(`/${name}`));
}

it('tells how each test of a suite ends', () => {
  const tests = suite('a.test.ts')?.assertionResults ?? [];

  expect(tests).toHaveLength(12);
  expect(tests.map(({ status }) => status)).toEqual(
    tests.map(({ fullName }) => /^\w+/.exec(fullName)?.[0]),
  );
});

it('gives the next suite the timers of Node, and counts its assertions', () => {
  expect(suite('after-all.test.ts')?.assertionResults[0]).toMatchObject({
    ...{ status: 'passed', numPassingAsserts: 1 },
  });
});

it.each(['after-all.test.ts', 'import.test.ts', 'none.test.ts'])(
  'fails for what fails outside of tests: %s',
  (name) => {
    expect(suite(name)?.status).toBe('failed');
  },
);

it('fails the run', () => {
  expect(outcome.success).toBe(false);
});
