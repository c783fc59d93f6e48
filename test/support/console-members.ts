import { BUDGET_MEMBERS } from '../../src/core/budget.js';
import { CHANNEL_MEMBERS } from '../../src/core/channel-members.js';
import type { MemberSpec, MemberSpecs } from '../../src/core/members.js';
import { snakeCase } from '../../src/core/records.js';
import { TOKEN_MEMBERS } from '../../src/core/token-members.js';
import { format, resolveConfig } from 'prettier';

export const CONSOLE_MEMBERS_FILE = 'src/console/api/members.ts';

/** What the console's forms need of the tables of members, so that a new row is a field without more. */
export async function consoleMembers(): Promise<string> {
  const tables = { channel: CHANNEL_MEMBERS, key: TOKEN_MEMBERS, account: BUDGET_MEMBERS };
  const text = [
    '// Written by `npm run console:types` from the tables of members; do not edit.',
    '',
    'export const MEMBERS = {',
    ...Object.entries<MemberSpecs>(tables).flatMap(([kind, specs]) => [
      `${kind}: [`,
      ...Object.entries(specs).map(([name, spec]) => `${JSON.stringify(rowOf(name, spec))},`),
      '],',
    ]),
    '} as const;',
    '',
  ].join('\n');
  const options = await resolveConfig(CONSOLE_MEMBERS_FILE);
  return format(text, { ...options, parser: 'typescript' });
}

function rowOf(name: string, spec: MemberSpec): object {
  const row = { name: snakeCase(name), type: spec.type, preset: spec.default ?? null };
  const flag = spec.flag.replace(/ .*/, '');
  const bounds = 'least' in spec ? { least: spec.least } : {};
  return { ...row, flag, ...bounds, ...('choices' in spec ? { choices: spec.choices } : {}) };
}
