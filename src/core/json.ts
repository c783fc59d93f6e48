import type { NumberRows } from '../bytes/index.js';

/** A JSON value did not have the shape that its reader expected. The message names the path and never quotes content. */
export class JsonShapeError extends Error {
  override readonly name = 'JsonShapeError';
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (isArray(value)) return 'array';
  return value === undefined ? 'nothing' : typeof value;
}

/** A list of rows may have been read into something else. */
function isArray(value: unknown): boolean {
  return Array.isArray(value) || isRows(value);
}

/** No parsed value has methods. The class itself would bring all of `bytes`, which no command needs to read a reply. */
function isRows(value: unknown): value is NumberRows {
  return typeof (value as Partial<NumberRows> | null | undefined)?.objects === 'function';
}

type Step = string | number | readonly string[];

/**
 * Reads unknown JSON step by step. A mismatch throws a `JsonShapeError` that names the path, so that a converter is
 * written as if the reply were well formed.
 */
export class Json {
  /** The parsed value; a list of rows may be `NumberRows`. */
  readonly value: unknown;
  readonly #parent: Json | undefined;
  /** The step from the parent: a member, the first of several, or an element; the root has a name instead. */
  readonly #step: Step;

  constructor(value: unknown, step: Step = '$', parent?: Json) {
    this.value = value;
    this.#step = step;
    this.#parent = parent;
  }

  /** The member `name`; an absent member reads as `undefined`, which `optional` readers pass on. */
  field(name: string): Json {
    if (!this.isObject()) throw this.mismatch('an object');
    const members = this.value as Readonly<Record<string, unknown>>;
    return new Json(Object.hasOwn(members, name) ? members[name] : undefined, name, this);
  }

  /** Like `field`, but if the parent is not an object, the member counts as absent too. */
  maybe(name: string): Json {
    return this.isObject() ? this.field(name) : new Json(undefined, name, this);
  }

  /** The first of `names` that is present and not null. */
  firstOf(...names: readonly string[]): Json {
    for (const name of names) {
      const found = this.maybe(name);
      if (found.isPresent()) return found;
    }
    return new Json(undefined, names, this);
  }

  item(index: number): Json {
    return new Json(this.array()[index], index, this);
  }

  /** The length of an array. */
  count(): number {
    return isRows(this.value) ? this.value.count : this.array().length;
  }

  /** The first element of an array, which is not made of all of them; absent if there is none. */
  first(): Json {
    const { value } = this;
    return new Json(isRows(value) ? value.first() : this.array()[0], 0, this);
  }

  map<T>(read: (item: Json, index: number) => T): T[] {
    return this.array().map((value, index) => read(new Json(value, index, this), index));
  }

  array(): readonly unknown[] {
    if (isRows(this.value)) return this.value.objects();
    if (!Array.isArray(this.value)) throw this.mismatch('an array');
    return this.value;
  }

  string(): string {
    if (typeof this.value !== 'string') throw this.mismatch('a string');
    return this.value;
  }

  number(): number {
    if (typeof this.value !== 'number') throw this.mismatch('a number');
    return this.value;
  }

  /** A number, possibly written as a decimal string. */
  numeric(): number {
    const value = parseNumeric(this.value);
    if (value === undefined) throw this.mismatch('a number');
    return value;
  }

  optionalString(): string | undefined {
    return typeof this.value === 'string' ? this.value : undefined;
  }

  /** A finite number, or a decimal string of one; anything else reads as `undefined`. */
  optionalNumber(): number | undefined {
    const value = parseNumeric(this.value);
    return value !== undefined && Number.isFinite(value) ? value : undefined;
  }

  isPresent(): boolean {
    return this.value !== undefined && this.value !== null;
  }

  isObject(): boolean {
    return typeof this.value === 'object' && this.value !== null && !this.isArray();
  }

  isArray(): boolean {
    return isArray(this.value);
  }

  /** The error to throw if this value is not what was expected. */
  mismatch(expected: string): JsonShapeError {
    return new JsonShapeError(`${this.#path()} should be ${expected} and is ${kindOf(this.value)}`);
  }

  /** The path is built only when something is wrong: most values are read without a mistake. */
  #path(): string {
    const step = this.#step;
    if (this.#parent === undefined) return String(step);
    const path = this.#parent.#path();
    if (typeof step === 'number') return `${path}[${step}]`;
    return typeof step === 'string' ? `${path}.${step}` : `${path}.(${step.join('|')})`;
  }
}

const DECIMAL = /^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?$/i;

/** A number, or a string that spells one in decimal; `undefined` for everything else. */
export function parseNumeric(value: unknown): number | undefined {
  if (typeof value === 'number') return value;
  if (typeof value === 'string' && DECIMAL.test(value.trim())) return Number(value);
  return undefined;
}
