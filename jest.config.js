import { availableParallelism } from 'node:os';

// Processes that tests start are not to find the settings of whoever runs them.
process.env.ENV_FILE = '';

/** @type {import('jest').Config} */
export default {
  roots: ['<rootDir>/test'],
  testMatch: ['**/*.test.ts'],
  // Node loads the modules, not jest (`runner.mjs`).
  transform: {},
  testEnvironment: '<rootDir>/test/support/jest/environment.mjs',
  testRunner: '<rootDir>/test/support/jest/runner.mjs',
  testSequencer: '<rootDir>/test/support/jest/sequencer.mjs',
  reporters: ['default', '<rootDir>/test/support/jest/reporter.mjs'],
  // A limit for what never ends. A machine that is busy with other things takes ten times as long as a quiet one.
  testTimeout: 180_000,
  // Suites of faults wait for half of their time: two more than there are cores.
  maxWorkers: availableParallelism() + 2,
  // A process never lets go of the test files of the suites that it has run: it is replaced before they fill its heap.
  workerIdleMemoryLimit: '1GB',
  // What a failed test left open must not hold the run.
  forceExit: true,
};
