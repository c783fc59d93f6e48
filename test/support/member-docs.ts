import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { format, resolveConfig } from 'prettier';
import { CHANNEL_MEMBERS } from '../../src/core/channel-members.js';
import type { MemberSpec, MemberSpecs } from '../../src/core/members.js';
import { RULE_ROWS } from '../../src/core/model-rules.js';
import { snakeCase } from '../../src/core/records.js';
import { TOKEN_MEMBERS } from '../../src/core/token-members.js';
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

export const PAGES_WITH_TABLES: readonly string[] = [
  'api.md',
  'clients.md',
  'configuration.md',
  'operations.md',
].map((page) => fileURLToPath(new URL(`../../docs/${page}`, import.meta.url)));

/** A page as it should be: its tables made anew from the code. */
export async function renderTables(path: string): Promise<string> {
  const page = readFileSync(path, 'utf8').replace(
    /(<!-- ([^:>]+): `npm run docs:tables` -->\n)[^]*?(<!-- end -->)/g,
    (_, begin: string, name: string, end: string) => {
      const table = TABLES[name];
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
  return value === undefined ? (unset ?? '') : `\`${String(value)}\``;
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
