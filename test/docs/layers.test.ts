import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { describe, expect, it } from '@jest/globals';

interface Rule {
  readonly name: string;
  readonly to: { readonly pathNot?: readonly string[] };
}

const { forbidden } = createRequire(import.meta.url)('../../.dependency-cruiser.cjs') as {
  readonly forbidden: readonly Rule[];
};
const ARCHITECTURE = readFileSync(new URL('../../docs/ARCHITECTURE.md', import.meta.url), 'utf8');

/** The rows of the table of layers: folder, own code, packages, parts of Node. */
const ROWS = (ARCHITECTURE.split('## Who may import whom')[1] ?? '')
  .split('\n## ')[0]
  ?.split('\n')
  .filter((line) => line.startsWith('| `'))
  .map((line) => line.split('|').map((cell) => cell.trim()));

/** The names that a cell lists. */
function listed(cell: string): string[] {
  return cell === 'none' ? [] : cell.split(', ').map((name) => name.replaceAll('`', ''));
}

function allowedTo(folder: string): readonly string[] | undefined {
  const name = folder.replace('/*.ts', '').replace('/', '-');
  return forbidden.find((rule) => rule.name === name)?.to.pathNot;
}

/** The alternatives of a pattern such as `^src/(core|wire)`, or `(http2?)`. */
function alternatives(pattern: string, prefix: string): string[] {
  const rest = pattern.slice(prefix.length).replace(/\$$/, '');
  const [, before = '', inner = rest, after = ''] = /^(.*)\(([^)]*)\)(.*)$/.exec(rest) ?? [];
  return inner
    .split('|')
    .flatMap((name) => (name.endsWith('?') ? [name.slice(0, -2), name.slice(0, -1)] : [name]))
    .map((name) => `${before}${name}${after}`.replaceAll('\\', '').replace('[^/]+', '*'));
}

function allowed(rules: readonly string[], prefix: string): string[] {
  return rules
    .filter((pattern) => pattern.startsWith(prefix))
    .flatMap((pattern) => alternatives(pattern, prefix))
    .sort();
}

describe('the table of layers says what is checked, for', () => {
  const checked = (ROWS ?? []).flatMap(([, folder = '', own = '', packages = '', node = '']) => {
    const [name = ''] = listed(folder);
    const rules = allowedTo(name);
    return rules === undefined ? [] : [{ name, rules, own, packages, node }];
  });

  it.each(checked)('$name', ({ name, rules, own, packages, node }) => {
    const itself = listed(own).map((part) => (part === 'itself' ? name : part));
    const others = rules.filter((pattern) => !/^\^(?:src|\(node)/.test(pattern));

    expect(itself.sort()).toEqual(allowed(rules, '^src/'));
    expect(listed(node).sort()).toEqual(allowed(rules, '^(node:)?'));
    expect(packages === 'none').toBe(others.length === 0);
    for (const pattern of others) {
      const [pattern_ = ''] = alternatives(
        pattern.replace(/^node_modules\/(\(@types\/\)\?)?/, ''),
        '',
      );
      expect(packages).toContain(pattern_.replace(/\/$/, ''));
    }
  });

  it('every layer', () => {
    const named = new Set(checked.map(({ rules }) => rules));
    const missing = forbidden.filter(
      ({ to: { pathNot } }) => pathNot !== undefined && !named.has(pathNot),
    );

    // The browser's code is built separately; sentences describe the door, the policies and the processes.
    expect(missing.map(({ name }) => name)).toEqual([
      ...['bytes-by-the-door', 'policies', 'processes-are-not-parts', 'console', 'console-lib'],
    ]);
  });

  it('policies', () => {
    const [, sentence = ''] =
      /a policy imports only these files of `gateway`: ([^]*?)\. It never/.exec(ARCHITECTURE) ?? [];
    const files = [...sentence.matchAll(/`([\w/-]+\.ts)`/g)].map(([, file]) => `gateway/${file}`);

    expect(['bytes', 'core', ...files].sort()).toEqual(
      allowed(allowedTo('policies') ?? [], '^src/'),
    );
  });
});

describe('the page names', () => {
  const filesIn = (folder: string): string[] =>
    readdirSync(new URL(`../../${folder}`, import.meta.url))
      .filter((name) => /\.m?[jt]s$/.test(name))
      .sort();

  it('every file of src itself among its parts', () => {
    const [, parts = ''] = /\n## The parts\n([^]*?)\n## /.exec(ARCHITECTURE) ?? [];
    const named = [...parts.matchAll(/`(?:src\/)?([\w-]+\.m?[jt]s)`/g)].map(([, file]) => file);

    const missing = filesIn('src').filter(
      (file) => !named.includes(file) && !file.startsWith('config-'),
    );
    expect(missing).toEqual([]);
  });

  it('every policy in the life of a request', () => {
    const [life = ''] = /\n## The life of a request\n[^]*?\n## /.exec(ARCHITECTURE) ?? [];

    const policies = filesIn('src/gateway/policies').map((file) => file.replace('.ts', ''));
    expect(policies.filter((name) => !new RegExp(`[ :]${name}[,;:]`).test(life))).toEqual([]);
  });
});
