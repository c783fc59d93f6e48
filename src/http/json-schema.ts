/** The part of a JSON schema that the reference page reads. */
export interface JsonSchema {
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly deprecated?: boolean;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly items?: JsonSchema;
  readonly enum?: readonly unknown[];
  readonly default?: unknown;
  readonly example?: unknown;
  readonly const?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly minItems?: number;
  readonly anyOf?: readonly JsonSchema[];
  readonly additionalProperties?: unknown;
}

/** The schema that a value implies; a list gets a schema that fits all of its elements. */
export function schemaOf(value: unknown): JsonSchema {
  if (Array.isArray(value)) {
    const items = value.map(schemaOf);
    return items.length === 0 ? { type: 'array' } : { type: 'array', items: items.reduce(either) };
  }
  if (value === null) return { type: 'null' };
  if (typeof value === 'number') return { type: Number.isInteger(value) ? 'integer' : 'number' };
  if (typeof value !== 'object') return { type: typeof value };
  const members = Object.entries(value);
  return {
    type: 'object',
    properties: Object.fromEntries(members.map(([name, member]) => [name, schemaOf(member)])),
    required: members.map(([name]) => name),
  };
}

/** A schema that fits whatever either describes. What one of two objects lacks is optional. */
export function either(one: JsonSchema, other: JsonSchema): JsonSchema {
  if (other.anyOf !== undefined) return other.anyOf.reduce(either, one);
  if (one.anyOf !== undefined) return eitherOf(one.anyOf, other);
  if (one.type === 'object' && other.type === 'object') return eitherObject(one, other);
  if (one.type === 'array' && other.type === 'array') {
    const items = [one.items, other.items].filter((schema) => schema !== undefined);
    return items.length === 0 ? one : { type: 'array', items: items.reduce(either) };
  }
  const types = [...new Set([one, other].flatMap(({ type = [] }) => type))];
  if (types.includes('object') || types.includes('array')) return { anyOf: [one, other] };
  const told = types.filter((type) => type !== 'integer' || !types.includes('number'));
  const [only = 'null'] = told;
  return { type: told.length === 1 ? only : told };
}

function eitherOf(choices: readonly JsonSchema[], other: JsonSchema): JsonSchema {
  const at = choices.findIndex(({ type }) => type === other.type);
  if (at < 0) return { anyOf: [...choices, other] };
  return { anyOf: choices.map((each, index) => (index === at ? either(each, other) : each)) };
}

function eitherObject(one: JsonSchema, other: JsonSchema): JsonSchema {
  const { required = [] } = other;
  return {
    type: 'object',
    properties: mergedMembers(one.properties, other.properties, either),
    required: (one.required ?? []).filter((name) => required.includes(name)),
  };
}

/** Whether it says nothing, or names every type there is. */
function isOpen({ type, anyOf, enum: values }: JsonSchema): boolean {
  if (anyOf !== undefined || values !== undefined) return false;
  return type === undefined || (typeof type !== 'string' && type.length >= 6);
}

/**
 * A schema whose open parts are filled in from an example that it accepts. Members found only in the example are required.
 */
export function completedBy(schema: JsonSchema, example: JsonSchema): JsonSchema {
  if (isOpen(schema)) {
    const { description } = schema;
    return description === undefined ? example : { ...example, description };
  }
  if (schema.type !== 'object' || example.properties === undefined) return schema;
  const { properties = {}, required = [] } = schema;
  const added = (example.required ?? []).filter((name) => !Object.hasOwn(properties, name));
  return {
    ...schema,
    properties: mergedMembers(properties, example.properties, completedBy),
    required: [...required, ...added],
  };
}

function mergedMembers(
  ones: JsonSchema['properties'] = {},
  others: JsonSchema['properties'] = {},
  merge: (one: JsonSchema, other: JsonSchema) => JsonSchema,
): NonNullable<JsonSchema['properties']> {
  const merged = Object.entries(others).map(([name, other]) => {
    const one = ones[name];
    return [name, one === undefined ? other : merge(one, other)];
  });
  return { ...ones, ...(Object.fromEntries(merged) as Record<string, JsonSchema>) };
}
