import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The path of a file or folder of this package, whether it runs from its sources or bundled in `dist`. */
export function inPackage(...names: readonly string[]): string {
  return join(ROOT, ...names);
}

const ROOT = rootAbove(import.meta.dirname);

function rootAbove(folder: string): string {
  if (existsSync(join(folder, 'package.json'))) return folder;
  const above = dirname(folder);
  if (above === folder) throw new Error(`There is no package.json above ${import.meta.dirname}.`);
  return rootAbove(above);
}
