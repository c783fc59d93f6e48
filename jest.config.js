import { availableParallelism } from 'node:os';

// Processes that tests start are not to find the settings of whoever runs them.
process.env.ENV_FILE = '';

/** @type {import('jest').Config} */
export default {
  roots: ['<rootDir>/test'],
  testMatch: ['**/*.test.ts'],
  extensionsToTreatAsEsm: ['.ts'],
  moduleNameMapper: {
    '^\\./password-cost\\.js$': '<rootDir>/test/support/password-cost.ts',
    '^(\\.{1,2}/.*)\\.js$': '$1',
  },
  transform: { '^.+\\.ts$': '@swc/jest' },
  // A limit for what never ends. A machine that is busy with other things takes ten times as long as a quiet one.
  testTimeout: 180_000,
  testRunner: '<rootDir>/test/support/costs/runner.mjs',
  testSequencer: '<rootDir>/test/support/costs/sequencer.mjs',
  reporters: ['default', '<rootDir>/test/support/costs/reporter.mjs'],
  // Suites of faults wait for half of their time: one more than there are cores.
  maxWorkers: availableParallelism() + 1,
  // A process never lets go of the modules of the suites that it has run: it is replaced before they fill its heap.
  workerIdleMemoryLimit: '1GB',
  // What a failed test left open must not hold the run.
  forceExit: true,
};
