import type { JsonSchema } from './json-schema.js';
import type { ApiOperation } from './openapi-parts.js';

/** A moment for every time on the page: 2026-01-01, in unix seconds. */
const SECOND = 1_767_225_600;
const IS_TIME = /(time|timestamp|_at|since|until|from)$/;
const TEXTS: Readonly<Record<string, string>> = {
  ...{ email: 'ada@example.com', username: 'ada', model: 'rerank-v3.5', provider: 'cohere' },
  ...{ time_zone: 'Europe/Berlin', labels: 'team=search' },
};

/** A value that fits a schema. With `leanly`, an object has only what it must have, or else its first member. */
export function exampleOf(schema: JsonSchema, name = '', leanly = false): unknown {
  const usual = usualOf(schema);
  if (usual !== undefined) return usual;
  if (schema.anyOf !== undefined) {
    return exampleOf(schema.anyOf.find(({ type }) => type !== 'null') ?? {}, name, leanly);
  }
  switch (typeOf(schema)) {
    case 'object':
      return objectOf(schema, leanly);
    case 'array':
      return schema.items === undefined ? [] : [exampleOf(schema.items, name, leanly)];
    case 'boolean':
      return true;
    case 'integer':
    case 'number':
      return numberOf(schema, name);
    case 'string':
      return textOf(schema, name);
    default:
      return null;
  }
}

/** What the schema itself names. */
function usualOf(schema: JsonSchema): unknown {
  const { example, const: only, default: preset, enum: choices } = schema;
  const named = [example, only, preset, ...(choices ?? [])];
  return named.find((value) => value !== undefined && value !== null && value !== '');
}

function numberOf({ minimum = 1 }: JsonSchema, name: string): number {
  return IS_TIME.test(name) ? SECOND : Math.max(1, minimum);
}

function textOf({ minLength = 0 }: JsonSchema, name: string): string {
  return (TEXTS[name] ?? (name === '' ? 'text' : name)).padEnd(minLength, 'x');
}

function objectOf({ properties = {}, required = [] }: JsonSchema, leanly: boolean): object {
  const members = Object.entries(properties);
  const needed = members.filter(([name]) => required.includes(name));
  const lean = needed.length > 0 ? needed : members.slice(0, 1);
  return Object.fromEntries(
    (leanly ? lean : members).map(([name, member]) => [name, exampleOf(member, name, leanly)]),
  );
}

/** `any` if it says nothing. */
function typeOf({ type = 'any', properties }: JsonSchema): string {
  if (type === 'any' && properties !== undefined) return 'object';
  return typeof type === 'string' ? type : (type.find((one) => one !== 'null') ?? 'null');
}

/** A call of an operation as a command, with what it must have and nothing else. */
export function exampleCall(method: string, path: string, operation: ApiOperation): string {
  const { parameters = [], requestBody, security } = operation;
  const valueOf = (schema: JsonSchema, name: string): string =>
    encodeURIComponent(String(exampleOf(schema, name)));
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const found = parameters.find((one) => one.in === 'path' && one.name === name);
    return valueOf(found?.schema ?? {}, name);
  });
  const query = parameters
    .filter((one) => one.in === 'query' && one.required)
    .map(({ name, schema }) => `${name}=${valueOf(schema, name)}`);
  const url = `$GATEWAY${filled}${query.length === 0 ? '' : `?${query.join('&')}`}`;
  const content = requestBody?.content['application/json'];
  const body = content && (content.example ?? exampleOf(content.schema, '', true));
  return [
    `curl ${method === 'GET' ? '' : `-X ${method} `}"${url}"`,
    ...(security.length === 0 ? [] : [`-H "Authorization: Bearer $TOKEN"`]),
    ...(body === undefined
      ? []
      : [`-H 'Content-Type: application/json'`, `-d ${quoted(JSON.stringify(body))}`]),
  ].join(' \\\n  ');
}

/** A text for a shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
