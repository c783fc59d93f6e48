/** Finds Chromium for the tests of the console, or has the system's package manager install it where that is allowed. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome'];

/** The browser's file: `CHROMIUM`, else the first one on the PATH. */
export function findBrowser() {
  const named = process.env.CHROMIUM;
  if (named !== undefined && named !== '') return existsSync(named) ? named : undefined;
  const folders = (process.env.PATH ?? '').split(delimiter);
  return NAMES.flatMap((name) => folders.map((folder) => join(folder, name))).find((file) =>
    existsSync(file),
  );
}

function install() {
  const asRoot = process.getuid?.() === 0 ? [] : ['sudo', '-n'];
  const apt = (...args) => {
    const [first, ...rest] = [...asRoot, 'apt-get', '-o', 'DPkg::Lock::Timeout=120', ...args];
    return spawnSync(first, rest, { stdio: ['ignore', 2, 2] }).status === 0;
  };
  // A fresh machine has no list of packages yet.
  return apt('update', '-qq') && apt('install', '-y', '--no-install-recommends', 'chromium');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  if (findBrowser() === undefined) install();
  const found = findBrowser();
  if (found === undefined) {
    console.error('No Chromium: install it, or name its file in CHROMIUM.');
    process.exit(1);
  }
  console.error(`The console is tested in ${found}`);
}
