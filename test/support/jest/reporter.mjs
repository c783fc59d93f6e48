/**
 * Writes what each suite cost to `test-costs.json`, and fails a run in which a test passed without an assertion.
 * `npm test` begins the file; every other run adds its suites to it, and keeps what failed in them at first. A run of the
 * failures alone (`--onlyFailures`) tells that.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';

const FILE = 'test-costs.json';

export default class CostReporter {
  #before = {};
  #suites = {};
  #again;
  #isWhole;

  constructor({ onlyFailures = false, rootDir, testPathPatterns, testNamePattern = '' }) {
    this.#again = onlyFailures;
    this.#isWhole =
      process.env.npm_lifecycle_event === 'test' &&
      !(onlyFailures || testPathPatterns.isSet() || testNamePattern !== '');
    this.rootDir = rootDir;
    this.file = join(rootDir, FILE);
  }

  onRunStart() {
    if (!this.#isWhole && existsSync(this.file))
      this.#before = JSON.parse(readFileSync(this.file, 'utf8'));
    if (this.#again) this.#suites = { ...this.#before };
  }

  onTestResult({ path }, { testResults, perfStats, cpuSeconds = 0, failureMessage }) {
    const suite = relative(this.rootDir, path);
    const ran = testResults.filter(({ status }) => status === 'passed' || status === 'failed');
    const failed = ran
      .filter(({ status }) => status === 'failed')
      .map(({ fullName, failureMessages }) => `${fullName}: ${firstLine(failureMessages[0])}`);
    if (failureMessage && failed.length === 0) failed.push(firstLine(failureMessage));
    this.#suites[suite] = {
      cpu: round(cpuSeconds),
      wall: round((perfStats.end - perfStats.start) / 1_000),
      tests: ran.length,
      assertions: ran.reduce((sum, { numPassingAsserts }) => sum + numPassingAsserts, 0),
      withoutAssertion: ran
        .filter(({ status, numPassingAsserts }) => status === 'passed' && numPassingAsserts === 0)
        .map(({ fullName }) => fullName),
      failed,
      failedAtFirst: this.#before[suite]?.[this.#again ? 'failed' : 'failedAtFirst'] ?? [],
    };
  }

  onRunComplete() {
    const all = { ...this.#before, ...this.#suites };
    writeFileSync(this.file, `${JSON.stringify(all, null, 2)}\n`);
    for (const test of this.#idle()) console.log(`Passed without an assertion: ${test}`);
    if (!this.#again) return;
    for (const [suite, { failedAtFirst, failed }] of Object.entries(this.#suites)) {
      const outcome = failed.length > 0 ? 'and again' : 'and passed when the suite ran alone';
      for (const test of failedAtFirst)
        console.log(`Failed at first, ${outcome}: ${suite} › ${test}`);
    }
  }

  #idle() {
    return Object.entries(this.#suites).flatMap(([suite, { withoutAssertion }]) =>
      withoutAssertion.map((test) => `${suite} › ${test}`),
    );
  }

  /** Jest ends with exit code 1 where this is an error, and keeps it to itself. */
  getLastError() {
    return this.#idle().length === 0 ? undefined : new Error('tests passed without an assertion');
  }
}

function firstLine(message = '') {
  return message.split('\n', 1)[0];
}

function round(seconds) {
  return Math.round(seconds * 100) / 100;
}
