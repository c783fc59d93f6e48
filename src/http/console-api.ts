import { ACCOUNT_MEMBERS } from '../core/labels.js';
import { CHANNEL_MEMBERS } from '../core/channel-members.js';
import type { MemberSpec, MemberSpecs } from '../core/members.js';
import { snakeCase } from '../core/records.js';
import { TOKEN_MEMBERS } from '../core/token-members.js';
import type { JsonSchema } from './json-schema.js';
import { apiOperations, describeApi } from './openapi.js';
import { OPERATIONS } from '../operations/index.js';

const HEAD = '// Made by src/console/build.mjs; not in git.\n';

/** What the console knows of the gateway: the files of `src/console/api` that its build writes, by name. */
export async function consoleApi(): Promise<Readonly<Record<string, string>>> {
  return {
    'operations.ts': await operationsFile(),
    'members.ts': membersFile(),
    'member-words.ts': memberWordsFile(),
  };
}

/** Each operation's method, path and types, from the OpenAPI document. */
async function operationsFile(): Promise<string> {
  const managed = new Set<string>(OPERATIONS.map(({ id }) => id));
  // Some forms of rerank requests lie below /api/ too.
  const api = apiOperations(await describeApi(OPERATIONS)).filter(
    ({ path, operation }) => path.startsWith('/api/') && managed.has(operation.operationId),
  );
  const types = api.map(({ operation }) => {
    const { operationId, parameters = [], requestBody, responses } = operation;
    const members = (where: string): string =>
      objectOf(
        parameters
          .filter((parameter) => parameter.in === where)
          .map(({ name, required, schema }) => [name, required, typeOf(schema)]),
      );
    const body = requestBody?.content['application/json']?.schema;
    const data = responses['200']?.content?.['application/json']?.schema.properties?.data;
    return [
      `  ${operationId}: {`,
      `    params: ${members('path')};`,
      `    query: ${members('query')};`,
      `    body: ${body === undefined ? 'undefined' : typeOf(body)};`,
      `    reply: ${data === undefined ? 'null' : typeOf(data)};`,
      '  };',
    ].join('\n');
  });
  const routes = api.map(
    ({ method, path, operation }) =>
      `  ${operation.operationId}: '${method.toUpperCase()} ${path.slice(1)}',`,
  );
  return [
    HEAD,
    'export interface Operations {',
    ...types,
    '}',
    '',
    'export const ROUTES: Readonly<Record<keyof Operations, string>> = {',
    ...routes,
    '};',
    '',
  ].join('\n');
}

function typeOf(schema: JsonSchema): string {
  const { enum: values, anyOf, type } = schema;
  if (values !== undefined) return values.map((value) => JSON.stringify(value)).join(' | ');
  if (anyOf !== undefined) return [...new Set(anyOf.map(typeOf))].join(' | ');
  if (typeof type === 'object') {
    return [...new Set(type.map((one) => typeOf({ ...schema, type: one })))].join(' | ');
  }
  switch (type) {
    case 'string':
    case 'boolean':
    case 'null':
      return type;
    case 'integer':
    case 'number':
      return 'number';
    case 'array':
      return `(${schema.items === undefined ? 'unknown' : typeOf(schema.items)})[]`;
    case 'object':
      return typeOfObject(schema);
    case undefined:
    default:
      return 'unknown';
  }
}

function typeOfObject({
  properties = {},
  required = [],
  additionalProperties: others,
}: JsonSchema): string {
  if (typeof others === 'object' && others !== null) return `Record<string, ${typeOf(others)}>`;
  const members = Object.entries(properties);
  if (members.length === 0) return 'Record<string, unknown>';
  return objectOf(members.map(([name, member]) => [name, required.includes(name), typeOf(member)]));
}

function objectOf(members: readonly (readonly [string, boolean, string])[]): string {
  if (members.length === 0) return 'Record<string, never>';
  const lines = members.map(
    ([name, required, type]) =>
      `${/^\w+$/.test(name) ? name : `'${name}'`}${required ? '' : '?'}: ${type}`,
  );
  return `{ ${lines.join('; ')} }`;
}

const TABLES: Readonly<Record<string, MemberSpecs>> = {
  channel: CHANNEL_MEMBERS,
  key: TOKEN_MEMBERS,
  account: ACCOUNT_MEMBERS,
};

/** The rows of the tables of members, as forms and lists need them: a new row appears there without more. */
function membersFile(): string {
  const tables = Object.entries(TABLES).map(([kind, specs]) => {
    const rows = Object.entries(specs).map(([name, spec]) => JSON.stringify(rowOf(name, spec)));
    return `  ${kind}: [\n${rows.map((row) => `    ${row},\n`).join('')}  ],`;
  });
  return [HEAD, 'export const MEMBERS = {', ...tables, '} as const;', ''].join('\n');
}

function rowOf(name: string, spec: MemberSpec): object {
  const row = { name: snakeCase(name), type: spec.type, preset: spec.default ?? null };
  const flag = spec.flag.replace(/ .*/, '');
  const bounds = 'least' in spec ? { least: spec.least } : {};
  return { ...row, flag, ...bounds, ...('choices' in spec ? { choices: spec.choices } : {}) };
}

/** What the rows are called in English. */
function memberWordsFile(): string {
  const words = Object.values(TABLES).flatMap((specs) =>
    Object.entries(specs).map(([name, spec]) => {
      const choices = 'choiceTitles' in spec ? { choices: spec.choiceTitles } : {};
      return [snakeCase(name), { label: spec.title, help: spec.hint ?? '', ...choices }];
    }),
  );
  const text = JSON.stringify(Object.fromEntries(words), null, 2);
  return [HEAD, `export const MEMBER_WORDS = ${text};`, ''].join('\n');
}
