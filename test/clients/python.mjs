/* global fetch */
/** Tries the Python packages, in environments of their own, where there is a Python. */
import { spawnSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { pythonWith } from '../support/python.mjs';
import { ACCESS_KEY_ID, ROOT_PASSWORD, startGateway } from './gateway.mjs';

const FOLDER = dirname(fileURLToPath(import.meta.url));
// Beside the npm packages, which are installed anew before this.
const VENV = join(FOLDER, 'node_modules', '.venv');

process.exitCode = await tryAll();

/** The exit code: 0 where every client works, or where none can be tried. */
async function tryAll() {
  const python = pythonWith(VENV, join(FOLDER, 'requirements.txt'));
  // They need another release of Cohere's package.
  const quickstarts =
    python && pythonWith(`${VENV}-quickstarts`, join(FOLDER, 'requirements-quickstarts.txt'));
  if (quickstarts === undefined) {
    process.stdout.write(
      'There is no Python 3 with venv and PyPI here: its clients are not tried.\n',
    );
    return 0;
  }
  const gateway = await startGateway();
  try {
    const { url, key } = gateway;
    const isGood = [
      run(python, [join(FOLDER, 'clients.py'), url, key, ACCESS_KEY_ID]),
      run(quickstarts, [join(FOLDER, 'quickstarts.py'), url, key]),
      await triesGenerated(python, gateway),
    ].every(Boolean);
    return isGood ? 0 : 1;
  } finally {
    await gateway.stop();
  }
}

/** Generates a client from the document that the gateway serves, and uses it. */
async function triesGenerated(python, gateway) {
  const [api, made, settings] = ['openapi.json', 'generated_client', 'generator.json'].map((name) =>
    join(VENV, name),
  );
  // It would warn that it finds no formatter; every other warning is of something that it leaves out.
  await writeFile(settings, '{ "post_hooks": [] }');
  await writeFile(api, await (await fetch(`${gateway.url}/openapi.json`)).text());
  const generate = [
    '-m',
    'openapi_python_client',
    'generate',
    '--path',
    api,
    '--output-path',
    made,
  ];
  if (
    !run(python, [
      ...generate,
      '--meta',
      'none',
      '--overwrite',
      '--fail-on-warning',
      '--config',
      settings,
    ])
  )
    return false;
  const program = join(FOLDER, 'generated.py');
  const env = { ...process.env, PYTHONPATH: VENV };
  return run(python, [program, gateway.url, ROOT_PASSWORD], { env });
}

function run(command, args, options = {}) {
  return spawnSync(command, args, { stdio: 'inherit', ...options }).status === 0;
}
