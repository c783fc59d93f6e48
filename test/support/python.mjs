import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

/** Makes a Python environment in `folder` with the packages of a file: its Python, or `undefined` where there is none. */
export function pythonWith(folder, requirements) {
  const run = (command, args) => spawnSync(command, args, { stdio: 'inherit' }).status === 0;
  if (!run('python3', ['-m', 'venv', folder])) return undefined;
  const python = join(folder, 'bin', 'python');
  const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check'];
  // uv takes seconds where pip takes minutes; it may not know the index that pip is set to.
  const uv = ['-m', 'uv', 'pip', 'install', '--quiet', '--no-cache', '--python', python];
  const isInstalled =
    (run(python, [...pip, 'uv']) && run(python, [...uv, '-r', requirements])) ||
    run(python, [...pip, '-r', requirements]);
  return isInstalled ? python : undefined;
}
