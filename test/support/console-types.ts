import { OPERATIONS } from '../../src/operations/index.js';
import type { JsonSchema } from '../../src/http/json-schema.js';
import { apiOperations, describeApi } from '../../src/http/openapi.js';

export const CONSOLE_TYPES_FILE = 'src/console/api/operations.ts';

/** What the console knows of the API: each operation's method, path and types, from the OpenAPI document. */
export async function consoleTypes(): Promise<string> {
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
    '// Written by `npm run console:types` from the table of operations; do not edit.',
    '',
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
    case 'object': {
      const { properties = {}, required = [], additionalProperties: others } = schema;
      if (typeof others === 'object' && others !== null) {
        return `Record<string, ${typeOf(others)}>`;
      }
      const members = Object.entries(properties);
      if (members.length === 0) return 'Record<string, unknown>';
      return objectOf(
        members.map(([name, member]) => [name, required.includes(name), typeOf(member)]),
      );
    }
    case undefined:
    default:
      return 'unknown';
  }
}

function objectOf(members: readonly (readonly [string, boolean, string])[]): string {
  if (members.length === 0) return 'Record<string, never>';
  const lines = members.map(
    ([name, required, type]) =>
      `${/^\w+$/.test(name) ? name : `'${name}'`}${required ? '' : '?'}: ${type}`,
  );
  return `{ ${lines.join('; ')} }`;
}
