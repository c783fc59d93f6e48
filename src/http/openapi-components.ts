import { mapValues } from '../core/records.js';
import type { JsonSchema } from './json-schema.js';
import { SECURITY, type ApiOperation, type Content, type OpenApi } from './openapi-parts.js';

/** Shorter parts are written out wherever they are used. */
const LEAST_LENGTH = 52;

/**
 * The same document for publication: what several operations use (schemas, parameters, bodies, responses) is written once,
 * under `components`, and referred to. `known` has the names of schemas; the others are named after where they come first. It
 * is to be written as JSON: members that are absent may be `undefined`.
 */
export function withComponents(api: OpenApi, known: ReadonlyMap<string, JsonSchema>): object {
  const schemas = new Shared('schemas');
  const parameters = new Shared('parameters');
  const responses = new Shared('responses');
  const bodies = new Shared('requestBodies');
  for (const [name, schema] of known) schemas.call(bare(schema), name);
  const operations = Object.values(api.paths).flatMap((methods) => Object.values(methods));
  for (const operation of operations) {
    for (const parameter of operation.parameters ?? []) parameters.count(parameter);
    for (const response of Object.values(operation.responses)) {
      if (responses.count(response)) countAll(response.content, schemas);
    }
    const { requestBody } = operation;
    if (requestBody !== undefined && bodies.count(requestBody)) {
      countAll(requestBody.content, schemas);
    }
  }
  const write = (operation: ApiOperation): object => {
    const name = capital(operation.operationId);
    const { requestBody } = operation;
    return {
      ...operation,
      security: isUsual(operation) ? undefined : operation.security,
      parameters: operation.parameters?.map((one) =>
        parameters.use(one, capital(one.name), () => ({
          ...one,
          required: one.required || undefined,
        })),
      ),
      requestBody:
        requestBody &&
        bodies.use(requestBody, `${name}Body`, () => ({
          ...requestBody,
          content: contentOf(requestBody.content, schemas, `${name}Body`),
        })),
      responses: mapValues(operation.responses, (response, status) =>
        responses.use(response, status, () => ({
          ...response,
          content: contentOf(
            response.content,
            schemas,
            /^[45]/.test(status) ? `${name}Error` : `${name}Reply`,
          ),
        })),
      ),
    };
  };
  const paths = mapValues(api.paths, (methods) => mapValues(methods, write));
  const components = {
    ...api.components,
    schemas: schemas.all(),
    parameters: parameters.all(),
    responses: responses.all(),
    requestBodies: bodies.all(),
  };
  return { ...api, security: SECURITY.login, components, paths };
}

function isUsual({ security }: ApiOperation): boolean {
  return JSON.stringify(security) === JSON.stringify(SECURITY.login);
}

/** Parts that are written once: how often each occurs, its name, and its content. */
class Shared {
  readonly #kind: string;
  readonly #uses = new Map<string, number>();
  readonly #names = new Map<string, string>();
  readonly #written = new Map<string, object>();

  constructor(kind: string) {
    this.#kind = kind;
  }

  /** Whether it is the first of its like. */
  count(one: object): boolean {
    const key = JSON.stringify(one);
    const uses = this.#uses.get(key) ?? 0;
    this.#uses.set(key, uses + 1);
    return uses === 0;
  }

  call(one: object, name: string): void {
    this.#names.set(JSON.stringify(one), name);
  }

  /** A reference to it if it is used more than once, otherwise itself. */
  use(one: object, hint: string, write: () => object): object {
    const key = JSON.stringify(one);
    const isShared = (this.#uses.get(key) ?? 0) > 1 && key.length >= LEAST_LENGTH;
    if (!isShared && !this.#names.has(key)) return write();
    const name = this.#names.get(key) ?? this.#free(hint);
    this.#names.set(key, name);
    if (!this.#written.has(name)) {
      // Holds the name while what is inside takes its own.
      this.#written.set(name, {});
      this.#written.set(name, write());
    }
    return { $ref: `#/components/${this.#kind}/${name}` };
  }

  all(): Readonly<Record<string, object>> {
    return Object.fromEntries([...this.#written].sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  #free(hint: string): string {
    const taken = new Set(this.#names.values());
    let name = hint;
    for (let number = 2; taken.has(name); number += 1) name = `${hint}-${number}`;
    return name;
  }
}

function count(schema: JsonSchema, schemas: Shared): void {
  const isFirst = !isNameable(schema) || schemas.count(keyOf(schema));
  if (isFirst) for (const [, inner] of parts(schema)) count(inner, schemas);
}

function written(schema: JsonSchema, schemas: Shared, hint: string): object {
  const inside = (): object => {
    const { properties, items, anyOf, additionalProperties: values } = schema;
    return {
      ...bare(schema),
      properties:
        properties &&
        mapValues(properties, (member, name) =>
          written(member, schemas, hintOf(member, hint, name)),
        ),
      items: items && written(items, schemas, `${hint}Item`),
      anyOf: anyOf?.map((one) => written(one, schemas, hint)),
      additionalProperties: isSchema(values) ? written(values, schemas, `${hint}Value`) : values,
    };
  };
  const key = keyOf(schema);
  const { description } = schema;
  if (key === schema) return schemas.use(key, hint, () => schema);
  const one = isNameable(schema) ? schemas.use(key, hint, inside) : inside();
  return description === undefined ? one : { ...one, description };
}

/** The schemas inside of one. */
function parts(schema: JsonSchema): [string, JsonSchema][] {
  const { properties = {}, items, anyOf = [], additionalProperties } = schema;
  return [
    ...Object.entries(properties),
    ...[...anyOf, items, additionalProperties]
      .filter(isSchema)
      .map((inner): [string, JsonSchema] => ['', inner]),
  ];
}

function isSchema(value: unknown): value is JsonSchema {
  return typeof value === 'object' && value !== null;
}

/** Objects, choices, and members whose descriptions are worth a name: all but lists, whose elements have names. */
function isNameable({ items }: JsonSchema): boolean {
  return items === undefined;
}

/** Two places are the same if their content is: a plain member's with its description, anything else without. */
function keyOf(schema: JsonSchema): JsonSchema {
  return parts(schema).length === 0 ? schema : bare(schema);
}

/** Without its description, which says what it is for in one place. */
function bare(schema: JsonSchema): JsonSchema {
  const { description: _, ...rest } = schema;
  return rest;
}

function countAll(content: Content['content'] = {}, schemas: Shared): void {
  for (const { schema } of Object.values(content)) count(schema, schemas);
}

function contentOf(content: Content['content'], schemas: Shared, hint: string): object | undefined {
  return (
    content &&
    mapValues(content, ({ schema, ...rest }) => ({
      schema: written(schema, schemas, hint),
      ...rest,
    }))
  );
}

/** A plain member means the same wherever it is; what is inside of an object is named after it. */
function hintOf(member: JsonSchema, outer: string, name: string): string {
  return keyOf(member) === member ? capital(name) : `${outer}${capital(name)}`;
}

function capital(name: string): string {
  return name
    .split(/[^A-Za-z0-9]+/)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('');
}
