import { readFileSync } from 'node:fs';
import circus from 'jest-circus/runner';

const TICKS_PER_SECOND = 100;

/** Runs a suite as jest does, and notes the CPU seconds that it took, with those of the processes that it started and saw end. */
export default async function run(...args) {
  const before = cpuSeconds();
  const result = await circus.default(...args);
  result.cpuSeconds = cpuSeconds() - before;
  return result;
}

function cpuSeconds() {
  if (process.platform !== 'linux') {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6;
  }
  // What follows the name: utime, stime, cutime and cstime are the 12th to the 15th.
  const fields = readFileSync('/proc/self/stat', 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ');
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) / TICKS_PER_SECOND;
}
