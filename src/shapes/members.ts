import Joi from 'joi';
import {
  memberMistake,
  type MembersOf,
  type MemberSpec,
  type MemberSpecs,
  type MemberValue,
} from '../core/members.js';
import { labelsText, MAX_LABELS_CHARACTERS } from '../core/label-text.js';
import { snakeCase, type SnakeCase } from '../core/records.js';
import { partial, type Partly } from './shape.js';

/** The members of a table on the wire: names in snake case, null for members that are not set. */
export type MembersWire<T extends MemberSpecs> = {
  -readonly [K in keyof T & string as SnakeCase<K>]: WireValue<MemberValue<T[K]>>;
};

const MAX_ZONE_CHARACTERS = 64;

type SchemasOf<W> = { [K in keyof W]: Joi.AnySchema<W[K]> };

type WireValue<V> = undefined extends V ? Exclude<V, undefined> | null : V;

/** The same in a file, where members that are not set are absent. */
export type MembersFile<T extends MemberSpecs> = {
  -readonly [K in keyof T & string as SnakeCase<K>]: MemberValue<T[K]>;
};

/** The members that a body sets. */
export function readMembers<T extends MemberSpecs>(
  specs: T,
  body: { readonly [K in keyof MembersWire<T>]?: MembersWire<T>[K] | undefined },
): Partial<MembersOf<T>> {
  const given: Readonly<Record<string, unknown>> = body;
  const members: Record<string, unknown> = {};
  for (const [name, wireName] of wireNames(specs)) {
    const value = given[wireName];
    if (value !== undefined) members[name] = value ?? undefined;
  }
  return members as Partial<MembersOf<T>>;
}

const wireNamesOf = new WeakMap<MemberSpecs, readonly (readonly [string, string])[]>();

/** The names of a table with those on the wire: made once, since thousands of channels are read with them. */
function wireNames(specs: MemberSpecs): readonly (readonly [string, string])[] {
  let names = wireNamesOf.get(specs);
  if (names === undefined) {
    names = Object.keys(specs).map((name) => [name, snakeCase(name)] as const);
    wireNamesOf.set(specs, names);
  }
  return names;
}

/** For the schema of a body that sets them: each is optional. */
export function bodyMembers<T extends MemberSpecs>(specs: T): Partly<SchemasOf<MembersWire<T>>> {
  return partial(replyMembers(specs));
}

/** For the schema of a reply: all are required. */
export function replyMembers<T extends MemberSpecs>(specs: T): SchemasOf<MembersWire<T>> {
  // Here and below, each name gets the schema of its row, whose type is the member's.
  return namesOf(specs, (_, spec) => nullable(spec)) as SchemasOf<MembersWire<T>>;
}

/** For the schema of a file: an absent member has its default. */
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
    case 'labels':
      return Joi.string()
        .allow('')
        .max(MAX_LABELS_CHARACTERS)
        .custom(checkedBy(spec))
        .custom((text: string) => labelsText(text));
  }
}

/** Checks a value against its row. */
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
