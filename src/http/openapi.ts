import Joi from 'joi';
import { ERRORS, type ErrorCode } from '../core/errors.js';
import { TOKEN_MEMBERS } from '../core/token-members.js';
import { cohere, RERANK_MEMBERS } from '../ingress/cohere.js';
import type { IngressDialect } from '../ingress/dialect.js';
import { DIALECTS } from '../ingress/index.js';
import { shapeOf, type DialectShape } from './dialect-shape.js';
import { schemaOf, type JsonSchema } from './json-schema.js';
import { EXPLAINED } from '../wire/explained.js';
import { healthReply, infoReply, nimReply, xinferenceAuthReply } from './model-routes.js';
import type { Method, Operation } from './operation.js';

export interface ApiParameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required: boolean;
  readonly description?: string;
  readonly schema: JsonSchema;
}

interface Content {
  readonly description: string;
  readonly content?: Readonly<Record<string, { readonly schema: JsonSchema }>>;
}

export interface ApiOperation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description?: string;
  readonly security: readonly Readonly<Record<string, readonly string[]>>[];
  readonly parameters?: readonly ApiParameter[];
  readonly requestBody?: {
    readonly required: boolean;
    readonly content: Readonly<
      Record<string, { readonly schema: JsonSchema; readonly example?: object }>
    >;
  };
  readonly responses: Readonly<Record<string, Content>>;
}

/** An OpenAPI 3.1 document, as far as it is built here. */
export interface OpenApi {
  readonly openapi: '3.1.0';
  readonly info: { readonly title: string; readonly version: string; readonly description: string };
  readonly components: unknown;
  readonly paths: Readonly<Record<string, Readonly<Record<string, ApiOperation>>>>;
}

type Convert = (schema: Joi.Schema) => JsonSchema;

const API_VERSION = '1';
const JSON_TYPE = 'application/json';

const INTRODUCTION = `One rerank API in front of every rerank provider, and the management API around it.

Management routes answer \`{success, message, data}\`, and \`{success, message, code}\` with the fitting status when they fail. Log in at
\`/api/user/login\` for a session cookie, or send an access token from \`/api/user/token\` as a bearer token; API keys open the rerank
routes alone. Paths work with a trailing slash too. Members of a body that are not known are ignored. Every
request may carry \`X-Request-Id\`, and every reply does.`;

/** The document of the whole API, built from the table of operations and from the schemas that validate. */
export async function describeApi(operations: readonly Operation[]): Promise<OpenApi> {
  // Loaded for the first reader: a gateway that nobody asks for its document does not need it.
  const { default: parse } = await import('joi-to-json');
  // Its types describe an ES module, but it is not one: what they call the module is the function.
  const converter = parse as unknown as (schema: Joi.Schema, mode: 'open-api-3.1') => JsonSchema;
  const convert: Convert = (schema) => withMaps(converter(schema, 'open-api-3.1')) as JsonSchema;
  const paths: Record<string, Record<string, ApiOperation>> = rerankPaths(convert);
  for (const operation of operations) {
    const path = operation.path.replaceAll(/:(\w+)/g, '{$1}');
    paths[path] = {
      ...paths[path],
      [operation.method.toLowerCase()]: describe(operation, convert),
    };
  }
  return {
    openapi: '3.1.0',
    info: { title: 'rerank-gateway', version: API_VERSION, description: INTRODUCTION },
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

/**
 * Corrects what joi-to-json gets wrong: objects with arbitrary names, such as models, get their pattern as if it were a
 * member; values of an enumeration get every type; and null beside alternatives excludes them all.
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
  const entries: [string, unknown][] = Object.entries(schema);
  const [, patterns] = entries.find(([name]) => name === 'patternProperties') ?? [];
  if (typeof patterns !== 'object' || patterns === null) {
    return Object.fromEntries(entries.map(([name, value]) => [name, withMaps(value)]));
  }
  const [values] = Object.values<unknown>({ ...patterns });
  const kept = entries.filter(([name]) => name !== 'patternProperties' && name !== 'properties');
  return { ...Object.fromEntries(kept), additionalProperties: withMaps(values) };
}

function typesOf(values: readonly unknown[]): string | string[] {
  const types = [...new Set(values.map((value) => (value === null ? 'null' : typeof value)))];
  const [only] = types;
  return types.length === 1 && only !== undefined ? only : types;
}

const SECURITY: Readonly<Record<Operation['access'], ApiOperation['security']>> = {
  public: [],
  visitor: [{}, { session: [] }, { accessToken: [] }],
  key: [{ apiKey: [] }],
  login: [{ session: [] }, { accessToken: [] }],
  admin: [{ session: [] }, { accessToken: [] }],
  root: [{ session: [] }, { accessToken: [] }],
};

function describe(operation: Operation, convert: Convert): ApiOperation {
  const { id, area, summary, access, params, query, body, reply } = operation;
  const parameters = [
    ...parametersOf(params, 'path', convert),
    ...parametersOf(query, 'query', convert),
    ...(operation.idempotent === true ? [IDEMPOTENCY_KEY] : []),
  ];
  const who = access === 'admin' || access === 'root' ? `Access: ${access}.` : '';
  const description = [operation.description, who].filter(Boolean).join(' ');
  const files = (operation.files ?? []).map((type) => [type, { schema: { type: 'string' } }]);
  return {
    operationId: id,
    tags: [area],
    summary,
    ...(description === '' ? {} : { description }),
    security: SECURITY[access],
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === undefined ? {} : { requestBody: requestBody(convert(body)) }),
    responses: {
      '200': {
        description: 'Done.',
        content: {
          [JSON_TYPE]: { schema: envelope(reply === undefined ? NULL : convert(reply)) },
          ...(Object.fromEntries(files) as Record<string, { schema: JsonSchema }>),
        },
      },
      ...errorResponses(errorsOf(operation), managementError),
    },
  };
}

const NULL: JsonSchema = { type: 'null' };

const IDEMPOTENCY_KEY: ApiParameter = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description: 'A repeated request with the same key is carried out once and gets the same answer.',
  schema: { type: 'string' },
};

const REQUEST_ID: ApiParameter = {
  name: 'X-Request-Id',
  in: 'header',
  required: false,
  description:
    "The request's id in replies and logs. Up to 128 letters, digits and `. _ : + / = @ -` are kept; for others the gateway makes one.",
  schema: { type: 'string' },
};

const RERANK_TAG: ApiParameter = {
  name: 'X-Rerank-Tag',
  in: 'header',
  required: false,
  description: 'Only channels that bear this tag are asked.',
  schema: { type: 'string' },
};

/** What a rerank request in any form may ask beside its body. */
const RERANK_PARAMETERS: readonly ApiParameter[] = [
  RERANK_TAG,
  REQUEST_ID,
  {
    name: 'explain',
    in: 'query',
    required: false,
    description:
      '1: what would become of the request, in place of a ranking, and nothing is sent; after: the same with the reply. For keys that may.',
    schema: { type: 'string', enum: ['0', '1', 'after'], default: '0' },
  },
  {
    name: 'X-Rerank-Explain',
    in: 'header',
    required: false,
    description: 'The same as explain.',
    schema: { type: 'string', enum: ['0', '1', 'after'], default: '0' },
  },
  {
    name: 'X-Request-Timeout-Ms',
    in: 'header',
    required: false,
    description: "How long the caller waits: shortens the gateway's deadline.",
    schema: { type: 'integer', minimum: 1 },
  },
  {
    name: 'Cache-Control',
    in: 'header',
    required: false,
    description:
      'max-age: how old a kept ranking may be, in seconds; no-cache: only a fresh one will do.',
    schema: { type: 'string' },
  },
];

/** What a request may send: more than is documented, since the rest is ignored. */
function requestBody(
  schema: JsonSchema,
  example?: object,
): NonNullable<ApiOperation['requestBody']> {
  const { additionalProperties: _, ...open } = schema;
  return {
    required: (schema.required ?? []).length > 0,
    content: {
      [JSON_TYPE]: { schema: open, ...(example === undefined ? {} : { example }) },
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
  return Object.entries(properties).map(([name, { description, ...member }]) => ({
    name,
    in: where,
    required: required.includes(name),
    ...(description === undefined ? {} : { description }),
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
    additionalProperties: false,
  };
}

/** Every code that an operation can fail with. */
function errorsOf(operation: Operation): ErrorCode[] {
  const { access, method, body, params, query, limit, idempotent, errors = [] } = operation;
  const { unsafe = method !== 'GET' } = operation;
  const codes = new Set<ErrorCode>([
    ...errors,
    'internal_error',
    'store_unavailable',
    'overloaded',
  ]);
  const add = (...more: ErrorCode[]): void => more.forEach((code) => codes.add(code));
  if (access === 'key') add('missing_api_key', 'invalid_api_key', 'user_disabled');
  else if (access !== 'public' && access !== 'visitor')
    add('unauthorized', 'user_disabled', 'permission_denied');
  if (access !== 'public' && access !== 'key') add('invalid_request');
  if (unsafe) add('permission_denied');
  if (params !== undefined || query !== undefined) add('invalid_request');
  if (body !== undefined) {
    add('invalid_request', 'invalid_json', 'payload_too_large', 'unsupported_media_type');
    add('request_timeout');
  }
  if (limit !== undefined) add('rate_limited');
  if (idempotent === true) add('invalid_request', 'conflict');
  return [...codes];
}

function errorResponses(
  codes: readonly ErrorCode[],
  schema: (codes: readonly ErrorCode[]) => JsonSchema,
  kept: Readonly<Partial<Record<ErrorCode, readonly number[]>>> = {},
): Record<string, Content> {
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of codes) {
    for (const status of new Set([ERRORS[code].status, ...(kept[code] ?? [])])) {
      byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
    }
  }
  const responses = [...byStatus].sort(([a], [b]) => a - b);
  return Object.fromEntries(
    responses.map(([status, list]) => [
      String(status),
      { description: list.join(', '), content: { [JSON_TYPE]: { schema: schema(list) } } },
    ]),
  );
}

const REQUEST_ID_MEMBER: JsonSchema = {
  type: 'string',
  description: 'As in X-Request-Id; absent where no request could be read.',
};

function managementError(codes: readonly ErrorCode[]): JsonSchema {
  return {
    type: 'object',
    properties: {
      success: { type: 'boolean', enum: [false] },
      message: { type: 'string' },
      code: { type: 'string', enum: codes },
      param: { type: 'string', description: 'The field that is wrong.' },
      request_id: REQUEST_ID_MEMBER,
    },
    required: ['success', 'message', 'code'],
    additionalProperties: false,
  };
}

function rerankError(codes: readonly ErrorCode[]): JsonSchema {
  const text: JsonSchema = { type: 'string' };
  return {
    type: 'object',
    properties: {
      message: text,
      detail: text,
      error: {
        type: 'object',
        properties: {
          message: text,
          type: text,
          code: { type: 'string', enum: codes },
          param: { type: ['string', 'null'] },
        },
        required: ['message', 'type', 'code', 'param'],
      },
      request_id: REQUEST_ID_MEMBER,
    },
    required: ['message', 'detail', 'error'],
  };
}

const KEY_ERRORS: readonly ErrorCode[] = [
  'headers_too_large',
  ...(['missing_api_key', 'invalid_api_key', 'token_expired', 'token_disabled'] as const),
  'invalid_signature',
  ...(['insufficient_user_quota', 'token_quota_exhausted', 'ip_not_allowed'] as const),
  ...(['user_disabled', 'internal_error', 'store_unavailable'] as const),
];

const RERANK_ERRORS: readonly ErrorCode[] = [
  ...KEY_ERRORS,
  ...(['invalid_json', 'invalid_request', 'invalid_query', 'invalid_documents'] as const),
  ...(['model_not_allowed', 'tag_not_allowed', 'model_not_found', 'request_timeout'] as const),
  'permission_denied',
  ...(['payload_too_large', 'too_many_documents', 'unsupported_media_type'] as const),
  ...(['rate_limited', 'too_many_concurrent_requests', 'upstream_error'] as const),
  ...(['upstream_invalid_response', 'no_channel_available', 'overloaded'] as const),
  'upstream_timeout',
];

/** An upstream's complaint about the caller's input keeps its status, whichever of the two codes it gets. */
const KEPT_STATUSES = { invalid_request: [400, 413, 422], payload_too_large: [400, 413, 422] };

const COUNT = Joi.number().integer().min(0).required();

const RERANK_REPLY = Joi.object({
  id: Joi.string().required(),
  model: Joi.string().required(),
  results: Joi.array()
    .items(
      Joi.object({
        index: COUNT,
        relevance_score: Joi.number().required(),
        document: Joi.object().unknown(true).description('Only when it was asked for.'),
      }),
    )
    .required(),
  meta: Joi.object({
    api_version: Joi.object({ version: Joi.string().required() }).required(),
    billed_units: Joi.object({ search_units: COUNT }).required(),
    tokens: Joi.object({ input_tokens: COUNT, output_tokens: COUNT }).required(),
    warnings: Joi.array()
      .items(Joi.string())
      .description('Remarks on the ranking, such as that a fallback made it.'),
    degraded: Joi.boolean().valid(true).description('Only where a last resort made it.'),
  }).required(),
  usage: Joi.object({
    prompt_tokens: COUNT,
    completion_tokens: COUNT,
    total_tokens: COUNT,
  }).required(),
  explanation: EXPLAINED.description('With explain=after.'),
});

const MODEL = Joi.object({
  id: Joi.string().required(),
  object: Joi.string().valid('model').required(),
  created: COUNT,
  owned_by: Joi.string().required(),
  model_type: Joi.string().valid('rerank').required(),
  alias_of: Joi.string().description('The model that this name stands for.'),
});

function rerankPaths(convert: Convert): Record<string, Record<string, ApiOperation>> {
  const common = { tags: ['rerank'], security: SECURITY.key };
  const members = convert(RERANK_MEMBERS);
  const documents: JsonSchema = {
    type: 'array',
    minItems: 1,
    description:
      'Texts, or objects with text, image or both (or with the members that rank_fields names).',
    items: { anyOf: [{ type: 'string' }, { type: 'object' }] },
  };
  const query: JsonSchema = {
    ...members.properties?.query,
    minLength: 1,
    description: 'Not blank.',
  };
  const returnDocuments: JsonSchema = {
    ...members.properties?.return_documents,
    default: false,
    description: 'Whether each row has its document, as {"text": …} or as it came.',
  };
  const model = ['model_not_found', 'model_not_allowed'] as const;
  const others = DIALECTS.filter((dialect) => dialect !== cohere).map((dialect) => ({
    ...dialect,
    shape: shapeOf(dialect, convert, RERANK_ERRORS),
  }));
  const shared = others.filter(({ claim }) => claim !== undefined);
  return {
    '/v1/rerank': {
      post: {
        ...common,
        operationId: 'rerank',
        summary: 'Rank documents by how well they answer a query',
        description: `Also at /rerank, /v2/rerank, ${cohere.paths.slice(1).join(', ')}. Requests that look like those of ${listed(shared.map(({ title }) => title))}, or that a key's dialect says are theirs, are read and answered in their form, below.`,
        parameters: RERANK_PARAMETERS,
        requestBody: requestBody({
          ...members,
          properties: {
            ...members.properties,
            query,
            documents,
            return_documents: returnDocuments,
          },
          required: ['query', 'documents'],
        }),
        responses: {
          '200': jsonContent('The ranking, best first.', {
            anyOf: [
              convert(RERANK_REPLY),
              ...shared.map(({ shape }) => shape.reply),
              convert(EXPLAINED),
            ],
          }),
          ...sharedErrors(shared.map(({ shape }) => shape)),
        },
      },
    },
    ...Object.fromEntries(others.flatMap(dialectPaths)),
    ...preflightPaths(),
    '/v1/models': {
      get: {
        ...common,
        operationId: 'listModels',
        summary: 'The models that the key may use',
        responses: {
          '200': jsonContent(
            'All of them.',
            convert(
              Joi.object({
                object: Joi.string().valid('list').required(),
                data: Joi.array().items(MODEL).required(),
              }),
            ),
          ),
          ...errorResponses(KEY_ERRORS, rerankError),
        },
      },
    },
    '/v1/models/{id}': {
      get: {
        ...common,
        operationId: 'getModel',
        summary: 'One model that the key may use',
        parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }],
        responses: {
          '200': jsonContent('The model.', convert(MODEL)),
          ...errorResponses([...KEY_ERRORS, ...model], rerankError),
        },
      },
    },
  };
}

/** What clients of some forms ask before they rank. */
function preflightPaths(): Record<string, Record<string, ApiOperation>> {
  const asked = (id: string, summary: string, reply: unknown, codes: readonly ErrorCode[]) => ({
    get: {
      operationId: id,
      tags: ['rerank in other forms'],
      summary,
      security: codes.includes('missing_api_key') ? SECURITY.key : SECURITY.public,
      responses: {
        '200': jsonContent('As the original answers.', schemaOf(reply)),
        ...errorResponses(codes, rerankError),
      },
    },
  });
  const health = ['store_unavailable', 'internal_error'] as const;
  const info = [...KEY_ERRORS, 'model_not_found'] as const;
  return {
    '/info': asked('teiInfo', "The key's default model, as TEI does", infoReply('m', 1), info),
    '/health': asked('health', 'As TEI, Infinity and LocalAI say it', healthReply(500), health),
    '/v1/cluster/auth': asked(
      'xinferenceAuth',
      "Whether a key is wanted, for Xinference's client",
      xinferenceAuthReply(),
      health,
    ),
    '/v1/health/ready': asked('nimReady', 'As NIM says it', nimReply('ready'), health),
    '/v1/health/live': asked('nimLive', 'As NIM says it', nimReply('live'), health),
  };
}

/** A form's operations, one for each of its paths. */
function dialectPaths({
  id,
  title,
  claim,
  examples,
  shape,
}: IngressDialect & { readonly shape: DialectShape }): [string, Record<string, ApiOperation>][] {
  const { paths, request, reply, errors } = shape;
  const isSetting = TOKEN_MEMBERS.dialect.choices.some((choice) => choice === id);
  const where = [
    ...(claim === undefined ? [] : ['where requests have its marks']),
    ...(isSetting ? [`where the key's dialect is \`${id}\``] : []),
  ].join(' or ');
  return paths.map((path, at) => [
    path,
    {
      post: {
        operationId: `rerankAs-${id}${at === 0 ? '' : `-${at + 1}`}`,
        tags: ['rerank in other forms'],
        security: SECURITY.key,
        summary: `Rank documents in the form of ${title}`,
        ...(where === '' ? {} : { description: `Also at /v1/rerank and /rerank ${where}.` }),
        parameters: [...placesOf(path), ...RERANK_PARAMETERS],
        requestBody: requestBody(request, examples[0]),
        responses: {
          '200': jsonContent('The ranking.', reply),
          ...Object.fromEntries(
            [...errors].map(([status, { codes, type, schema }]) => [
              String(status),
              { description: codes.join(', '), content: { [type]: { schema } } },
            ]),
          ),
        },
      },
    },
  ]);
}

function placesOf(path: string): ApiParameter[] {
  return Array.from(path.matchAll(/\{(\w+)\}/g), ([, name = '']) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }));
}

/** Errors of the main contract and of the forms that share its paths. */
function sharedErrors(shapes: readonly DialectShape[]): Record<string, Content> {
  const own = errorResponses(RERANK_ERRORS, rerankError, KEPT_STATUSES);
  const statuses = new Set([
    ...Object.keys(own).map(Number),
    ...shapes.flatMap(({ errors }) => [...errors.keys()]),
  ]);
  const sorted = [...statuses].sort((a, b) => a - b);
  return Object.fromEntries(
    sorted.map((status) => {
      const { description, content } = own[status] ?? {};
      const theirs = shapes.flatMap(({ errors }) => errors.get(status) ?? []);
      const codes = description ?? [...new Set(theirs.flatMap((one) => one.codes))].join(', ');
      const schemas = [content?.[JSON_TYPE]?.schema ?? [], ...theirs.map(({ schema }) => schema)];
      return [String(status), jsonContent(codes, { anyOf: schemas.flat() })];
    }),
  );
}

function listed(names: readonly string[]): string {
  return `${names.slice(0, -1).join(', ')} and ${names.at(-1) ?? ''}`;
}

function jsonContent(description: string, schema: JsonSchema): Content {
  return { description, content: { [JSON_TYPE]: { schema } } };
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
