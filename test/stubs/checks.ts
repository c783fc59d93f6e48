/** What a stub holds against a request; each provider answers each in its own way. */
export type RefusalKind =
  | 'method'
  | 'path'
  | 'no-key'
  | 'key'
  | 'content-type'
  | 'json'
  | 'unknown'
  | 'missing'
  | 'type'
  | 'range'
  | 'empty'
  | 'blank'
  | 'too-many'
  | 'too-long'
  | 'model';

export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly kind: RefusalKind;
  /** The member that is at fault, dots between names; empty where it is the request as a whole. */
  readonly at: string;
  /** The provider's own code, where it has several for one kind. */
  readonly code: string | undefined;

  constructor(kind: RefusalKind, at: string, message: string, code?: string) {
    super(message);
    this.kind = kind;
    this.at = at;
    this.code = code;
  }
}

/** Judges one value; throws a `Refusal` where the provider would not take it. */
export type Check = (value: unknown, at: string) => void;

export type Members = Readonly<Record<string, Check>>;

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A string of so many characters; `blank: false` refuses white space alone. */
export function string({
  min = 0,
  max = Infinity,
  blank = true,
}: { min?: number; max?: number; blank?: boolean } = {}): Check {
  return (value, at) => {
    if (typeof value !== 'string') throw new Refusal('type', at, `${at} must be a string`);
    if (value.length < min) throw new Refusal('blank', at, `${at} must not be empty`);
    if (value.length > max) {
      throw new Refusal('too-long', at, `${at} exceeds the maximum length of ${max} characters`);
    }
    if (!blank && value.trim() === '') throw new Refusal('blank', at, `${at} must not be blank`);
  };
}

export function list(
  item: Check,
  { min = 1, max = Infinity }: { min?: number; max?: number } = {},
): Check {
  return (value, at) => {
    if (!Array.isArray(value)) throw new Refusal('type', at, `${at} must be an array`);
    if (value.length < min) throw new Refusal('empty', at, `${at} must not be empty`);
    if (value.length > max) {
      throw new Refusal('too-many', at, `${at} has ${value.length} items, the maximum is ${max}`);
    }
    value.forEach((entry, index) => {
      item(entry, `${at}.${index}`);
    });
  };
}

export function whole(min: number, max = Number.MAX_SAFE_INTEGER): Check {
  return (value, at) => {
    if (!Number.isInteger(value)) throw new Refusal('type', at, `${at} must be an integer`);
    const number = Number(value);
    if (number < min) throw new Refusal('range', at, `${at} must be at least ${min}`);
    if (number > max) throw new Refusal('range', at, `${at} must be at most ${max}`);
  };
}

export const count = whole(1);

export const flag: Check = (value, at) => {
  if (typeof value !== 'boolean') throw new Refusal('type', at, `${at} must be a boolean`);
};

export const anything: Check = () => undefined;

export function oneOf(...values: readonly unknown[]): Check {
  return (value, at) => {
    if (!values.includes(value)) {
      throw new Refusal('range', at, `${at} must be one of ${values.join(', ')}`);
    }
  };
}

export function orNull(check: Check): Check {
  return (value, at) => {
    if (value !== null) check(value, at);
  };
}

export function either(...checks: readonly Check[]): Check {
  return (value, at) => {
    let first: unknown;
    for (const check of checks) {
      try {
        check(value, at);
        return;
      } catch (error) {
        first ??= error;
      }
    }
    throw first;
  };
}

export function object(
  required: Members,
  optional: Members = {},
  unknown: 'refused' | 'ignored' = 'refused',
): Check {
  return (value, at) => {
    if (!isObject(value)) throw new Refusal('type', at, `${at || 'the body'} must be an object`);
    const path = (name: string): string => (at === '' ? name : `${at}.${name}`);
    // Schemas are checked before handlers run: what is missing or unknown comes before what is wrong inside.
    for (const name of Object.keys(required)) {
      if (value[name] === undefined) {
        throw new Refusal('missing', path(name), `${path(name)} is required`);
      }
    }
    for (const [name, member] of Object.entries(value)) {
      const check = required[name] ?? optional[name];
      if (check !== undefined) check(member, path(name));
      else if (unknown === 'refused') {
        throw new Refusal('unknown', path(name), `${path(name)} is not a known field`);
      }
    }
  };
}

/** The string at a path; empty where there is none. */
export function textAt(value: unknown, path: string): string {
  const text = valueAt(value, path);
  return typeof text === 'string' ? text : '';
}

/** The value at a path of names with dots between. */
export function valueAt(value: unknown, path: string): unknown {
  return path.split('.').reduce<unknown>((inner, name) => {
    if (Array.isArray(inner)) return inner[Number(name)] as unknown;
    return isObject(inner) ? inner[name] : undefined;
  }, value);
}
