import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';

/** What a fresh clone fetches for the console alone: esbuild is there for tsx anyway. */
const PACKAGES = ['@tanstack/query-core', 'preact', 'uplot'];
const MOST_BYTES = 8 * 1024 * 1024;

function filesOf(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile());
}

it('is made of three packages, which bring no others and little to fetch', () => {
  const imported = filesOf('src/console')
    .filter((path) => /\.tsx?$/.test(path))
    .flatMap((path) => [...readFileSync(path, 'utf8').matchAll(/ from '([^.'][^']*)'/g)])
    .map(([, name = '']) => /^(@[^/]+\/)?[^/]+/.exec(name)?.[0]);
  expect([...new Set(imported)].sort()).toEqual(PACKAGES);

  const folders = PACKAGES.map((name) => join('node_modules', name));
  for (const folder of folders) {
    const { dependencies = {} } = JSON.parse(
      readFileSync(join(folder, 'package.json'), 'utf8'),
    ) as { dependencies?: object };
    expect(dependencies).toEqual({});
  }
  const bytes = folders.flatMap(filesOf).reduce((sum, path) => sum + statSync(path).size, 0);
  expect(bytes).toBeLessThan(MOST_BYTES);
});
