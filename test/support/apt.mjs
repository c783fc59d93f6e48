import { spawnSync } from 'node:child_process';

/** Whether Debian's package manager installed them all; as root, or by sudo where it asks for no password. */
export function aptInstall(...packages) {
  const asRoot = process.getuid?.() === 0 ? [] : ['sudo', '-n'];
  const apt = (...args) => {
    const [first, ...rest] = [...asRoot, 'apt-get', '-o', 'DPkg::Lock::Timeout=120', ...args];
    return spawnSync(first, rest, { stdio: ['ignore', 2, 2] }).status === 0;
  };
  // A fresh machine has no list of packages yet.
  return apt('update', '-qq') && apt('install', '-y', '--no-install-recommends', ...packages);
}
