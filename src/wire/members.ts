import Joi from 'joi';
import type { Json } from '../core/json/json.js';
import {
  memberMistake,
  type MembersOf,
  type MemberSpec,
  type MemberSpecs,
  type MemberValue,
} from '../core/members.js';
import { snakeCase, type SnakeCase } from '../core/records.js';

/** The members of a table outside: names in snake case, null for what is not set. */
export type MembersWire<T extends MemberSpecs> = {
  -readonly [K in keyof T & string as SnakeCase<K>]: WireValue<MemberValue<T[K]>>;
};

const MAX_ZONE_CHARACTERS = 64;

type WireValue<V> = undefined extends V ? Exclude<V, undefined> | null : V;

/** The same in a file, where what is not set is not there. */
export type MembersFile<T extends MemberSpecs> = {
  -readonly [K in keyof T & string as SnakeCase<K>]: MemberValue<T[K]>;
};

export function membersWire<T extends MemberSpecs>(specs: T, record: MembersOf<T>): MembersWire<T> {
  // Null takes the place of undefined, as `MembersWire` says.
  return namesOf(specs, (name) => record[name] ?? null) as MembersWire<T>;
}

/** The members that a body sets. */
export function readMembers<T extends MemberSpecs>(
  specs: T,
  body: { readonly [K in keyof MembersWire<T>]?: MembersWire<T>[K] | undefined },
): Partial<MembersOf<T>> {
  const given: Readonly<Record<string, unknown>> = body;
  return Object.fromEntries(
    Object.keys(specs).flatMap((name) => {
      const value = given[snakeCase(name)];
      return value === undefined ? [] : [[name, value ?? undefined]];
    }),
  ) as Partial<MembersOf<T>>;
}

/** A body that sets the members that are there; one that is undefined is taken away. */
export function writeMembers<T extends MemberSpecs>(
  specs: T,
  edit: Partial<MembersOf<T>>,
): Partial<MembersWire<T>> {
  return Object.fromEntries(
    Object.keys(specs).flatMap((name) =>
      name in edit ? [[snakeCase(name), edit[name] ?? null]] : [],
    ),
  ) as Partial<MembersWire<T>>;
}

/** The members that a reply tells. A gateway of another release may not know one: it acts as the default says. */
export function membersOf<T extends MemberSpecs>(specs: T, reply: Json): MembersOf<T> {
  const entries = Object.entries(specs).map(([name, spec]) => {
    const told = reply.maybe(snakeCase(name));
    const value = told.isPresent() ? told.value : spec.default;
    const mistake = memberMistake(spec, value);
    if (mistake !== undefined) throw told.mismatch(mistake);
    return [name, value];
  });
  return Object.fromEntries(entries) as MembersOf<T>;
}

/** For the schema of a body that sets them: each may be absent. */
export function bodyMembers<T extends MemberSpecs>(
  specs: T,
): Joi.StrictSchemaMap<Partial<MembersWire<T>>> {
  // Here and below, each name has the schema of its row, whose type is the member's.
  return namesOf(specs, (_, spec) => nullable(spec)) as Joi.StrictSchemaMap<
    Partial<MembersWire<T>>
  >;
}

/** For the schema of a reply: all are there. */
export function replyMembers<T extends MemberSpecs>(specs: T): Joi.StrictSchemaMap<MembersWire<T>> {
  return namesOf(specs, (_, spec) => nullable(spec).required()) as Joi.StrictSchemaMap<
    MembersWire<T>
  >;
}

/** For the schema of a file: what is absent is the default. */
export function fileMembers<T extends MemberSpecs>(specs: T): Joi.StrictSchemaMap<MembersFile<T>> {
  return namesOf(specs, (_, spec) =>
    spec.default === undefined ? schemaOf(spec) : schemaOf(spec).default(spec.default),
  ) as Joi.StrictSchemaMap<MembersFile<T>>;
}

function schemaOf(spec: MemberSpec): Joi.AnySchema {
  return baseSchema(spec).description(spec.help);
}

function baseSchema(spec: MemberSpec): Joi.AnySchema {
  switch (spec.type) {
    case 'integer':
    case 'units':
      return Joi.number().integer().min(spec.least).max(spec.most);
    case 'number':
      return Joi.number().min(spec.least).max(spec.most);
    case 'boolean':
      return Joi.boolean();
    case 'choice':
      return Joi.string().valid(...spec.choices);
    case 'time_zone':
      return Joi.string().max(MAX_ZONE_CHARACTERS).custom(checkedBy(spec));
  }
}

/** Judges a value by its row. */
function checkedBy(spec: MemberSpec): Joi.CustomValidator {
  return (value: unknown, helpers) => {
    const mistake = memberMistake(spec, value);
    return mistake === undefined ? value : helpers.message({ custom: `{{#label}} ${mistake}` });
  };
}

function nullable(spec: MemberSpec): Joi.AnySchema {
  return spec.default === undefined ? schemaOf(spec).allow(null) : schemaOf(spec);
}

function namesOf<V>(
  specs: MemberSpecs,
  valueOf: (name: string, spec: MemberSpec) => V,
): Record<string, V> {
  return Object.fromEntries(
    Object.entries(specs).map(([name, spec]) => [snakeCase(name), valueOf(name, spec)]),
  );
}
