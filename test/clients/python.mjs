/* global fetch */
/** Tries the Python packages, in environments of their own, where there is a Python. */
import { spawnSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ACCESS_KEY_ID, ROOT_PASSWORD, startGateway } from './gateway.mjs';

const FOLDER = dirname(fileURLToPath(import.meta.url));
// Beside the npm packages, which are installed anew before this.
const ENVIRONMENTS = join(FOLDER, 'node_modules');

process.exitCode = await tryAll();

/** The exit code: 0 where every client works, or where none can be tried. */
async function tryAll() {
  const clients = environment('.venv', 'requirements.txt');
  // They need another release of Cohere's package.
  const quickstarts = clients && environment('.venv-quickstarts', 'requirements-quickstarts.txt');
  if (quickstarts === undefined) return 0;
  const gateway = await startGateway();
  try {
    const { url, key } = gateway;
    const isGood = [
      run(clients.python, [join(FOLDER, 'clients.py'), url, key, ACCESS_KEY_ID]),
      run(quickstarts.python, [join(FOLDER, 'quickstarts.py'), url, key]),
      await triesGenerated(clients, gateway),
    ].every(Boolean);
    return isGood ? 0 : 1;
  } finally {
    await gateway.stop();
  }
}

/** A Python with these packages; `undefined` where it cannot be had. */
function environment(name, requirements) {
  const folder = join(ENVIRONMENTS, name);
  if (!run('python3', ['-m', 'venv', folder])) {
    return skip('There is no Python 3 with venv here: its clients are not tried.');
  }
  const python = join(folder, 'bin', 'python');
  const file = join(FOLDER, requirements);
  const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check'];
  // uv takes seconds where pip takes minutes; it may not know the index that pip is set to.
  const uv = ['-m', 'uv', 'pip', 'install', '--quiet', '--no-cache', '--python', python];
  const isInstalled =
    (run(python, [...pip, 'uv']) && run(python, [...uv, '-r', file])) ||
    run(python, [...pip, '-r', file]);
  if (!isInstalled) {
    return skip('The Python packages cannot be installed here: its clients are not tried.');
  }
  return { folder, python };
}

/** Generates a client from the document that the gateway serves, and uses it. */
async function triesGenerated({ folder, python }, gateway) {
  const [api, made, settings] = ['openapi.json', 'generated_client', 'generator.json'].map((name) =>
    join(folder, name),
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
  const env = { ...process.env, PYTHONPATH: folder };
  return run(python, [program, gateway.url, ROOT_PASSWORD], { env });
}

function run(command, args, options = {}) {
  return spawnSync(command, args, { stdio: 'inherit', ...options }).status === 0;
}

function skip(sentence) {
  process.stdout.write(`${sentence}\n`);
  return undefined;
}
