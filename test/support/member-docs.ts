import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { format, resolveConfig } from 'prettier';
import { CHANNEL_MEMBERS } from '../../src/core/channel-members.js';
import type { MemberSpec, MemberSpecs } from '../../src/core/members.js';
import { RULE_ROWS } from '../../src/core/model-rules.js';
import { SETTINGS } from '../../src/config/settings.js';
import type { Setting, SettingGroup } from '../../src/config/setting.js';
import { snakeCase } from '../../src/core/records.js';
import { TOKEN_MEMBERS } from '../../src/core/token-members.js';
import { OPERATIONS } from '../../src/operations/index.js';
import { DIALECTS } from '../../src/ingress/index.js';
import { USAGE_ROWS } from '../../src/core/usage-members.js';

/** The tables that pages of `docs/` have between a comment with their name and one that ends them. */
const TABLES: Readonly<Record<string, () => string>> = {
  'members of a channel': () => memberTable(CHANNEL_MEMBERS),
  'members of a key': () => memberTable(TOKEN_MEMBERS),
  'members of a usage entry': usageTable,
  'rules of a model': ruleTable,
  'names of the forms': formNames,
};

/** The example of a configuration file, whose settings stand between comments too. */
export const EXAMPLE = fileURLToPath(new URL('../../config/gateway.example.yaml', import.meta.url));

export const PAGES_WITH_TABLES: readonly string[] = [
  'api.md',
  'clients.md',
  'configuration.md',
  'operations.md',
].map((page) => fileURLToPath(new URL(`../../docs/${page}`, import.meta.url)));

/** How the command line asks for each operation. */
export const ROUTES = fileURLToPath(new URL('../../src/client/routes.json', import.meta.url));

export async function renderRoutes(): Promise<string> {
  const files = await operationFiles();
  const routes = OPERATIONS.map((operation) => [
    operation.id,
    [operation.method, operation.path, 'body' in operation, files.get(operation)],
  ]);
  const text = JSON.stringify(Object.fromEntries(routes));
  return format(text, { ...(await resolveConfig(ROUTES)), parser: 'json', objectWrap: 'collapse' });
}

/** The module of each operation, which the command line loads alone. */
async function operationFiles(): Promise<ReadonlyMap<unknown, string>> {
  const folder = new URL('../../src/operations/', import.meta.url);
  const found = new Map<unknown, string>();
  for (const file of readdirSync(folder)) {
    if (!file.endsWith('.ts') || file === 'index.ts') continue;
    const exported = (await import(new URL(file, folder).href)) as Readonly<
      Record<string, unknown>
    >;
    for (const [name, value] of Object.entries(exported)) {
      if (!name.endsWith('_OPERATIONS') || !Array.isArray(value)) continue;
      // What another module spreads into its own table is found in both; either has it.
      for (const operation of value) found.set(operation, file.replace(/\.ts$/, ''));
    }
  }
  return found;
}

/** A page as it should be: its tables made anew from the code. */
export async function renderTables(path: string): Promise<string> {
  const page = readFileSync(path, 'utf8').replace(
    /(<!-- ([^:>]+): `npm run docs:tables` -->\n)[^]*?(<!-- end -->)/g,
    (_, begin: string, name: string, end: string) => {
      const table = TABLES[name] ?? settingsTable(name);
      if (table === undefined) throw new Error(`${path} asks for an unknown table: ${name}`);
      return `${begin}\n${table()}\n\n${end}`;
    },
  );
  return format(page, { ...(await resolveConfig(path)), parser: 'markdown' });
}

function memberTable(specs: MemberSpecs): string {
  const rows = Object.entries(specs).map(([name, spec]) => [
    `\`${snakeCase(name)}\``,
    defaultOf(spec),
    valuesOf(spec),
    `\`--${spec.flag}\``,
    spec.help,
  ]);
  return table(['Field', 'Default', 'Values', 'Command line', 'Meaning'], rows);
}

function usageTable(): string {
  const rows = USAGE_ROWS.map(({ name, own, summed, help }) => [
    `\`${snakeCase(name)}\``,
    own ? 'yes' : '',
    summed ? 'yes' : '',
    help,
  ]);
  return table(['Member', 'For its owner', 'In sums', 'Meaning'], rows);
}

function ruleTable(): string {
  const rows = RULE_ROWS.map((row) => {
    const choices = row.type === 'choice' ? `: ${codes(row.choices)}` : '';
    const none = row.type === 'models' ? 'none' : `\`${String(row.default)}\``;
    return [`\`${snakeCase(row.name)}\``, none, `${row.help}${choices}`];
  });
  return table(['Setting', 'Default', 'Meaning'], rows);
}

function formNames(): string {
  const names = DIALECTS.map(
    ({ id }) => `\`${id}\`${id === 'cohere' ? ' (the main contract)' : ''}`,
  );
  return `${names.join(', ')}.`;
}

function codes(words: readonly string[]): string {
  return words.map((word) => `\`${word}\``).join(', ');
}

function defaultOf({ default: value, unset }: MemberSpec): string {
  return value === undefined || value === '' ? (unset ?? '') : `\`${String(value)}\``;
}

function valuesOf(spec: MemberSpec): string {
  switch (spec.type) {
    case 'integer':
    case 'number': {
      const kind = spec.type === 'integer' ? 'whole number' : 'number';
      return spec.least === Number.MIN_SAFE_INTEGER
        ? kind
        : `${kind}, ${spec.least} to ${spec.most}`;
    }
    case 'units':
      return 'units';
    case 'time_zone':
      return 'a time zone';
    case 'labels':
      return 'labels';
    case 'boolean':
      return '`true`, `false`';
    case 'choice':
      return codes(spec.choices);
  }
}

function table(heading: readonly string[], rows: readonly (readonly string[])[]): string {
  // A line between the values of an option would end its cell.
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll('|', String.raw`\|`)).join(' | ')} |`;
  return [line(heading), line(heading.map(() => '---')), ...rows.map(line)].join('\n');
}

/** The table of `settings of <groups>`, or of those in a group whose names begin with one of some words: `settings of a (b, c)`. */
function settingsTable(name: string): (() => string) | undefined {
  const [, listed, words = ''] = /^settings of ([\w, ]+?)(?: \(([\w, ]+)\))?$/.exec(name) ?? [];
  if (listed === undefined) return undefined;
  const groups = listed.split(', ');
  const begins = words.split(', ');
  return () => {
    const rows = groups.flatMap((group) =>
      rowsOf(group)
        .filter(([setting]) => begins.some((word) => setting.startsWith(word)))
        .map(([setting, row]) => [
          `\`${groups.length > 1 ? `${group}.` : ''}${setting}\``,
          shownDefault(row),
          row.variable === undefined ? '' : `\`${row.variable}\``,
          row.reloads === true ? 'yes' : '',
          row.help,
        ]),
    );
    return table(['Setting', 'Default', 'Variable', 'Reloads', 'Meaning'], rows);
  };
}

/** The settings of a group by their names in a file. */
function rowsOf(group: string): readonly (readonly [string, Setting<unknown>])[] {
  const rows = (SETTINGS as Readonly<Record<string, SettingGroup>>)[group];
  if (rows === undefined) throw new Error(`There is no group of settings "${group}".`);
  return Object.entries(rows).map(([name, row]) => [snakeCase(name), row]);
}

function shownDefault({ shown, fallback }: Setting<unknown>): string {
  if (shown !== undefined) return shown;
  if (fallback === undefined || (Array.isArray(fallback) && fallback.length === 0)) return 'none';
  return codes((Array.isArray(fallback) ? fallback : [fallback]).map(String));
}

const YAML_WIDTH = 118;

/** The example as it should be: each group of settings between its comments, with its defaults. */
export async function renderExample(): Promise<string> {
  const text = readFileSync(EXAMPLE, 'utf8').replace(
    /(# settings of (\w+): npm run docs:tables\n)[^]*?(# end\n)/g,
    (_, begin: string, group: string, end: string) => {
      const lines =
        group === 'models'
          ? RULE_ROWS.flatMap(yamlRule)
          : [`${group}:`, ...rowsOf(group).flatMap(yamlSetting)];
      return `${begin}${lines.join('\n')}\n${end}`;
    },
  );
  return format(text, { ...(await resolveConfig(EXAMPLE)), parser: 'yaml' });
}

function yamlRule(row: (typeof RULE_ROWS)[number]): string[] {
  const choices = row.type === 'choice' ? `: ${row.choices.join(', ')}` : '';
  return yamlLines('    ', snakeCase(row.name), row.default, row.help + choices);
}

function yamlSetting([name, row]: readonly [string, Setting<unknown>]): string[] {
  const { fallback, variable, help } = row;
  const meaning = variable === undefined ? help : `[${variable}] ${help}`;
  const given = fallback ?? (variable === undefined ? undefined : `\${${variable}:-}`);
  return yamlLines('  ', name, given, meaning);
}

/** A setting with its comment: behind it, or above where that would be too long. One without a value is a comment itself. */
function yamlLines(indent: string, name: string, value: unknown, help: string): string[] {
  const comment = `# ${help.replaceAll('`', '').replace(/\[([^\]]+)\]\(([^)]+)\)/g, '$1')}`;
  const written = value === undefined ? `# ${name}:` : `${name}: ${yamlValue(value)}`;
  const line = `${indent}${written} ${comment}`;
  return line.length <= YAML_WIDTH ? [line] : [`${indent}${comment}`, `${indent}${written}`];
}

function yamlValue(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map((each) => yamlValue(each)).join(', ')}]`;
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return typeof value === 'string' && /^::|:$|^$/.test(text) ? `'${text}'` : text;
}
