/**
 * Runs the browser tests, three files at a time, since each waits for its browser and its gateway in turn.
 *
 *   node test/console/run.mjs [--again] [part of a file's name…]
 *
 * --again  runs a file that failed once more, alone, before it counts, and tells of it: for machines that may stall
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';

const AGAIN = '--again';
const AT_ONCE = 3;
/** Those that take longest begin first. */
const LONGEST = ['jobs.test.mjs', 'jobs-keyboard.test.mjs', 'pictures.test.mjs'];
const args = process.argv.slice(2);
const parts = args.filter((arg) => arg !== AGAIN);
const files = readdirSync(import.meta.dirname)
  .filter((name) => name.endsWith('.test.mjs'))
  .filter((name) => parts.length === 0 || parts.some((part) => name.includes(part)))
  .sort((a, b) => LONGEST.includes(b) - LONGEST.includes(a) || a.localeCompare(b));

/** Runs one file, and prints what it said once it has ended. */
async function fails(file) {
  const startMs = performance.now();
  const child = spawn(
    process.execPath,
    ['--test', '--test-reporter=spec', join(import.meta.dirname, file)],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  const [said, [code]] = await Promise.all([buffer(child.stdout), once(child, 'close')]);
  process.stdout.write(said);
  console.log(`${file}: ${Math.round((performance.now() - startMs) / 1_000)} s`);
  return code !== 0;
}

/** The files that fail, of which so many run at once. */
async function failing(all, atOnce) {
  const queue = [...all];
  const failed = [];
  const work = async () => {
    for (let file = queue.shift(); file !== undefined; file = queue.shift()) {
      if (await fails(file)) failed.push(file);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  return failed;
}

const failed = await failing(files, AT_ONCE);
const counted = args.includes(AGAIN) ? await failing(failed, 1) : failed;
for (const file of failed) {
  console.log(
    `${file} failed${counted.includes(file) ? '' : ', and passed when it was run again'}`,
  );
}
if (files.length === 0 || counted.length > 0) process.exit(1);
