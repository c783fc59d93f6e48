/**
 * Tries on each version of Node that is supported what the gateway relies on inside Node. npm has the versions: needs its
 * registry. `node test/nodes/main.mjs 26` tries another one.
 */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const TESTS = fileURLToPath(new URL('nodes.test.mjs', import.meta.url));
const SUPPORTED = ['20', '22', '24'];
const MOST_MS = 120_000;

const asked = process.argv.slice(2);
for (const version of asked.length > 0 ? asked : SUPPORTED) {
  const command = [
    '--yes',
    '--package',
    `node@${version}`,
    '--',
    'node',
    '--import',
    'tsx',
    '--test',
    TESTS,
  ];
  const { status, stdout, error } = spawnSync('npx', command, {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
    timeout: MOST_MS,
  });
  if (status !== 0) {
    console.error(stdout, error ?? '');
    console.error(
      `The inside of Node ${version} is not as expected, or this version could not be run.`,
    );
    process.exit(1);
  }
  console.log(`Node ${version}: everything inside is where it is expected.`);
}
