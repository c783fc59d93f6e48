import type Joi from 'joi';
import type { JsonSchema } from './json-schema.js';
import type { Operation } from '../operations/operation.js';

export interface ApiParameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required: boolean;
  readonly description?: string;
  /** Whether it is there for older clients alone. */
  readonly deprecated?: boolean;
  readonly schema: JsonSchema;
}

export interface Content {
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
  readonly servers: readonly { readonly url: string; readonly description: string }[];
  readonly components: object;
  readonly paths: Readonly<Record<string, Readonly<Record<string, ApiOperation>>>>;
}

export type Convert = (schema: Joi.Schema) => JsonSchema;
export const JSON_TYPE = 'application/json';
export const FORM_TYPE = 'application/x-www-form-urlencoded';

export function typesOf(values: readonly unknown[]): string | string[] {
  const types = [...new Set(values.map((value) => (value === null ? 'null' : typeof value)))];
  const [only] = types;
  return types.length === 1 && only !== undefined ? only : types;
}

export const NULL: JsonSchema = { type: 'null' };

export const IDEMPOTENCY_KEY: ApiParameter = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description: 'A repeated request with the same key is carried out once and gets the same answer.',
  schema: { type: 'string' },
};

export const REQUEST_ID: ApiParameter = {
  name: 'X-Request-Id',
  in: 'header',
  required: false,
  description:
    "The request's id in replies and logs. Up to 128 letters, digits and `. _ : + / = @ -` are kept; for others the gateway makes one.",
  schema: { type: 'string' },
};

export function listed(names: readonly string[]): string {
  return `${names.slice(0, -1).join(', ')} and ${names.at(-1) ?? ''}`;
}

export function jsonContent(description: string, schema: JsonSchema): Content {
  return { description, content: { [JSON_TYPE]: { schema } } };
}

export const SECURITY: Readonly<Record<Operation['access'], ApiOperation['security']>> = {
  public: [],
  visitor: [{}, { session: [] }, { accessToken: [] }],
  key: [{ apiKey: [] }],
  login: [{ session: [] }, { accessToken: [] }],
  auditor: [{ session: [] }, { accessToken: [] }],
  admin: [{ session: [] }, { accessToken: [] }],
  root: [{ session: [] }, { accessToken: [] }],
};

/** What a request may send: more than is documented, since the rest is ignored. */
export function requestBody(
  schema: JsonSchema,
  example?: object,
  type = JSON_TYPE,
): NonNullable<ApiOperation['requestBody']> {
  const { additionalProperties: _, ...open } = schema;
  return {
    required: (schema.required ?? []).length > 0,
    content: {
      [type]: { schema: open, ...(example === undefined ? {} : { example }) },
    },
  };
}
