/**
 * Runs the browser tests, one file after another.
 *
 *   node test/console/run.mjs [--again] [part of a file's name…]
 *
 * --again  runs a file that failed once more, alone, before it counts, and tells of it: for machines that may stall
 */
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';

const AGAIN = '--again';
const args = process.argv.slice(2);
const parts = args.filter((arg) => arg !== AGAIN);
const files = readdirSync(import.meta.dirname)
  .filter((name) => name.endsWith('.test.mjs'))
  .filter((name) => parts.length === 0 || parts.some((part) => name.includes(part)))
  .sort();

function fails(file) {
  const tested = ['--test', join(import.meta.dirname, file)];
  return spawnSync(process.execPath, tested, { stdio: 'inherit' }).status !== 0;
}

const failed = files.filter(fails);
const counted = args.includes(AGAIN) ? failed.filter(fails) : failed;
for (const file of failed) {
  console.error(
    `${file} failed${counted.includes(file) ? '' : ', and passed when it was run again'}`,
  );
}
if (files.length === 0 || counted.length > 0) process.exit(1);
