import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const SOURCES = ['src', 'test', 'bench', 'docs', 'config', 'deploy', '.ci'];
const PAGES = [
  'README.md',
  ...readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => join('docs', name)),
];

/** Every file and folder of the repository, each with a slash before its path. */
const EXISTING = [
  ...readdirSync(ROOT).map((name) => `/${name}`),
  ...SOURCES.flatMap((folder) => below(join(ROOT, folder))),
];

function below(folder: string): string[] {
  let entries;
  try {
    entries = readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
  return [
    `/${relative(ROOT, folder).replaceAll(sep, '/')}`,
    ...entries.flatMap((entry) => {
      const path = join(folder, entry.name);
      if (entry.name === 'node_modules') return [];
      return entry.isDirectory() ? below(path) : [`/${relative(ROOT, path).replaceAll(sep, '/')}`];
    }),
  ];
}

/** A folder of the repository, or of `src`; forms and providers are named with slashes, too. */
const FOLDER = /`((?:src|test|bench|docs|config|core|gateway|http|store)\/(?:[\w.-]+\/)*)`/g;

/** The files that a page names by their endings, and the folders that it names as code. */
function namedPaths(text: string): string[] {
  const files = text.match(/[\w./<>*-]*\.(?:ts|tsx|lua|mjs|cjs|sh|md)\b/g) ?? [];
  const folders = [...text.matchAll(FOLDER)].map(([, path = '']) => path.slice(0, -1));
  return [...new Set([...files, ...folders])].filter((path) => !path.startsWith('//'));
}

/** Whether there is such a file; a name in angle brackets and a star stand for one. */
function exists(path: string): boolean {
  const plain = path.replace(/^(?:\.\.?\/)+/, '');
  const pattern = plain
    .replaceAll('.', String.raw`\.`)
    .replaceAll('*', '[^/]*')
    .replaceAll(/<\w+>/g, '[^/]+');
  const expected = new RegExp(`/${pattern}$`);
  return EXISTING.some((existing) => expected.test(existing));
}

describe('the files that are named', () => {
  it.each(PAGES)('in %s exist', (page) => {
    const named = namedPaths(readFileSync(join(ROOT, page), 'utf8'));

    expect(named.filter((path) => !exists(path))).toEqual([]);
  });
});
