/* global fetch */
/** Tries the Python packages, in an environment of their own, where there is a Python. */
import { spawnSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ACCESS_KEY_ID, ROOT_PASSWORD, startGateway } from './gateway.mjs';

const FOLDER = dirname(fileURLToPath(import.meta.url));
// Beside the npm packages, which are installed anew before this.
const VENV = join(FOLDER, 'node_modules', '.venv');
const REQUIREMENTS = join(FOLDER, 'requirements.txt');

process.exitCode = await tryAll();

/** The exit code: 0 where every client works, or where none can be tried. */
async function tryAll() {
  if (!run('python3', ['-m', 'venv', VENV])) {
    return skip('There is no Python 3 with venv here: its clients are not tried.');
  }
  const python = join(VENV, 'bin', 'python');
  const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check'];
  // uv takes seconds where pip takes minutes; it may not know the index that pip is set to.
  const uv = ['-m', 'uv', 'pip', 'install', '--quiet', '--no-cache', '--python', python];
  const isInstalled =
    (run(python, [...pip, 'uv']) && run(python, [...uv, '-r', REQUIREMENTS])) ||
    run(python, [...pip, '-r', REQUIREMENTS]);
  if (!isInstalled) {
    return skip('The Python packages cannot be installed here: its clients are not tried.');
  }
  const gateway = await startGateway();
  try {
    const all = [join(FOLDER, 'clients.py'), gateway.url, gateway.key, ACCESS_KEY_ID];
    const isGood = run(python, all);
    return (await triesGenerated(python, gateway)) && isGood ? 0 : 1;
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

function skip(sentence) {
  process.stdout.write(`${sentence}\n`);
  return 0;
}
