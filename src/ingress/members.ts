import Joi from 'joi';
import type { Documents } from '../bytes/index.js';
import { GatewayError } from '../core/errors.js';
import type { Members } from './request.js';

const MOST_FIELDS = 100;

/** The type of the values that a schema lets pass. */
export type Of<S> = S extends Joi.AnySchema
  ? NonNullable<S['~standard']['types']>['output']
  : never;

// Not `Joi.AnySchema`: with it around, the compiler takes a plain `Joi.string()` for a schema of anything.
type Schemas = Readonly<Record<string, Joi.SchemaInternals>>;

/** The type of an object with such members. */
type ObjectOf<S extends Schemas> = { readonly [K in keyof S]: Of<S[K]> };

/** A member that may be absent; `null` means the same. */
export function maybe<S extends Joi.SchemaInternals>(
  schema: S,
): Joi.AnySchema<Of<S> | null | undefined> {
  // What `AnySchema` adds is for the compiler.
  return (schema as unknown as Joi.AnySchema<Of<S> | null | undefined>).allow(null);
}

/** An object within the members; others that it has are ignored. */
export function open<const S extends Schemas>(members: S): Joi.ObjectSchema<ObjectOf<S>> {
  return Joi.object<ObjectOf<S>>(members).unknown(true);
}

/**
 * Whole numbers of any size: a count beyond the number of documents means all of them. Applications that get it from a form or
 * the environment send it as text, which Python's servers take.
 */
export const COUNT = maybe(Joi.number().unsafe().integer().min(1).prefs({ convert: true }));
export const FLAG = maybe(Joi.boolean());
export const TEXT = maybe(Joi.string().allow(''));
export const MODEL = maybe(Joi.string().max(256).allow(''));
export const QUERY = Joi.string().required();
export const FIELDS = maybe(Joi.array<string[]>().items(Joi.string().min(1)).max(MOST_FIELDS));
/** One text, or some. */
export const TEXT_OR_TEXTS = Joi.alternatives<string | string[]>(
  Joi.string(),
  Joi.array().items(Joi.string()).min(1),
);

/** A schema of the members that a form knows, and their type; others are ignored. */
export function membersOf<const S extends Schemas>(members: S): Joi.ObjectSchema<ObjectOf<S>> {
  return open(members).prefs({ convert: false, errors: { wrap: { label: false } } });
}

/** The model that a form names; `null` and the empty string name none. */
export function modelOf(name: string | null | undefined): string | undefined {
  return name == null || name === '' ? undefined : name;
}

/** How many rows to return: as many as were asked for, at most one per document. */
export function topOf(count: number | null | undefined, documents: Documents): number {
  return Math.min(count ?? documents.count, documents.count);
}

/** The fields to rank by; an empty list counts as absent. */
export function fieldsOf(
  fields: readonly string[] | null | undefined,
): readonly string[] | undefined {
  return fields == null || fields.length === 0 ? undefined : fields;
}

/** The members, checked against their schema. `query` names the member that holds the query. */
export function validate<T>(schema: Joi.ObjectSchema<T>, value: Members, query = 'query'): T {
  const result = schema.validate(knownOf(schema, value));
  if (result.error !== undefined) {
    const detail = result.error.details[0];
    const param = String(detail?.path[0] ?? '');
    throw new GatewayError(
      param === query ? 'invalid_query' : 'invalid_request',
      `${detail?.message ?? 'The request is not valid'}.`,
      param === '' ? {} : { param },
    );
  }
  return result.value;
}

/** The names of a schema's members. */
const NAMES = new WeakMap<Joi.AnySchema, readonly string[]>();

/**
 * The members that a schema knows: it copies all it is given, and there may be thousands of others. Of fields to rank by it gets as
 * many as it takes to refuse them.
 */
function knownOf(schema: Joi.ObjectSchema, value: Members): Members {
  const known: Record<string, unknown> = {};
  for (const name of namesOf(schema)) if (value[name] !== undefined) known[name] = value[name];
  const { rank_fields: fields } = known;
  if (Array.isArray(fields)) known.rank_fields = fields.slice(0, MOST_FIELDS + 1);
  return known;
}

function namesOf(schema: Joi.Schema): readonly string[] {
  let names = NAMES.get(schema);
  if (names === undefined) {
    const { keys = {} } = schema.describe() as { readonly keys?: object };
    names = Object.keys(keys);
    NAMES.set(schema, names);
  }
  return names;
}

/** Maximum length of a query: more than any model reads. It is sent upstream in one step. */
const MAX_QUERY_CHARS = 1_000_000;

/** Refuses a query that is blank or absurdly long. */
export function checkQuery(query: string, param = 'query'): void {
  if (query.length > MAX_QUERY_CHARS) {
    throw new GatewayError(
      'payload_too_large',
      `${param} has ${query.length} characters; at most ${MAX_QUERY_CHARS} are accepted.`,
      { param },
    );
  }
  if (query.trim() === '') {
    throw new GatewayError('invalid_query', `${param} must not be blank.`, { param });
  }
}

/**
 * The one query of a form that pairs queries with documents.
 * @throws GatewayError 400 if there are several: each would be a separate request.
 */
export function oneQuery(queries: readonly string[], documents: number, param: string): string {
  const [query = ''] = queries;
  if (queries.length !== 1 && queries.length !== documents) {
    throw new GatewayError(
      'invalid_request',
      `${param} must be one query, or as many as there are documents.`,
      { param },
    );
  }
  if (queries.some((other) => other !== query)) {
    throw new GatewayError(
      'invalid_request',
      `${param} must all be the same query: send a request for each of them.`,
      { param },
    );
  }
  checkQuery(query, param);
  return query.toWellFormed();
}
