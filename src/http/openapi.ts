import { setImmediate } from 'node:timers/promises';
import type Joi from 'joi';
import type { JsonSchema } from './json-schema.js';
import {
  ERROR_CODE,
  errorResponses,
  errorsOf,
  managementError,
  RERANK_ERROR,
  serverErrorsTogether,
} from './openapi-errors.js';
import {
  FORM_TYPE,
  IDEMPOTENCY_KEY,
  JSON_TYPE,
  NULL,
  requestBody,
  SECURITY,
  typesOf,
  type ApiOperation,
  type ApiParameter,
  type Convert,
  type OpenApi,
} from './openapi-parts.js';
import { withComponents } from './openapi-components.js';
import { rerankPaths } from './openapi-rerank.js';
import type { Method, Operation } from '../operations/operation.js';
import { SHAPE_NAMES } from '../shapes/names.js';

const API_VERSION = '1';

const INTRODUCTION = `One rerank API in front of every rerank provider, and the management API around it.

Management routes answer \`{success, message, data}\`, and \`{success, message, code}\` with the fitting status when they fail. Log in at
\`/api/user/login\` for a session cookie, or send an access token from \`/api/user/token\` as a bearer token; API keys open the rerank
routes alone. Paths work with a trailing slash too. Unknown members of a body are ignored on the
rerank routes, and refused with 400 on management routes. Every request may carry \`X-Request-Id\`, and every reply does.`;

/** The document that is served: what several operations use is under `components`. */
export async function publishedApi(api: OpenApi): Promise<object> {
  const convert = await converter();
  const known: [string, JsonSchema][] = [];
  for (const [name, shape] of Object.entries(SHAPE_NAMES)) {
    await setImmediate();
    known.push([name, convert(shape)]);
  }
  const failures: [string, JsonSchema][] = [
    ['ErrorCode', ERROR_CODE],
    ['CallError', RERANK_ERROR],
    ['Failure', managementError()],
  ];
  return withComponents(api, new Map([...known, ...failures]));
}

/** The document of the whole API, written out in full, built from the table of operations and from the schemas that validate. */
export async function describeApi(operations: readonly Operation[]): Promise<OpenApi> {
  const convert = await converter();
  const paths: Record<string, Record<string, ApiOperation>> = await rerankPaths(convert);
  for (const operation of operations) {
    // All of them together would keep callers waiting for seconds.
    await setImmediate();
    const path = operation.path.replaceAll(/:(\w+)/g, '{$1}');
    paths[path] = {
      ...paths[path],
      [operation.method.toLowerCase()]: describe(operation, convert),
    };
  }
  return {
    openapi: '3.1.0',
    info: { title: 'rerank-gateway', version: API_VERSION, description: INTRODUCTION },
    servers: [{ url: '/', description: 'The gateway that serves this document.' }],
    components: {
      securitySchemes: {
        apiKey: { type: 'http', scheme: 'bearer', description: 'An API key: sk-…' },
        accessToken: { type: 'http', scheme: 'bearer', description: 'An access token: at-…' },
        session: { type: 'apiKey', in: 'cookie', name: 'rerank_session' },
      },
    },
    paths,
  };
}

async function converter(): Promise<Convert> {
  // Loaded for the first reader: most gateways are never asked for their document.
  const { default: parse } = await import('joi-to-json');
  // Its types describe an ES module, but it is not one: what they call the module is the function.
  const converted = parse as unknown as (schema: Joi.Schema, mode: 'open-api-3.1') => JsonSchema;
  return (schema) => withMaps(converted(schema, 'open-api-3.1')) as JsonSchema;
}

/**
 * Corrects what joi-to-json gets wrong: objects with arbitrary names, such as models, get their pattern as if it were a
 * member; values of an enumeration, and those of any type, get every type; and null beside alternatives excludes them all.
 */
function withMaps(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withMaps);
  if (typeof schema !== 'object' || schema === null) return schema;
  if ('enum' in schema && Array.isArray(schema.enum) && 'type' in schema) {
    const { type, ...rest } = schema;
    return Array.isArray(type) ? { ...rest, type: typesOf(schema.enum) } : schema;
  }
  if ('anyOf' in schema && Array.isArray(schema.anyOf) && 'type' in schema) {
    const { type, anyOf, ...rest } = schema;
    return { ...rest, anyOf: [...anyOf.map(withMaps), { type }] };
  }
  const entries: [string, unknown][] = Object.entries(schema).filter(
    ([name, value]) => name !== 'type' || !isAny(value),
  );
  const [, patterns] = entries.find(([name]) => name === 'patternProperties') ?? [];
  if (typeof patterns !== 'object' || patterns === null) {
    return Object.fromEntries(entries.map(([name, value]) => [name, withMaps(value)]));
  }
  const [values] = Object.values<unknown>({ ...patterns });
  const kept = entries.filter(([name]) => name !== 'patternProperties' && name !== 'properties');
  return { ...Object.fromEntries(kept), additionalProperties: withMaps(values) };
}

/** Whether it has all types: left out, it says the same, and a generator wants no items of the array among them. */
function isAny(type: unknown): boolean {
  return Array.isArray(type) && type.includes('array') && type.includes('object');
}

function describe(operation: Operation, convert: Convert): ApiOperation {
  const { id, area, summary, access, params, query, body, reply } = operation;
  const parameters = [
    ...parametersOf(params, 'path', convert),
    ...parametersOf(query, 'query', convert),
    ...(operation.idempotent === true ? [IDEMPOTENCY_KEY] : []),
  ];
  const who = ['auditor', 'admin', 'root'].includes(access) ? `Access: ${access}.` : '';
  const description = [operation.description, who].filter(Boolean).join(' ');
  const beside = Object.fromEntries(
    Object.entries(operation.beside ?? {}).map(([name, schema]) => [name, convert(schema)]),
  );
  const typeOfBody = operation.form === true ? FORM_TYPE : JSON_TYPE;
  const files = (operation.files ?? []).map((type) => [type, { schema: { type: 'string' } }]);
  return {
    operationId: id,
    tags: [area],
    summary,
    ...(description === '' ? {} : { description }),
    security: SECURITY[access],
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === undefined
      ? {}
      : { requestBody: requestBody(convert(body), undefined, typeOfBody) }),
    responses: {
      [operation.redirects === true ? '302' : '200']: {
        description: operation.redirects === true ? 'Goes on elsewhere.' : 'Done.',
        content: {
          [JSON_TYPE]: { schema: envelope(reply === undefined ? NULL : convert(reply)) },
          ...(Object.fromEntries(files) as Record<string, { schema: JsonSchema }>),
        },
      },
      ...serverErrorsTogether(errorResponses(errorsOf(operation), managementError(beside))),
    },
  };
}

function parametersOf(
  schema: Joi.ObjectSchema | undefined,
  where: 'path' | 'query',
  convert: Convert,
): ApiParameter[] {
  if (schema === undefined) return [];
  const { properties = {}, required = [] } = convert(schema);
  return Object.entries(properties).map(([name, { description, deprecated, ...member }]) => ({
    name,
    in: where,
    required: required.includes(name),
    ...(description === undefined ? {} : { description }),
    ...(deprecated === undefined ? {} : { deprecated }),
    schema: member,
  }));
}

function envelope(data: JsonSchema): JsonSchema {
  return {
    type: 'object',
    properties: {
      success: { type: 'boolean', enum: [true] },
      message: { type: 'string' },
      data,
    },
    required: ['success', 'message', 'data'],
  };
}

/** The operations of a document, in its order. */
export function apiOperations(
  api: OpenApi,
): { readonly method: Method; readonly path: string; readonly operation: ApiOperation }[] {
  return Object.entries(api.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      method: method.toUpperCase() as Method,
      path,
      operation,
    })),
  );
}
