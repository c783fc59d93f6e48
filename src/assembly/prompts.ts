import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { inPackage } from '../config/package-files.js';
import type { Prompts } from '../providers/provider.js';

/** The prompts that ship. */
const SHIPPED_PROMPTS = inPackage('config', 'prompts');

const EXTENSION = '.txt';

/** The prompts of both folders, by file name without `.txt`; the operator's replace those that ship. */
export function loadPrompts(ownFolder: string | undefined): Prompts {
  const prompts = new Map([
    ...readFolder(SHIPPED_PROMPTS),
    ...(ownFolder === undefined ? [] : readFolder(ownFolder)),
  ]);
  return (name) => prompts.get(name);
}

function readFolder(folder: string): [name: string, text: string][] {
  return readdirSync(folder)
    .filter((file) => file.endsWith(EXTENSION))
    .map((file) => [file.slice(0, -EXTENSION.length), readFileSync(join(folder, file), 'utf8')]);
}
