/** Converts names between the code's spelling and that of the wire, files and documentation. */
export type SnakeCase<S extends string> = S extends `${infer Head}${infer Tail}`
  ? Head extends Lowercase<Head>
    ? `${Head}${SnakeCase<Tail>}`
    : `_${Lowercase<Head>}${SnakeCase<Tail>}`
  : S;

export function snakeCase<S extends string>(name: S): SnakeCase<S> {
  // The type does the same letter by letter.
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`) as SnakeCase<S>;
}

export function snakeKeys<T>(members: Readonly<Record<string, T>>): Record<string, T> {
  return renamed(members, snakeCase);
}

export function camelKeys<T>(members: Readonly<Record<string, T>>): Record<string, T> {
  return renamed(members, camelCase);
}

export type CamelCase<S extends string> = S extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<CamelCase<Tail>>}`
  : S;

export function camelCase<S extends string>(name: S): CamelCase<S> {
  // The type does the same.
  return name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase()) as CamelCase<S>;
}

function renamed<T>(
  members: Readonly<Record<string, T>>,
  rename: (name: string) => string,
): Record<string, T> {
  return Object.fromEntries(Object.entries(members).map(([name, value]) => [rename(name), value]));
}

export function mapValues<T, U>(
  record: Readonly<Record<string, T>>,
  change: (value: T, name: string) => U,
): Record<string, U> {
  return Object.fromEntries(
    Object.entries(record).map(([name, value]) => [name, change(value, name)]),
  );
}

/** The members that are defined. */
export function present<T extends object>(
  members: T,
): { [K in keyof T]?: Exclude<T[K], undefined> } {
  // The filter removes what the type excludes.
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };
}

/** The member of a record by a name that comes from outside: what every object inherits does not count. */
export function own<T>(record: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(record, name) ? record[name] : undefined;
}

/** JSON that is equal for values that differ only in the order of their members. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_, member: unknown) =>
    isRecord(member)
      ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)))
      : member,
  );
}

/** Whether two values have the same canonical JSON. */
export function isSameJson(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) {
    return false;
  }
  if (Array.isArray(one) !== Array.isArray(other)) return false;
  const [a, b] = [one, other] as [Record<string, unknown>, Record<string, unknown>];
  const isInBoth = (name: string): boolean => isSameJson(a[name], b[name]);
  return (
    Object.keys(a).every(isInBoth) &&
    Object.keys(b).every((name) => Object.hasOwn(a, name) || isInBoth(name))
  );
}

/** Whether a value has members: an object that is not a list. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
