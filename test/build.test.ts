import { execFileSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { afterEach, beforeEach, expect, it } from '@jest/globals';

let root = '';

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'rerank-build-'));
  mkdirSync(join(root, 'src'));
  copyFileSync('src/build.mjs', join(root, 'src/build.mjs'));
  symlinkSync(resolve('node_modules'), join(root, 'node_modules'));
  put('package.json', '{ "type": "module" }');
  put('src/store/redis/lua/first.lua', 'return 1');
  put('src/client/routes.json', '{}');
  put('src/core/name.ts', "export const name: string = 'a program';");
  put('src/core/later.ts', "export const later = 'what it needs later';");
  put(
    'src/store/redis/scripts.ts',
    `import { readFileSync } from 'node:fs';
     export const lua = readFileSync(new URL('./lua/first.lua', import.meta.url), 'utf8');`,
  );
  put(
    'src/main.ts',
    `import { name } from './core/name.js';
     import { lua } from './store/redis/scripts.js';
     console.log([name, lua, (await import('./core/later.js')).later].join());`,
  );
  put('src/cli.ts', "import { name } from './core/name.js';\nconsole.log(name);");
});

afterEach(() => {
  rmSync(root, { recursive: true });
});

function put(name: string, text: string): void {
  mkdirSync(dirname(join(root, name)), { recursive: true });
  writeFileSync(join(root, name), text);
}

function run(file: string): string {
  return execFileSync(process.execPath, [join(root, file)], { encoding: 'utf8', stdio: 'pipe' });
}

it('bundles each program, with what it reads and what it loads later', () => {
  run('src/build.mjs');

  expect(run('dist/main.js')).toBe('a program,return 1,what it needs later\n');
  expect(run('dist/cli.js')).toBe('a program\n');
  expect(statSync(join(root, 'dist/cli.js')).mode & 0o111).toBe(0o111);
});

it('leaves nothing of an earlier build, and the console as it is', () => {
  run('src/build.mjs');
  put('dist/console/index.html', '<p>');
  const built = readdirSync(join(root, 'dist')).length;
  put('src/core/later.ts', "export const later = 'something else';");

  run('src/build.mjs');

  expect(run('dist/main.js')).toContain('something else');
  expect(readdirSync(join(root, 'dist')).length).toBe(built);
  expect(existsSync(join(root, 'dist/console/index.html'))).toBe(true);
});

it('fails where a source is wrong, and says where', () => {
  put('src/core/name.ts', 'export const name = ;');

  expect(() => run('src/build.mjs')).toThrow(/src\/core\/name\.ts:1:20: ERROR/);
});
