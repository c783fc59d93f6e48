import Joi from 'joi';
import { camelCase, mapValues, type CamelCase } from '../core/records.js';

/**
 * The external form of a thing is declared once, with joi's own schemas and the functions below. Validation, the OpenAPI
 * document, the type and the conversion to and from records follow from it:
 *
 * ```ts
 * export const THING = shape({
 *   id: ID,
 *   made_by: nullable(Joi.string()).description('Null: nobody.'),
 *   tags: arrayOf(Joi.string()),
 *   kind: choice('big', 'small').default('big'),
 *   ...partial({ note: Joi.string() }), // may be absent
 * });
 * export type ThingWire = Of<typeof THING>;
 *
 * wireOf(THING, { id: 1, madeBy: undefined, … }); // { id: 1, made_by: null, … }
 * ```
 */

/** The type of the values that a schema lets pass. */
export type Of<S> = S extends Joi.AnySchema
  ? NonNullable<S['~standard']['types']>['output']
  : never;

// Not `Joi.AnySchema`: with it around, the compiler takes a plain `Joi.string()` for a schema of anything.
type Members = Readonly<Record<string, Joi.SchemaInternals>>;

declare const ABSENT: unique symbol;
/** The schema of a member that may be absent. */
export type Optional<S> = S & { readonly [ABSENT]: true };

type OptionalNames<M> = {
  [K in keyof M]: M[K] extends { readonly [ABSENT]: true } ? K : never;
}[keyof M];

/** The type of an object with such members. */
export type ObjectOf<M extends Members> = Flat<
  { -readonly [K in Exclude<keyof M, OptionalNames<M>>]: Of<M[K]> } & {
    -readonly [K in OptionalNames<M>]?: Of<M[K]>;
  }
>;
type Flat<T> = { [K in keyof T]: T[K] };

/** An object with these members. All must be there, except optional ones and those with a default. */
export function shape<const M extends Members>(members: M): Joi.ObjectSchema<ObjectOf<M>> {
  return Joi.object(mapValues(members, needed));
}

/** The same object with more members, which come last. */
export function extended<T, const M extends Members>(
  base: Joi.ObjectSchema<T>,
  members: M,
): Joi.ObjectSchema<Flat<T & ObjectOf<M>>> {
  return base.append<Flat<T & ObjectOf<M>>>(mapValues(members, needed));
}

function needed(member: Joi.SchemaInternals): Joi.AnySchema {
  const schema = member as Joi.AnySchema;
  const isFree = ['presence', 'default'].some((flag) => schema.$_getFlag(flag) !== undefined);
  return isFree ? schema : schema.required();
}

export function optional<S extends Joi.SchemaInternals>(schema: S): Optional<S> {
  const free: unknown = (schema as Joi.SchemaInternals as Joi.AnySchema).optional();
  return free as Optional<S>;
}

/** Members that may all be absent. */
export function partial<const M extends Members>(members: M): Partly<M> {
  const optionals: unknown = mapValues(members, optional);
  return optionals as Partly<M>;
}
export type Partly<M> = { readonly [K in keyof M]: Optional<M[K]> };

export function nullable<S extends Joi.AnySchema>(schema: S): Joi.AnySchema<Of<S> | null> {
  return schema.allow(null);
}

export function arrayOf<S extends Joi.AnySchema>(item: S): Joi.ArraySchema<readonly Of<S>[]> {
  return Joi.array<readonly Of<S>[]>().items(item);
}

/** An object with arbitrary member names, such as models. */
export function mapOf<S extends Joi.AnySchema>(value: S): Joi.ObjectSchema<Record<string, Of<S>>> {
  return Joi.object<Record<string, Of<S>>>().pattern(/^/, value);
}

/** One of these words. */
export function choice<const T extends string>(...words: readonly T[]): Joi.StringSchema<T> {
  return Joi.string<T>().valid(...words);
}

/** The names of an object's members, in their order. */
export function namesOf<T>(schema: Joi.ObjectSchema<T>): readonly (keyof T & string)[] {
  const { keys } = schema.$_terms as { keys: readonly { readonly key: keyof T & string }[] | null };
  return (keys ?? []).map(({ key }) => key);
}

/** What `wireOf` reads: members in camel case; those that are null on the wire may be undefined. */
type Recorded<W> = {
  readonly [K in keyof W & string as null extends W[K] ? never : CamelCase<K>]: W[K];
} & {
  readonly [K in keyof W & string as null extends W[K] ? CamelCase<K> : never]?: W[K] | undefined;
};

/** Makes the compiler name each member that a record lacks. */
type Complete<W, R> = Readonly<Record<Exclude<CamelCase<keyof W & string>, keyof R>, never>>;

/** A record on the wire: the members of the shape and no others, in snake case; null for those that are not set. */
export function wireOf<W extends object, const R extends Recorded<W>>(
  schema: Joi.ObjectSchema<W>,
  record: R & Complete<W, R>,
): W {
  const given: Readonly<Record<string, unknown>> = record;
  let names = namesIn.get(schema);
  if (names === undefined) {
    names = namesOf(schema).map((name) => [name, camelCase(name)]);
    namesIn.set(schema, names);
  }
  const wire: Record<string, unknown> = {};
  for (const [name, recorded] of names) wire[name] = given[recorded] ?? null;
  // Checked member by member by the types above.
  return wire as W;
}

/** The names of a shape's members on the wire and in a record: made once, since files have thousands of rows. */
const namesIn = new WeakMap<Joi.ObjectSchema, readonly (readonly [string, string])[]>();

/** Those of the members that are there, in camel case: the opposite of `wireOf`. */
export function recordOf<const M extends Members>(
  members: M,
  given: ObjectOf<M>,
): CamelKeys<ObjectOf<M>> {
  const names = Object.keys(members).filter((name) => Object.hasOwn(given, name));
  const record = names.map((name) => [camelCase(name), given[name as keyof ObjectOf<M>]]);
  // The type renames the same names.
  return Object.fromEntries(record) as CamelKeys<ObjectOf<M>>;
}
type CamelKeys<T> = { readonly [K in keyof T as K extends string ? CamelCase<K> : never]: T[K] };
