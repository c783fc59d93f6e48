// Gets node-llama-cpp for `npm run test:llama`, with the one binary that runs here, into a folder of its own: a plain
// install brings the builds for every kind of graphics card too, most of a gigabyte.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const VERSION = '^3.22.0';
const BINARIES = {
  'linux-x64': 'linux-x64',
  'linux-arm64': 'linux-arm64',
  'darwin-x64': 'mac-x64',
  'darwin-arm64': 'mac-arm64-metal',
  'win32-x64': 'win-x64',
  'win32-arm64': 'win-arm64',
};

const folder = fileURLToPath(new URL('../../node_modules/.cache/llama', import.meta.url));
const binary = BINARIES[`${process.platform}-${process.arch}`];

if (binary === undefined) {
  console.error(`node-llama-cpp has no binary for ${process.platform} on ${process.arch}.`);
  process.exitCode = 1;
} else if (!existsSync(`${folder}/node_modules/@node-llama-cpp/${binary}`)) {
  mkdirSync(folder, { recursive: true });
  writeFileSync(`${folder}/package.json`, JSON.stringify({ private: true, type: 'module' }));
  const packages = [`node-llama-cpp@${VERSION}`, `@node-llama-cpp/${binary}@${VERSION}`];
  const options = ['--omit=optional', '--ignore-scripts', '--no-audit', '--no-fund'];
  const { status } = spawnSync('npm', ['install', ...options, ...packages], {
    cwd: folder,
    stdio: 'inherit',
    shell: process.platform === 'win32',
  });
  process.exitCode = status ?? 1;
}
