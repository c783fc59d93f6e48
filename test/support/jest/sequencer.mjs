import { readFileSync } from 'node:fs';
import { relative } from 'node:path';
import Sequencer from '@jest/test-sequencer';

/** Seconds of the suites that take longest, so that a fresh machine begins with them. */
const SLOWEST = JSON.parse(readFileSync(new URL('slowest.json', import.meta.url), 'utf8'));

/** Runs the longest suites first: by what they took here, else by what they took where they were measured. */
export default class CostSequencer extends Sequencer {
  time(test) {
    const seconds = SLOWEST[relative(test.context.config.rootDir, test.path)] ?? 0;
    return super.time(test) ?? seconds * 1_000;
  }
}
